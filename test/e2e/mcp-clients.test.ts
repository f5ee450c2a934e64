/**
 * Clients of MCP, in their own languages, in front of the bridge. The table in docs/mcp.md states what each of them gets;
 * with SVC_WRITE_DOCS=1 this test writes it. The programs are in mcp-clients/.
 */

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { InvalidInput, SvcTool, serve } from "svc-runtime";
import { provideContracts } from "svc-runtime/v1";
import { generateTexts } from "#generator/compile/generate.js";
import { REPOSITORY } from "../repository.js";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";
import { run } from "./packages.js";

const FQN = `xyz.test.${"n".repeat(52)}@1`;
const NAME = `xyz_test_${"n".repeat(52)}_v1`;
const SOURCE = `import { SvcTool } from "svc-runtime";
type Output = { whole: { value: bigint } } | { parts: { values: Record<string, bigint> } };
/** Returns a variant. */
export class Chooser extends SvcTool<{ mode: string; value: bigint }, Output> {
  static override fqn() { return "${FQN}"; }
  override async invoke(): Promise<Output> { throw new Error(); }
}
`;
class Chooser extends SvcTool<{ mode: string; value: bigint }, unknown> {
  static override fqn = () => FQN;
  override async invoke({ mode, value }: { mode: string; value: bigint }) {
    if (mode === "whole") return { whole: { value: value + 1n } };
    if (mode === "parts") return { parts: { values: { a: value + 1n } } };
    throw new InvalidInput("mode", "expected whole or parts");
  }
}
const value = "9007199254740992";
const CALLS = { whole: { mode: "whole", value }, parts: { mode: "parts", value }, error: { mode: "none", value } };
const RESULTS = {
  whole: { whole: { value: "9007199254740993" } },
  parts: { parts: { values: { a: "9007199254740993" } } },
};

interface Result {
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}
interface Report {
  readonly names: readonly string[];
  readonly results: Readonly<Record<keyof typeof CALLS, Result>>;
}

const CACHE = join(REPOSITORY, "node_modules/.cache/mcp-clients");
/** Title, package, and the kind of installation with the program. */
const CLIENTS = [
  ["official TypeScript SDK 2", "@modelcontextprotocol/client", "npm", "sdk2.mjs"],
  ["official TypeScript SDK 1", "@modelcontextprotocol/sdk@1", "npm", "sdk1.mjs"],
  ["Inspector, command line", "@modelcontextprotocol/inspector", "npm", "inspector.mjs"],
  ["AI SDK", "@ai-sdk/mcp", "npm", "ai-sdk.mjs"],
  ["Mastra", "@mastra/mcp", "npm", "mastra.mjs"],
  ["LangChain (TypeScript)", "@langchain/mcp-adapters", "npm", "langchain.mjs"],
  ["official Python SDK", "mcp", "pip", "mcp.py"],
  ["FastMCP", "fastmcp", "pip", "fastmcp.py"],
  ["LangChain (Python)", "langchain-mcp-adapters", "pip with mcp 1", "langchain.py"],
  ["official Rust SDK", "rmcp", "cargo", "rmcp"],
  ["official Go SDK", "github.com/modelcontextprotocol/go-sdk", "go", "go"],
  ["mcp-go", "github.com/mark3labs/mcp-go", "go", "mcp-go"],
] as const;
type Kind = (typeof CLIENTS)[number][2];

async function done(cwd: string, command: string, ...args: readonly string[]): Promise<string> {
  const { status, stdout, out } = await run(command, args, { cwd });
  assert.equal(status, 0, `${command} ${args.join(" ")}: ${out}`);
  return stdout;
}

async function pythonIn(venv: string, packages: readonly string[]): Promise<Installed> {
  const python = join(CACHE, venv, "bin/python");
  if (!existsSync(join(CACHE, venv, "installed"))) {
    await done(CACHE, "python3", "-m", "venv", venv);
    await done(CACHE, python, "-m", "pip", "install", "--quiet", ...packages);
    writeFileSync(join(CACHE, venv, "installed"), "");
  }
  const shown = (name: string) => done(CACHE, python, "-m", "pip", "show", name);
  return {
    // The programs have the names of packages, so their own folder must not be searched.
    command: async (program) => [python, "-P", program],
    version: async (name) => /^Version: (.*)$/m.exec(await shown(name))?.[1] ?? "",
  };
}

/** Installs the clients of a kind once. Returns how to start a program, and the version of a package. */
const INSTALLED: Readonly<Record<Kind, (packages: readonly string[]) => Promise<Installed>>> = {
  npm: async (packages) => {
    if (!existsSync(join(CACHE, "package-lock.json"))) {
      // Some clients need a newer Node, and without a tag npm installs an old version of them.
      const npm = ["node@24", "@langchain/core", "@mastra/core", ...packages].map((name) =>
        /.@/.test(name) ? name : `${name}@latest`,
      );
      writeFileSync(join(CACHE, "package.json"), '{ "private": true, "type": "module" }');
      await done(CACHE, "npm", "install", "--no-audit", "--no-fund", "--foreground-scripts", ...npm);
    }
    const folder = (name: string) => join(CACHE, "node_modules", name.replace(/(.)@.*/, "$1"));
    return {
      command: async (program) => [join(folder("node"), "bin/node"), program],
      version: async (name) => JSON.parse(readFileSync(join(folder(name), "package.json"), "utf8")).version,
    };
  },
  pip: (packages) => pythonIn("venv", packages),
  // These adapters do not load with version 2 of the Python SDK.
  "pip with mcp 1": (packages) => pythonIn("venv-1", [...packages, "mcp<2"]),
  cargo: async () => {
    const folder = join(CACHE, "rmcp");
    await done(folder, "cargo", "build", "--quiet");
    const version = async () =>
      /"rmcp"\nversion = "(.*)"/.exec(readFileSync(join(folder, "Cargo.lock"), "utf8"))?.[1] ?? "";
    return { command: async () => [join(folder, "target/debug/client")], version };
  },
  go: async (packages) => {
    const version = async (name: string) =>
      (await done(CACHE, "go", "list", "-m", "-f", "{{.Version}}", name)).trim().slice(1);
    if (!existsSync(join(CACHE, "go.mod"))) {
      await done(CACHE, "go", "mod", "init", "clients");
      await done(CACHE, "go", "get", ...packages.map((name) => `${name}@latest`), "./go", "./mcp-go");
    }
    const command = async (program: string) => {
      await done(CACHE, "go", "build", "-o", `bin/${program}`, `./${program}`);
      return [join(CACHE, "bin", program)];
    };
    return { command, version };
  },
};
interface Installed {
  command(program: string): Promise<readonly string[]>;
  version(name: string): Promise<string>;
}

/** What a client gets, as cells of the table. */
function cellsOf({ names, results }: Report): string[] {
  const cell = (kind: keyof typeof RESULTS) => {
    const got = results[kind];
    const content = got.structuredContent ?? got;
    if (JSON.stringify(content) === JSON.stringify(RESULTS[kind])) return "yes";
    return JSON.stringify(got).includes("9007199254740993") ? "as text only" : "no";
  };
  const { error } = results;
  const isTold = JSON.stringify(error).includes("expected whole or parts");
  return [
    names.includes(NAME) ? "yes" : "no",
    cell("whole"),
    cell("parts"),
    isTold ? (error.isError ? "yes" : "as text only") : "no",
  ];
}

test("clients of other makers get what docs/mcp.md says", {
  skip: process.env.SVC_TEST_FULL !== "1",
  timeout: 3_600_000,
}, async (t) => {
  provideContracts(generateTexts(new Map([["src/a.ts", SOURCE]])).contracts ?? assert.fail());
  process.env.BIND_ADDR = "127.0.0.1:0";
  const { url, close } = await serve([Chooser as never], {});
  atEnd(() => close());
  mkdirSync(CACHE, { recursive: true });
  cpSync(join(REPOSITORY, "test/e2e/mcp-clients"), CACHE, { recursive: true });
  const revisions = join(scratchFolder(), "revisions");
  const args = [
    join(CACHE, "watch.mjs"),
    revisions,
    join(REPOSITORY, "generator/bin.js"),
    "mcp",
    "--url",
    url,
    "--unsigned",
  ];
  const MCP_TEST = JSON.stringify({ server: { command: process.execPath, args }, name: NAME, calls: CALLS });
  const rows: string[] = [];
  for (const [title, name, kind, program] of CLIENTS) {
    const needed = { npm: "npm", pip: "python3", "pip with mcp 1": "python3", cargo: "cargo", go: "go" }[kind];
    if ((await run("sh", ["-c", `command -v ${needed}`], {})).status !== 0) {
      t.diagnostic(`${title}: ${needed} is not installed`);
      continue;
    }
    const all = CLIENTS.filter((each) => each[2] === kind).map((each) => each[1]);
    const installed = await INSTALLED[kind](all);
    const [command = "", ...words] = await installed.command(program);
    writeFileSync(revisions, "");
    const { stdout, out } = await run(command, words, { cwd: CACHE, env: { ...process.env, MCP_TEST } });
    const line = stdout.trim().split("\n").at(-1) ?? "";
    assert.match(line, /^\{"names/, `${title}: ${out}`);
    const revision = readFileSync(revisions, "utf8").trim().split("\n").at(-1);
    rows.push(`| ${[title, await installed.version(name), revision, ...cellsOf(JSON.parse(line))].join(" | ")} |`);
  }
  const page = join(REPOSITORY, "docs/mcp.md");
  const text = readFileSync(page, "utf8");
  const table = /(?<=\| client \| version .*\n\|(?:---\|)+\n)(?:\|.*\n)+/;
  if (process.env.SVC_WRITE_DOCS === "1") writeFileSync(page, text.replace(table, `${rows.join("\n")}\n`));
  // Versions and their revisions change without a change here.
  const lasting = (row: string) => row.split(" | ").filter((_, i) => i !== 1 && i !== 2);
  const held = table.exec(text)?.[0].trim().split("\n") ?? [];
  if (process.env.SVC_WRITE_DOCS !== "1") assert.deepEqual(rows.map(lasting), held.map(lasting));
});
