/** The guide is true: every snippet is compiled, run or loaded, in the order in which a reader meets it. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ToolkitRuntimeConfig } from "#runtime/index.js";
import { CliProcess } from "../generator/cli-process.js";
import { ToolProject } from "../generator/project.js";
import { GUIDE, GUIDE_FILES, SNIPPETS } from "../guide.js";
import { until } from "../runtime/tools.js";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";
import { leasePort } from "./process.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const port = await leasePort();
/** Snippets name the default port; the tests take a free one. */
const here = (text: string) =>
  text.replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`).replaceAll("port: 8080", `port: ${port}`);

const project = scratchFolder();
let server: ChildProcess | undefined;
after(async () => {
  await stop();
});

async function stop(): Promise<void> {
  if (server === undefined || server.exitCode !== null) return;
  const ended = once(server, "exit");
  // The shell has become the server, as it does with its last command.
  server.kill("SIGTERM");
  await ended;
  server = undefined;
}

async function start(command: string): Promise<void> {
  await stop();
  const child = spawn("bash", ["-c", here(command)], {
    cwd: project,
    stdio: ["ignore", "ignore", "pipe"],
  });
  server = child;
  atEnd(() => child.kill("SIGKILL"));
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  await until(() => {
    assert.equal(child.exitCode, null, `${command} ended:\n${log}`);
    return isOpen(port);
  }, "it listens");
}

/** Whether a port of this machine takes connections. */
function isOpen(number: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(number, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).once("error", () => resolve(false));
  });
}

function run(command: string): string {
  const { status, stdout, stderr } = spawnSync("bash", ["-euc", here(command)], { cwd: project, encoding: "utf8" });
  assert.equal(status, 0, `${command}\n${stdout}\n${stderr}`);
  return stdout;
}

// new.test.ts runs the commands of docs/get-started.md in a project of packed packages.
test("the snippets work, one after the other", async (t) => {
  for (const [file, text] of Object.entries(GUIDE_FILES)) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), here(text));
  }
  // What `npm install` would do.
  mkdirSync(join(project, "node_modules", "@types"), { recursive: true });
  const link = (from: string, to: string) => symlinkSync(join(ROOT, from), join(project, "node_modules", to));
  link("runtime", "svc-runtime");
  link("node_modules/@types/node", "@types/node");
  link("node_modules/.bin", ".bin");

  for (const [i, { info, text }] of SNIPPETS.entries()) {
    if (info === "sh run") {
      const output = run(text);
      if (text.includes("--meta")) {
        assert.ok(output.endsWith(readFileSync(join(project, "meta.json"), "utf8")));
        assert.equal(spawnSync(join(project, "node_modules/.bin/svc-gen"), ["--check"], { cwd: project }).status, 0);
      }
    } else if (info === "sh serve") {
      await start(text);
    } else if (info === "sh call") {
      if (text.startsWith("curl") && spawnSync("curl", ["--version"]).status !== 0) {
        t.diagnostic("curl is not installed here");
        continue;
      }
      const expected = SNIPPETS[i + 1];
      assert.match(expected?.info ?? "", / output$/);
      assert.equal(run(text).trim(), expected?.text.trim());
    }
  }
});

test("the configuration of the snippets is valid", () => {
  const config = ToolkitRuntimeConfig.fromPath(join(project, "config.json"));
  assert.equal(config.signedHttpIsRequired(), true);
  assert.equal(config.hasTool("xyz.demo.sum@1"), true);
});

test("commands, links and versions exist", () => {
  const { scripts, engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const scaffold = readFileSync(join(ROOT, "templates/project/package.json.hbs"), "utf8");
  const agents = readFileSync(join(ROOT, "AGENTS.md"), "utf8");
  for (const [, command = ""] of agents.matchAll(/^\| `((?:npx|node) [^`]*)` \|/gm)) {
    assert.equal(spawnSync("sh", ["-c", command], { cwd: ROOT }).status, 0, command);
  }
  for (const [, path = ""] of agents.matchAll(/`([\w.-]+\/[\w./-]+|[A-Z]+\.md)`/g)) {
    if (!/generated$/.test(path)) assert.ok(existsSync(join(ROOT, path)), path);
  }
  for (const [page, text] of [...GUIDE, ["AGENTS.md", agents] as const]) {
    for (const [, script = "test"] of text.matchAll(/npm (?:run ([\w:]+)|test)/g)) {
      assert.ok(scripts[script] ?? scaffold.includes(`"${script}": `), script);
    }
    for (const [, target = ""] of text.matchAll(/\]\(([^)]+)\)/g)) {
      if (target.startsWith("https://")) continue;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
      assert.ok(existsSync(file), `${page}: ${target}`);
      if (anchor === undefined) continue;
      const headings = readFileSync(file, "utf8").match(/^#+ .*$/gm) ?? [];
      const anchors = headings
        .map((heading) => heading.replace(/^#+ /, "").toLowerCase())
        .map((heading) => heading.replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-"));
      assert.ok(anchors.includes(anchor), `${page}: ${target}`);
    }
  }
  const readme = GUIDE.get("README.md") ?? assert.fail();
  for (const version of engines.node.match(/(?<=>=)[\d.]+/g) as string[]) assert.ok(readme.includes(version), version);
});

test("the tool of the README answers as shown", async () => {
  const [source = "", commands = "", shown = ""] = SNIPPETS.filter(({ info }) => info.endsWith(" tool")).map(
    ({ text }) => text,
  );
  const tool = new ToolProject({ "src/sum.ts": source, "tsconfig.json": GUIDE_FILES["tsconfig.json"] ?? "" });
  const [serve = [], call = []] = commands.split("\n").map((command) => command.split(" ").slice(2));
  const dev = new CliProcess(tool.root, [...serve, "--port", "0"]);
  await dev.line(/^✓ serving on /);
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, "generator/bin.js"), ...call.map((word) => word.replaceAll("'", ""))],
    { cwd: tool.root, encoding: "utf8" },
  );
  assert.equal((stdout + stderr).replace(/\d+ ms/, "9 ms"), shown);
  assert.equal(await dev.interrupt(), 0);
});

test("docs/get-started.md shows the types of a new project", () => {
  const { text } = SNIPPETS.find(({ info }) => info === "ts template") ?? assert.fail();
  assert.ok(readFileSync(join(ROOT, "templates/project/tool.ts.hbs"), "utf8").includes(text));
});
