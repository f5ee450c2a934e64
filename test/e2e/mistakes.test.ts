/**
 * test/e2e/mistakes.md: what authors and operators do wrong, and the text that they are shown. The tests of svc-gen have
 * the mistakes that one diagnostic reports, with its text in docs/diagnostics.md. Each case makes its mistake
 * through the public door, and its row of the page has to be what was printed. When texts have changed on purpose, this
 * writes the rows anew, for the difference to be read:
 *
 *     SVC_WRITE_DOCS=1 npm run test:run -- e2e/mistakes
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { LeaderClient, type LeaderOptions, publicKeyOf } from "#runtime/leader.js";
import { STRICT, ToolProject } from "../generator/project.js";
import { svcGenIn } from "../generator/run-cli.js";
import { REPOSITORY } from "../repository.js";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";
import { type ExampleProcess, entrypoint, leasePort, startExample } from "./process.js";

const PAGE = join(REPOSITORY, "test/e2e/mistakes.md");
const WRITES = process.env.SVC_WRITE_DOCS === "1";

/** What is done, in Markdown, and a function that does it and gives what is shown. */
type Mistake = readonly [done: string, shown: () => Promise<string>];
type Files = Readonly<Record<string, string>>;

const folder = scratchFolder();

/** Writes files into a new folder. */
function folderOf(files: Files): string {
  const root = mkdtempSync(join(folder, "case-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: 0o600 });
  }
  return root;
}

/** A printed text without what differs from run to run, code frames and counts. */
function stable(text: string, root: string): string {
  return text
    .replaceAll(root, "FOLDER")
    .replace(/127\.0\.0\.1:\d{4,5}/g, "127.0.0.1:8080")
    .replace(/"time":\d+/g, '"time":…')
    .replace(/request [0-9a-f]{8}-[0-9a-f-]{27}/g, "request …")
    .split("\n")
    .filter(
      (line) => line.trim() !== "" && !/^\s*\d* \| |^\s*~+$|^svc-gen: \d+ (?:error|note)s? in |^wrote /.test(line),
    )
    .map((line) => line.trim())
    .join("\n");
}

// ---- Classes and projects: a project with one change, and a command of svc-gen.

const PARTS = {
  input: "{ a: string }",
  heading: "export class Tool extends SvcTool<Input, Output>",
  fqn: '"xyz.demo.tool@1"',
};

/** The source of a good tool, but for the given parts. */
function toolWith(parts: Partial<typeof PARTS> = {}): string {
  const { input, heading, fqn } = { ...PARTS, ...parts };
  return `import { SvcTool } from "svc-runtime";

type Input = ${input};
type Output = { ok: { b: string } };

${heading} {
  static override fqn() { return ${fqn}; }
  static override description() { return "A tool."; }
  static override path() { return "tool"; }
  override async invoke(): Promise<Output> { throw new Error("not run"); }
}
`;
}

/** What svc-gen says in the project of a good tool, with other files. */
const svcGen =
  (args: readonly string[], files: Files, prepare?: (project: ToolProject) => Promise<void>) =>
  async (): Promise<string> => {
    const project = new ToolProject({ "src/tool.ts": toolWith(), ...files }, STRICT, "svc-mistake-");
    await prepare?.(project);
    const { out, err } = await svcGenIn(project.root, args);
    return stable(out + err, project.root);
  };

const files = (changed: Files) => svcGen([], changed);
const tool = (parts: Partial<typeof PARTS>) => files({ "src/tool.ts": toolWith(parts) });

const WITHOUT_PATH = toolWith().replace(/ .*path\(\).*\n/, "");

function commit({ root }: ToolProject): void {
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
  for (const args of [
    ["init", "-q"],
    ["add", "meta.json"],
    [...author, "commit", "-q", "-m", "a"],
  ]) {
    const { status, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  }
}

const CLASSES: readonly Mistake[] = [
  ['`fqn()` returns `"xyz.demo.tool"`', tool({ fqn: '"xyz.demo.tool"' })],
  ["`invoke()` with `static`", files({ "src/tool.ts": toolWith().replace("override async", "static async") })],
  ["`n: BigInt` in `Input`", tool({ input: "{\n  n: BigInt;\n}" })],
  [
    "two tools with the same FQN",
    files({ "src/other.ts": toolWith({ heading: "export class Other extends SvcTool<Input, Output>" }) }),
  ],
  [
    "two tools without a `path()`",
    files({
      "src/tool.ts": WITHOUT_PATH,
      "src/other.ts": WITHOUT_PATH.replace("class Tool", "class Other").replace("demo.tool", "demo.other"),
    }),
  ],
  [
    "you change the class, then run `svc-gen diff` before `svc-gen`",
    svcGen(["diff"], {}, async (project) => {
      assert.equal((await svcGenIn(project.root, [])).code, 0);
      project.write({ "src/tool.ts": toolWith({ input: "{ a: string; c?: string }" }) });
      commit(project);
    }),
  ],
  [
    "`svc-gen new ..`: the parent folder",
    async () => {
      const root = folderOf({ "inner/notes": "" });
      return stable((await svcGenIn(join(root, "inner"), ["new", "..", "--yes", "--skip-install"])).err, root);
    },
  ],
];

// ---- Calls: a served example, and svc-gen or a client.

const FQN = "xyz.demo.sum@1";
const LEADER_KEY = "07".repeat(32);
const TOOL_KEY = "09".repeat(32);
const LEADER_PUBLIC_KEY = Buffer.from(publicKeyOf(Buffer.from(LEADER_KEY, "hex"))).toString("hex");
const SIGNED = {
  allowed_leaders: {
    version: 1,
    leaders: [{ leader_id: "leader", keys: [{ kid: 0, public_key: LEADER_PUBLIC_KEY }] }],
  },
  tools: { [FQN]: { response_signing_key: TOOL_KEY } },
};

/** A server that is started for its first call, and then kept. */
function lazy(config: object): () => Promise<ExampleProcess> {
  let server: Promise<ExampleProcess> | undefined;
  return () => {
    server ??= startExample("sum", config);
    return server;
  };
}
const unsigned = lazy({});
const signed = lazy({ signed_http: SIGNED });

const INPUT = { a: 1, b: 2, label: "x", tags: ["y"] };

/** What `svc-gen invoke` says. */
const invoke =
  (server: () => Promise<{ readonly url: string }>, json: string, { path = "/sum", args = [] as string[] } = {}) =>
  async (): Promise<string> => {
    const { url } = await server();
    const root = folderOf({ "leader.key": LEADER_KEY });
    const { code, out, err } = await svcGenIn(root, ["invoke", url + path, json, ...args]);
    assert.equal(code, 1, out);
    return stable(err, root);
  };

const inputWith = (changes: object) => JSON.stringify({ ...INPUT, ...changes });
const asLeader = (id: string, ...more: string[]) => ({
  args: ["--signed", "--leader-key", "leader.key", "--leader-id", id, ...more],
});

/** What a client throws. */
const client =
  (server: () => Promise<ExampleProcess>, call: (url: string) => Promise<unknown>) => async (): Promise<string> => {
    const { url } = await server();
    const error = await call(url).then(
      () => assert.fail("it was taken"),
      (thrown: Error) => thrown,
    );
    return stable(`${error.name}: ${error.message}`, folder);
  };

const LEADER: LeaderOptions = { leader: { id: "leader", keyId: 0, key: LEADER_KEY }, acceptUnverified: true };

const CALLS: readonly Mistake[] = [
  [
    "you run `svc-gen invoke` while no server is running",
    invoke(async () => ({ url: `http://127.0.0.1:${await leasePort()}` }), inputWith({})),
  ],
  ["`svc-gen invoke http://127.0.0.1:8080/sums`: a wrong path", invoke(unsigned, inputWith({}), { path: "/sums" })],
  [
    "`svc-gen invoke 127.0.0.1:8080/sum`: no scheme",
    async () => {
      const root = folderOf({});
      return stable((await svcGenIn(root, ["invoke", "127.0.0.1:8080/sum", "{}"])).err, root);
    },
  ],
  [`\`{"lable":"x",…}\`: a misspelt port`, invoke(unsigned, '{"a":1,"b":2,"lable":"x","tags":["y"]}')],
  [`\`{"a":1,"b":2,"tags":["y"]}\`: a missing port`, invoke(unsigned, '{"a":1,"b":2,"tags":["y"]}')],
  [`\`{"a":"1",…}\`: text for an integer`, invoke(unsigned, inputWith({ a: "1" }))],
  [
    `\`{"a":18446744073709551616,…}\`: 2^64 for an int64`,
    invoke(unsigned, inputWith({}).replace('"a":1', '"a":18446744073709551616')),
  ],
  ["a list of 257 items", invoke(unsigned, inputWith({ tags: Array(257).fill("y") }))],
  ["`{'a':1,…}`: single quotes", invoke(unsigned, "{'a':1}")],
  ['`{"a":1,}`: a comma before the closing brace', invoke(unsigned, '{"a":1,}')],
  ['`{"a":1.0,…}` for an integer', invoke(unsigned, inputWith({}).replace('"a":1', '"a":1.0'))],
  [
    "`--leader-key` without `--signed`",
    async () => {
      const root = folderOf({});
      const args = ["invoke", "http://127.0.0.1:8080/sum", "{}", "--leader-key", "leader.key"];
      return stable((await svcGenIn(root, args)).err, root);
    },
  ],
  ["no `--signed`, but the server requires signatures", invoke(signed, inputWith({}))],
  ["`--leader-id` is a leader that is not in the allow-list", invoke(signed, inputWith({}), asLeader("other"))],
  [
    "`--tool-key` is the key of another tool",
    invoke(signed, inputWith({}), asLeader("leader", "--tool-key", LEADER_PUBLIC_KEY)),
  ],
  [
    "`LeaderClient.connect` with `https:` to a server without TLS",
    client(unsigned, (url) => LeaderClient.connect(`${url.replace("http:", "https:")}/sum`, LEADER)),
  ],
  [
    "`LeaderClient.connect` with a URL that ends in `/invoke`",
    client(unsigned, (url) => LeaderClient.connect(`${url}/sum/invoke`, LEADER)),
  ],
  ["`LeaderClient.connect` with a wrong path", client(unsigned, (url) => LeaderClient.connect(`${url}/sums`, LEADER))],
  [
    "the number `2 ** 64` for a `bigint` port",
    client(signed, async (url) => (await LeaderClient.connect(`${url}/sum`, LEADER)).invoke({ ...INPUT, a: 2 ** 64 })),
  ],
];

// ---- Operators: a generated server with an environment and a configuration, and the files of keys.

const HIDDEN = /^(?:SVC|NEXUS)_|^BIND_ADDR$/;

interface Start {
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: string;
  readonly args?: readonly string[];
}

/** What a server says: why it does not start, else its first warning. */
const start =
  ({ env = {}, config, args = [] }: Start) =>
  async (): Promise<string> => {
    const root = folderOf(config === undefined ? {} : { "config.json": config });
    const server = spawn(process.execPath, [entrypoint("sum"), ...args], {
      cwd: root,
      env: {
        ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !HIDDEN.test(name))),
        BIND_ADDR: "127.0.0.1:0",
        ...(config !== undefined && { SVC_TOOLKIT_CONFIG_PATH: "config.json" }),
        ...env,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    atEnd(() => server.kill("SIGKILL"));
    let log = "";
    server.stderr.setEncoding("utf8").on("data", (part: string) => {
      log += part;
      if (log.includes('"msg":"serving"')) server.kill("SIGTERM");
    });
    await once(server, "close");
    const lines = stable(log, root).split("\n");
    return lines.find((line) => line.startsWith("cannot start: ")) ?? lines[0] ?? "";
  };

const environment = (env: Record<string, string>) => start({ env });
/** Signatures are required, with changes; undefined leaves a member out. */
const signedWith = (changes: object) =>
  start({ config: JSON.stringify({ signed_http: { ...SIGNED, ...changes } }, null, 2) });

/** What a command of svc-gen says in a folder with these files. */
const keys =
  (...commands: readonly string[][]) =>
  async (): Promise<string> => {
    const root = folderOf({});
    let said = "";
    for (const args of commands) said = (await svcGenIn(root, ["keys", ...args])).err;
    return stable(said, root);
  };

const OPERATORS: readonly Mistake[] = [
  ["`SVC_TOOLKIT_CONFIG=config.json`: a misspelt variable", environment({ SVC_TOOLKIT_CONFIG: "config.json" })],
  [
    "`NEXUS_TOOLKIT_CONFIG_PATH=config.json`: the variable of the Rust toolkit",
    environment({ NEXUS_TOOLKIT_CONFIG_PATH: "config.json" }),
  ],
  ["`BIND_ADDR=0.0.0.0:8080` without a configuration", environment({ BIND_ADDR: "0.0.0.0:8080" })],
  ["`BIND_ADDR=localhost:8080`: a host name", environment({ BIND_ADDR: "localhost:8080" })],
  ["`BIND_ADDR=8080`: no address", environment({ BIND_ADDR: "8080" })],
  [
    "`BIND_ADDR` has a port that another process uses",
    async () => {
      const other = createServer().listen(0, "127.0.0.1");
      await once(other, "listening");
      const { port } = other.address() as AddressInfo;
      const said = await environment({ BIND_ADDR: `127.0.0.1:${port}` })();
      other.close();
      return said;
    },
  ],
  ["`SVC_LOG_LEVL=debug`: a misspelt variable", start({ env: { SVC_LOG_LEVL: "debug" }, config: "{}" })],
  ["`SVC_LOG_LEVEL=verbose`: no such level", environment({ SVC_LOG_LEVEL: "verbose" })],
  ["`SVC_TOOL_TLS_CERT_PATH` without `SVC_TOOL_TLS_KEY_PATH`", environment({ SVC_TOOL_TLS_CERT_PATH: "cert.pem" })],
  [
    "`SVC_TOOLKIT_CONFIG_PATH` is the path of a file that does not exist",
    environment({ SVC_TOOLKIT_CONFIG_PATH: "none.json" }),
  ],
  [
    "a missing comma in the configuration",
    start({ config: '{\n  "invoke_max_body_bytes": 1000\n  "signed_http": {}\n}\n' }),
  ],
  ["a comment in the configuration", start({ config: '{\n  // limits\n  "invoke_max_body_bytes": 1000\n}\n' })],
  ["a comma after the last member of the configuration", start({ config: '{\n  "invoke_max_body_bytes": 1000,\n}\n' })],
  ["an empty configuration", start({ config: "" })],
  ["a byte order mark before the configuration", start({ config: "\ufeff{}" })],
  ['`"signed_htp"` in the configuration: a misspelt member', start({ config: '{\n  "signed_htp": {}\n}\n' })],
  ["`signed_http` without an allow-list", signedWith({ allowed_leaders: undefined })],
  [
    "`allowed_leaders_path` is the path of a file that does not exist",
    signedWith({ allowed_leaders: undefined, allowed_leaders_path: "leaders.json" }),
  ],
  ["`tools` in the configuration has no entry for a served tool", signedWith({ tools: { "xyz.demo.sun@1": {} } })],
  [
    "`tools` in the configuration has an entry for another version of a served tool",
    signedWith({ tools: { "xyz.demo.sum@2": {} } }),
  ],
  ["`SVC_REPLAY_REDIS_URL` without signatures", environment({ SVC_REPLAY_REDIS_URL: "redis://127.0.0.1:6379" })],
  [
    "a `response_signing_key` of 31 bytes",
    signedWith({ tools: { [FQN]: { response_signing_key: TOOL_KEY.slice(2) } } }),
  ],
  [
    "a `public_key` with letters that are not hex digits",
    signedWith({
      allowed_leaders: {
        version: 1,
        leaders: [{ leader_id: "leader", keys: [{ kid: 0, public_key: "g".repeat(64) }] }],
      },
    }),
  ],
  [
    '`"replay_cache_ttl_ms": "5m"`',
    signedWith({ tools: { [FQN]: { response_signing_key: TOOL_KEY, replay_cache_ttl_ms: "5m" } } }),
  ],
  ["`SVC_TOOLKIT_CONFIG_PATH=~/config.json` in `.env`", environment({ SVC_TOOLKIT_CONFIG_PATH: "~/config.json" })],
  ["`node dist/generated/server.js --port 8080`: no such argument", start({ args: ["--port", "8080"] })],
  ["`svc-gen keys new tool.key`, but the file exists", keys(["new", "tool.key"], ["new", "tool.key"])],
  [
    "`svc-gen keys show leader.pub`: a public key",
    async () => {
      const root = folderOf({ "leader.pub": LEADER_PUBLIC_KEY });
      return stable((await svcGenIn(root, ["keys", "show", "leader.pub"])).err, root);
    },
  ],
  [
    "the file of a private key has the mode 0644",
    async () => {
      const root = folderOf({});
      writeFileSync(join(root, "tool.key"), TOOL_KEY);
      chmodSync(join(root, "tool.key"), 0o644);
      return stable((await svcGenIn(root, ["keys", "show", "tool.key"])).err, root);
    },
  ],
];

// ---- The page

const SECTIONS: Readonly<Record<string, readonly Mistake[]>> = {
  "Authors: classes and projects": CLASSES,
  "Authors: calls": CALLS,
  Operators: OPERATORS,
};
const HEAD = "| mistake | message |\n|---|---|\n";

/** A line as inline code in a cell of a table. */
function codeCell(line: string): string {
  const fence = line.includes("`") ? "``" : "`";
  const space = /^`|`$/.test(line) ? " " : "";
  return `${fence}${space}${line.replaceAll("|", "\\|")}${space}${fence}`;
}

const rowOf = (done: string, shown: string) => `| ${done} | ${shown.split("\n").map(codeCell).join("<br>")} |`;

/** The text of the page before the first table, and its rows by section. */
function readPage(): { readonly intro: string; readonly rows: Readonly<Record<string, readonly string[]>> } {
  const [intro = "", ...sections] = readFileSync(PAGE, "utf8").split(/^## /m);
  const rows = sections.map((section): [string, string[]] => {
    const [title = "", table = ""] = section.split(/\n\n(?=\| mistake)/);
    assert.ok(table.startsWith(HEAD), `${title}: a table`);
    return [title, table.slice(HEAD.length).trimEnd().split("\n")];
  });
  return { intro, rows: Object.fromEntries(rows) };
}

const page = readPage();
const found = new Map<string, string>();

for (const [title, mistakes] of Object.entries(SECTIONS)) {
  describe(title, () => {
    for (const [at, [done, shown]] of mistakes.entries()) {
      it(done, async () => {
        const row = rowOf(done, await shown());
        found.set(done, row);
        if (!WRITES) assert.equal(page.rows[title]?.[at], row, "the row of test/e2e/mistakes.md");
      });
    }
  });
}

it("test/e2e/mistakes.md has exactly the tested rows", () => {
  if (WRITES) return;
  const counts = (rows: Readonly<Record<string, readonly unknown[]>>) =>
    Object.entries(rows).map(([title, { length }]) => [title, length]);
  assert.deepEqual(counts(page.rows), counts(SECTIONS));
});

after(() => {
  const all = Object.values(SECTIONS).flat();
  // A failed case has no row to write.
  if (!WRITES || found.size < all.length) return;
  const tables = Object.entries(SECTIONS).map(
    ([title, mistakes]) => `## ${title}\n\n${HEAD}${mistakes.map(([done]) => `${found.get(done)}\n`).join("")}`,
  );
  writeFileSync(PAGE, page.intro + tables.join("\n"));
});
