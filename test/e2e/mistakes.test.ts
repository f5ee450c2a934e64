/** What authors and operators do wrong, and the text that they are shown, where no other test has this mistake. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { publicKeyOf } from "#runtime/leader.js";
import { STRICT, ToolProject, toolSource } from "../generator/project.js";
import { svcGenIn } from "../generator/run-cli.js";
import { scratchFolder } from "../scratch-folder.js";
import { entrypoint, leasePort, startExample } from "./process.js";

const KEY = "07".repeat(32);
const PUBLIC_KEY = Buffer.from(publicKeyOf(Buffer.from(KEY, "hex"))).toString("hex");

/** A new folder with a key, and with a configuration. */
const folderOf = (config = "{}") => scratchFolder({ "leader.key": KEY, "config.json": config });

describe("of authors: classes and projects", () => {
  const tool = (name: string, fqn: string, path = "") =>
    toolSource(name, "{ a: string }")
      .replaceAll(/"xyz\.test\.[^"]+"/g, `"${fqn}"`)
      .replace(/ .*path\(\).*\n/, path);
  const path = '  static override path() { return "tool"; }\n';
  const CASES: Readonly<Record<string, readonly [a: string, b: string, ...said: string[]]>> = {
    "`n: BigInt` in `Input`": [
      toolSource("Tool", "{ n: BigInt }"),
      "export {};",
      "error SVC135: Tool.Input.n: this built-in type has no JSON form: BigInt is a class; write bigint",
    ],
    "two tools with one FQN and one path": [
      tool("Tool", "xyz.demo.tool@1", path),
      tool("Other", "xyz.demo.tool@1", path),
      'error SVC119: Other: two tools have one FQN: "xyz.demo.tool@1", also of Tool at src/a.ts:3:14',
      'error SVC120: Other: two tools have one path: "tool", also of Tool at src/a.ts:3:14',
    ],
    "two tools without a path": [
      tool("Tool", "xyz.demo.tool@1"),
      tool("Other", "xyz.demo.other@1"),
      'error SVC120: Other: two tools have one path: "", also of Tool',
      'hint: a tool without path() is served at the root: add static override path() { return "name"; } to all tools but one',
    ],
  };
  for (const [what, [a, b, ...said]] of Object.entries(CASES)) {
    it(what, async () => {
      const { err } = await svcGenIn(new ToolProject({ "src/a.ts": a, "src/b.ts": b }, STRICT).root, []);
      for (const each of said) assert.ok(err.includes(each), err);
    });
  }

  it("a changed class, and `svc-gen diff` before `svc-gen`", async () => {
    const project = new ToolProject({ "src/a.ts": toolSource("Tool", "{ a: string }") });
    assert.equal((await svcGenIn(project.root, [])).code, 0);
    const author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    for (const args of [
      ["init", "-q"],
      ["add", "meta.json"],
      [...author, "commit", "-q", "-m", "a"],
    ])
      assert.equal(spawnSync("git", args, { cwd: project.root }).status, 0);
    project.write({ "src/a.ts": toolSource("Tool", "{ a: string; c?: string }") });
    const { out, err } = await svcGenIn(project.root, ["diff"]);
    assert.match(out, /: same\n$/);
    assert.equal(err, "svc-gen: warning: meta.json is stale: run svc-gen, then compare again\n");
  });

  it("`svc-gen new ..`: the parent folder", async () => {
    const inner = join(folderOf(), "inner");
    mkdirSync(inner);
    const { err } = await svcGenIn(inner, ["new", "..", "--yes", "--skip-install"]);
    assert.match(
      err,
      /^svc-gen: "\.\." contains the current folder; choose a new folder, such as my-tool; or run svc-gen new \. in/,
    );
  });
});

describe("of authors: calls", () => {
  const input = '{"a":1,"b":2,"label":"x","tags":["y"]}';
  const leaders = [{ leader_id: "leader", keys: [{ kid: 0, public_key: PUBLIC_KEY }] }];
  const tools = { "xyz.demo.sum@1": { response_signing_key: "09".repeat(32) } };
  const config = { signed_http: { allowed_leaders: { version: 1, leaders }, tools } };
  const urls: Readonly<Record<string, Promise<string>>> = {
    none: leasePort().then((port) => `http://127.0.0.1:${port}`),
    unsigned: startExample("sum", {}).then(({ url }) => url),
    signed: startExample("sum", config).then(({ url }) => url),
  };
  for (const [what, server, args, said] of [
    [
      "no server is running",
      "none",
      ["/sum", input],
      "no answer from HOST/sum: connection_failed: ECONNREFUSED: nothing is listening at HOST (start the server, or correct the URL)",
    ],
    [
      "a wrong path",
      "unsigned",
      ["/sums", input],
      "the tool answered 404 not_found: no tool at this address; requested HOST/sums/meta; HOST/tools lists the paths of the server's tools (correct the URL; request …)",
    ],
    [
      "a missing port",
      "unsigned",
      ["/sum", '{"a":1,"b":2,"tags":["y"]}'],
      "the tool answered 422 input_deserialization_error: label: expected a value, got nothing (correct the input at the position named in the details; the tool did not run; request …)",
    ],
    [
      "no `--signed`",
      "signed",
      ["/sum", input],
      "the tool answered 401 auth_failed: X-Svc-Sig-V: missing; this server accepts only signed calls (the server requires signatures: add --signed; request …)",
    ],
    [
      "a leader that is not in the allow-list",
      "signed",
      ["/sum", input, "--signed", "--leader-key", "leader.key", "--leader-id", "other"],
      "the tool answered 401 auth_failed: X-Svc-Leader-Key-Id: no such leader and key in the allow-list (add this leader ID and key ID with the leader's public key to the server's allow-list, which a running server reads again; the request was signed as leader \"other\", key ID 0; request …)",
    ],
  ] as const) {
    it(what, async () => {
      const [path, ...more] = args;
      const { code, err } = await svcGenIn(folderOf(), ["invoke", `${await urls[server]}${path}`, ...more]);
      const shown = err
        .replaceAll(/(?:http:\/\/)?127\.0\.0\.1:\d+/g, "HOST")
        .replace(/request [0-9a-f-]{36}/, "request …");
      assert.deepEqual([code, shown], [1, `svc-gen: ${said}\n`]);
    });
  }
});

describe("of operators", () => {
  const document = (config: string, line: number, column: number, said: string) =>
    [config, `error: configuration "config.json", line ${line}, column ${column}: ${said}\n`] as const;
  const json = "the document must be JSON:";
  for (const [config, said] of [
    document(
      '{\n  "invoke_max_body_bytes": 1000\n  "signed_http": {}\n}',
      3,
      3,
      `${json} expected \`,\` or \`}\`; correct the text at this position`,
    ),
    document("{\n  // limits\n}", 2, 3, `${json} a comment, which JSON does not allow; remove it`),
    document('{\n  "invoke_max_body_bytes": 1000,\n}', 3, 1, `${json} a comma before the end; remove the comma`),
    document("", 1, 1, `${json} it is empty; write the document`),
    document("\ufeff{}", 1, 1, `${json} it begins with a byte order mark; save it as UTF-8 without byte order mark`),
    document(
      '{\n  "signed_htp": {}\n}',
      2,
      3,
      "the document must contain only invoke_max_body_bytes, signed_http, got another member, signed_htp; did you mean signed_http?",
    ),
    document(
      '{\n  "signed_http": { "tools": {} }\n}',
      2,
      18,
      "/signed_http must be an object with allowed_leaders or allowed_leaders_path, got one with neither; add one of them or set mode to disabled",
    ),
  ]) {
    it(`the configuration ${JSON.stringify(config)}`, async () => {
      const { err } = await svcGenIn(folderOf(config), ["config", "check"]);
      assert.ok(err.includes(said), err);
    });
  }

  const PROCESS_ENV = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:SVC|NEXUS)_|^BIND_ADDR$/.test(name)),
  );
  for (const [env, said] of [
    [
      { BIND_ADDR: "8080" },
      "cannot start: BIND_ADDR: expected an IP literal and a port, such as 127.0.0.1:8080 or [::1]:8080, got a port alone",
    ],
    [{ SVC_TOOLKIT_CONFIG_PATH: "~/config.json" }, "write the whole path: only a shell expands ~"],
  ] as const) {
    it(JSON.stringify(env), async () => {
      const server = spawn(process.execPath, [entrypoint("sum")], {
        cwd: folderOf(),
        env: { ...PROCESS_ENV, ...env },
        stdio: ["ignore", "ignore", "pipe"],
      });
      const [log] = await Promise.all([text(server.stderr), once(server, "close")]);
      assert.ok(log.includes(said), log);
    });
  }

  it("`SVC_LOG_LEVL=debug`: a misspelt variable", async () => {
    const server = await startExample("sum", {}, { SVC_LOG_LEVL: "debug" });
    assert.match(server.log(), /SVC_LOG_LEVL is not a setting and is ignored; did you mean SVC_LOG_LEVEL\?/);
    await server.stop();
  });
});
