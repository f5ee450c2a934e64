/** Every option of a command has its effect, and every default and limit of a command is the documented one. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { encodeOutput } from "#client/wire/bcs/bcs-writer.js";
import { RESULT_CONTENT_TYPE } from "#client/wire/protocol.js";
import { targetOf } from "#generator/invoke/target.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { listen } from "../listening.js";
import { makeCertificate } from "../runtime/certificate.js";
import { holdTimers } from "../runtime/held-timers.js";
import { aliceKey2, bob, countingTool, many, one, serveSigned, TOOL_SEED } from "../runtime/tools.js";
import { scratchFolder } from "../scratch-folder.js";
import { ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

/** Runs a command that succeeds; gives its standard output. */
async function done(cwd: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await svcGenIn(cwd, args);
  assert.equal(code, 0, `${args.join(" ")}: ${out}${err}`);
  return out;
}

describe("--project and --out", () => {
  const GENERATED = "src/gen";
  // It needs a file of the output folder, which only the commands that know the folder take for granted.
  const source = `export { contracts } from "./gen/contracts.js";\n${toolSource("Sum", "{ a: number }")}`;
  const project = new ToolProject({ "src/sum.ts": source });
  const options = ["--project", project.root, "--out", GENERATED];
  const elsewhere = scratchFolder();

  it("generate writes there, and check looks there", async () => {
    const wrote = await done(elsewhere, "generate", ...options, "--json");
    assert.deepEqual(JSON.parse(wrote).wrote.sort(), ["meta.json", "src/gen/contracts.ts", "src/gen/server.ts"]);
    assert.match(await done(elsewhere, "--check", ...options), /^up to date/);
    assert.equal((await svcGenIn(elsewhere, ["--check", "--project", project.root])).code, 3);
    assert.ok(!existsSync(join(project.root, "src/generated")));
    assert.deepEqual(readdirSync(elsewhere), []);
  });

  /** What a document says of the options that its command has beside these two. */
  const facts = {
    meta: ({ url }: { url: string }) => url,
    openapi: ({ servers, components }: { servers: object; components: { parameters: object } }) => {
      return [servers, JSON.stringify(components.parameters).match(/"X-\w+-Nonce"/)?.[0]];
    },
    schema: ({ properties }: { properties: object }) => Object.keys(properties),
  };
  for (const [command, expected, ...more] of [
    ["meta", "https://a.example/sum", "--url", "https://a.example/sum"],
    ["openapi", [[{ url: "http://127.0.0.1:8080" }], '"X-Svc-Nonce"']],
    ["schema", ["a"]],
  ] as const) {
    it(command, async () => {
      rmSync(join(project.root, GENERATED), { recursive: true, force: true });
      const text = await done(elsewhere, command, ...more, ...options);
      assert.deepEqual(facts[command](JSON.parse(text)), expected);
      const { code, err } = await svcGenIn(elsewhere, [command, ...more, ...options.slice(0, 2)]);
      assert.equal(code, 1, err);
      assert.match(err, /TS2307.*\.\/gen\/contracts\.js/s);
    });
  }

  it("diff and invoke read the meta.json of that project", async () => {
    await done(elsewhere, "generate", ...options);
    const compared = await svcGenIn(elsewhere, ["diff", ...options]);
    assert.match(compared.err, /cannot read the meta\.json of git HEAD: /);
    const { err } = await svcGenIn(elsewhere, ["invoke", "som", "{}", ...options.slice(0, 2)]);
    assert.match(err, /unknown tool "som"; did you mean Sum\?/);
  });

  it("doctor, config init and config check read the tools of that project", async () => {
    await done(elsewhere, "generate", ...options);
    const { out } = await svcGenIn(elsewhere, ["doctor", ...options, "--json"]);
    const generated = JSON.parse(out).checks.find(({ name }: { name: string }) => name === "generated files");
    assert.equal(generated?.ok, true, out);
    const tools = async (...args: string[]) =>
      JSON.parse(await done(scratchFolder(), "config", "init", ...args, "--json")).public_keys.length;
    assert.equal(await tools("--project", project.root), 1);
    const folder = scratchFolder({
      "config.json": '{"signed_http":{"allowed_leaders":{"version":1,"leaders":[]},"tools":{"xyz.demo.none@1":{}}}}',
    });
    const found = async (...args: string[]) =>
      JSON.parse((await svcGenIn(folder, ["config", "check", "config.json", "--json", ...args])).out).diagnostics;
    const more = (await found("--project", project.root)).length - (await found()).length;
    assert.ok(more > 0, "the entry of a tool that the project does not have is found");
  });
});

describe("invoke", () => {
  const seen: unknown[] = [];
  const tool = countingTool({
    authorize: ({ leaderId, leaderKeyId }) => void seen.push(`${leaderId} ${leaderKeyId}`),
  });
  const keys = scratchFolder({
    "bob.key": bob.seed.toString("hex"),
    "alice2.key": aliceKey2.seed.toString("hex"),
  });
  const toolKey = { right: "", wrong: "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c" };
  const { cert, key } = makeCertificate();
  let url = "";
  let older = "";
  before(async () => {
    ({ url } = await serveSigned([tool]));
    ({ url: older } = await serveSigned([tool], { headerPrefix: "X-Nexus-", replayStore: new ReplayMemory() }));
    writeFileSync(join(keys, "tool.key"), TOOL_SEED.toString("hex"), { mode: 0o600 });
    toolKey.right = JSON.parse(await done(keys, "keys", "show", "tool.key", "--json")).public_key;
  });

  const invoke = (server: string, ...args: string[]) =>
    svcGenIn(keys, ["invoke", `${server}/tool`, '{"value":1}', "--json", ...args]);
  const AS_BOB = ["--signed", "--leader-key", "bob.key", "--leader-id", "bob"];
  const reportOf = async (server: string, ...args: string[]) => {
    const { code, out, err } = await invoke(server, ...args);
    assert.equal(code, 0, out + err);
    return JSON.parse(out);
  };

  it("--leader-id and --key-id: any 64-bit key id; `leader` with key 0 by default", async () => {
    seen.length = 0;
    await reportOf(url, ...AS_BOB);
    await reportOf(
      url,
      "--signed",
      "--leader-key",
      "alice2.key",
      "--leader-id",
      "alice",
      "--key-id",
      `${aliceKey2.kid}`,
    );
    assert.deepEqual(seen, ["bob 0", `alice ${2n ** 64n - 1n}`]);
    const leaders: unknown[] = [];
    answer = (response) => {
      const { headers } = response.req;
      if (headers["x-svc-leader-id"] === undefined) return void response.end(document);
      leaders.push(`${headers["x-svc-leader-id"]} ${headers["x-svc-leader-key-id"]}`);
      response.writeHead(401).end('{"error":"auth_failed"}');
    };
    await invoke(plain, "--signed", "--leader-key", "bob.key");
    assert.deepEqual(leaders, ["leader 0"]);
  });

  it("--tool-key: the result is verified only with it", async () => {
    assert.equal((await reportOf(url, ...AS_BOB)).signature, "unverified");
    assert.equal((await reportOf(url, ...AS_BOB, "--tool-key", toolKey.right)).signature, "verified");
    const { code, out } = await invoke(url, ...AS_BOB, "--tool-key", toolKey.wrong);
    assert.equal(code, 1);
    assert.match(out, /no key in toolKey signed this result/);
  });

  it("--header-prefix: X-Svc- by default", async () => {
    await reportOf(older, ...AS_BOB, "--header-prefix", "X-Nexus-");
    assert.equal((await invoke(older, ...AS_BOB)).code, 1);
    assert.equal((await invoke(url, ...AS_BOB, "--header-prefix", "X-Nexus-")).code, 1);
  });

  it("--replay: a retry that does not run; without it: one call", async () => {
    tool.calls.invoked = 0;
    const { replay } = await reportOf(url, ...AS_BOB, "--replay");
    assert.equal(replay.same, true);
    assert.equal(tool.calls.invoked, 1);
    assert.equal((await reportOf(url, ...AS_BOB)).replay, undefined);
  });

  // ---- a server that answers what a test says ----

  let answer: ((response: ServerResponse) => void) | undefined;
  const document = JSON.stringify({
    fqn: "xyz.test.answers@1",
    url: "http://localhost/tool",
    timeout: 1_000,
    description: "d",
    input_schema: { type: "object", properties: { value: {} } },
    output_schema: { oneOf: [{ type: "object", properties: { ok: { type: "object", properties: {} } } }] },
  });
  const listener: Parameters<typeof createServer>[1] = (request, response) => {
    request.resume().once("end", () => answer?.(response));
  };
  let plain = "";
  let secure = "";
  before(async () => {
    plain = `http://${await listen(createServer(listener))}`;
    secure = `https://${await listen(createSecureServer({ cert, key }, listener))}`;
  });

  it("an untrusted certificate, and http sent to a TLS port: the next step is printed", async () => {
    const said = async (server: string) => (await svcGenIn(keys, ["invoke", `${server}/tool`, "{}"])).err;
    assert.match(
      await said(secure),
      /the certificate is self-signed .*; to test with this certificate, use --ca FILE\)$/m,
    );
    assert.match(
      await said(secure.replace("https", "http")),
      /\(the server may use TLS: try https:\/\/; otherwise check the logs/,
    );
  });

  it("an error answer: the request ID is printed, and for a refused leader its ID", async () => {
    const answers: readonly (readonly [number, string, RegExp])[] = [
      [401, '{"error":"auth_failed"}', /signed as leader "bob", key ID 0; request r-1\)$/m],
      [403, '{"error":"permission_denied"}', /signed as leader "bob", key ID 0; request r-1\)$/m],
      [422, '{"error":"input_integrity_error"}', /the tool did not run; request r-1\)$/m],
      [
        422,
        '{"error":"input_deserialization_error","details":"this server accepts only unsigned calls"}',
        /\(omit --signed; if the server should require .*; request r-1\)$/m,
      ],
    ];
    for (const [status, body, message] of answers) {
      answer = (response) => {
        if (response.req.method === "GET") response.end(document);
        else response.writeHead(status, { "X-Request-Id": "r-1" }).end(body);
      };
      assert.match((await svcGenIn(keys, ["invoke", `${plain}/tool`, "{}", ...AS_BOB])).err, message);
    }
  });

  it("--timeout: limits the metadata request, unsigned calls and signed calls", async () => {
    for (const [onlyMeta, ...args] of [[false], [true], [true, ...AS_BOB]] as const) {
      answer = (response) => {
        if (onlyMeta && response.req.method === "GET") response.end(document);
      };
      const { code, out } = await invoke(plain, "--timeout", "60", ...args);
      assert.equal(code, 1);
      assert.match(out, /no complete answer within 60 ms/);
    }
    await reportOf(url, ...AS_BOB, "--timeout", "999999999");
  });

  it("--timeout: by default 5 s more than the tool's own, so that its 504 arrives", async () => {
    for (const args of [[], AS_BOB]) {
      const timers = holdTimers(1_000);
      try {
        answer = (response) => {
          if (response.req.method === "GET") return void response.end(document);
          for (const timer of timers.waiting.filter(({ repeats }) => !repeats)) timer.fire();
        };
        assert.match((await invoke(plain, ...args)).out, /no complete answer within 6000 ms/);
      } finally {
        timers.restore();
      }
    }
  });

  it("--replay: a different answer is reported", async () => {
    const result = (n: string) =>
      encodeOutput({ tag: "ok", ports: [{ name: "n", values: [{ kind: "inline", bytes: Buffer.from(n) }] }] });
    const signed = (byte: number) => ({
      "X-Svc-Sig-V": "3",
      "X-Svc-Tool-Signature": Buffer.alloc(64, byte).toString("base64url"),
    });
    const numbers = document.replace('"properties":{}', '"properties":{"n":{"type":"number"}}');
    for (const [same, ...answers] of [
      [true, ["1", signed(1)], ["1", signed(1)]],
      [true, ["1", {}], ["1", {}]],
      [false, ["1", signed(1)], ["2", signed(1)]],
      [false, ["1", signed(1)], ["1", signed(2)]],
      [false, ["1", signed(1)], ["1", {}]],
    ] as const) {
      const left = [...answers];
      answer = (response) => {
        if (response.req.method === "GET") return void response.end(numbers);
        const [n = "", headers] = left.shift() ?? [];
        response.writeHead(200, { "Content-Type": RESULT_CONTENT_TYPE, ...headers }).end(result(n));
      };
      const { code, out } = await invoke(plain, ...AS_BOB, "--replay");
      assert.deepEqual([code, JSON.parse(out).replay.same], [same ? 0 : 1, same], JSON.stringify(answers));
    }
  });

  it("prints the blob id of a stored value", async () => {
    const blobId = "A".repeat(43);
    const value = { kind: "walrus", blobId: Buffer.from(blobId), contentDigest: Buffer.alloc(32) } as const;
    const stored = encodeOutput({ tag: "ok", ports: [{ name: "n", values: [value] }] });
    answer = (response) => {
      if (response.req.method === "GET") response.end(document.replace('"properties":{}', '"properties":{"n":{}}'));
      else response.writeHead(200, { "Content-Type": RESULT_CONTENT_TYPE }).end(stored);
    };
    assert.deepEqual((await reportOf(plain)).result, { ok: { n: { stored: blobId } } });
  });

  it("an input that is not JSON, and undeclared members: the place and the remedy are printed", async () => {
    const times = '{"times":{"type":"integer"}}';
    const ports = {
      value: `{"anyOf":[{"type":"null"},{"type":"object","properties":${times}}]}`,
      closed: `{"type":"object","properties":${times},"additionalProperties":false}`,
      open: `{"type":"object","properties":${times},"additionalProperties":{}}`,
      many: '{"type":"array","items":{"$ref":"#/$defs/Item"}}',
    };
    const schema = Object.entries(ports).map(([name, each]) => `"${name}":${each}`);
    const input = `{"type":"object","properties":{${schema}},"$defs":{"Item":{"properties":${times}}}}`;
    answer = (response) => {
      if (response.req.method === "GET") {
        response.end(document.replace('{"type":"object","properties":{"value":{}}}', input));
      } else response.writeHead(422).end('{"error":"input_deserialization_error"}');
    };
    const ignored = (place: string, hint = "did you mean times\\?", effect = "ignores") =>
      new RegExp(
        `^svc-gen: warning: "${place}": the tool does not declare this member and ${effect} it; ${hint}$`,
        "m",
      );
    const rows: readonly (readonly [input: string, message: RegExp])[] = [
      ['{"value":{"tims":1}}', ignored("value\\.tims")],
      ['{"value":{"count":1}}', ignored("value\\.count", "declared here: times")],
      ['{"closed":{"tims":1}}', ignored("closed\\.tims", undefined, "refuses")],
      ['{"many":[{"times":1},{"time":1}]}', ignored("many\\[\\]\\.time")],
      ['{"open":{"tims":1},"value":null}', /^(?!svc-gen: warning)/],
      ['{"value":1,}', /in double quotes at byte 11 \(remove the comma before \}\)/],
      ['{"value":[1,\n]}', /at line 2, column 1 \(remove the comma before \]\)/],
      ["{'value':1}", /at byte 1 \(write names and texts in double quotes, and the whole input in single quotes/],
      ['{"value":1 // one\n}', /at byte 11 \(remove the comment: JSON has none\)/],
      ['{"value":"1', /\(the end is missing: close every quote, bracket and brace\)/],
      ["{value:1}", /\(quote the JSON for the shell, such as '\{"name":"text"\}', or .* pass @input.json\)/],
    ];
    for (const [given, message] of rows) {
      assert.match((await svcGenIn(keys, ["invoke", `${plain}/tool`, given])).err, message, given);
    }
  });

  it("--secret: a value from a variable, otherwise from a prompt; it appears in no output and no log", async () => {
    const secret = '{"type":"string","format":"password","writeOnly":true}';
    const keyed = countingTool({
      input: [one("apiKey", { kind: "string", maxLength: 20 }), many("constructor", { kind: "string" }), one("plain")],
      inputSchema: `{"type":"object","properties":{"apiKey":{"$ref":"#/$defs/Key"},"constructor":{"type":"array","items":${secret}},"plain":{}},"required":["apiKey","constructor"],"$defs":{"Key":${secret}}}`,
      invoke: () => ({ ok: { value: "done" } }),
    });
    const server = await serveSigned([keyed]);
    const asked: unknown[] = [];
    const run = async (given: readonly string[], host: Parameters<typeof svcGenIn>[2] = {}, input = '{"plain":1}') => {
      const ran = await svcGenIn(keys, ["invoke", `${server.url}/tool`, input, ...AS_BOB, ...given], host);
      assert.doesNotMatch(ran.out + ran.err + JSON.stringify(server.log), /canary/);
      return ran;
    };
    const env = { KEY: "canary-1", LIST: 'canary"2' };
    const both = ["--secret", "apiKey=KEY", "--secret", "constructor=LIST"];
    assert.equal((await run(both, { env })).code, 0);
    const ask = async (question: string, hidden?: boolean) => {
      asked.push([question, hidden]);
      return "canary-3";
    };
    assert.equal((await run(["--secret", "apiKey=KEY"], { env, ask })).code, 0);
    assert.deepEqual(asked, [["constructor (not shown): ", true]]);
    assert.deepEqual(keyed.calls.inputs, [
      { apiKey: "canary-1", constructor: ['canary"2'], plain: 1 },
      { apiKey: "canary-1", constructor: ["canary-3"], plain: 1 },
    ]);
    const refused = await run(both, { env: { ...env, KEY: "canary".repeat(4) } });
    assert.match(refused.err, /422 input_deserialization_error: apiKey: /);
    const faults: readonly [given: readonly string[], code: number, message: RegExp, input?: string][] = [
      [[], 1, /the secret apiKey is missing from the input \(pass --secret apiKey=VARIABLE/],
      [["--secret", "canary"], 2, /--secret expects PORT=VARIABLE/],
      [["--secret", "apiKey=canary-4"], 2, /--secret apiKey expects the name of an environment variable that is set/],
      [["--secret", "apiKey=UNSET_KEY"], 2, /--secret apiKey: the environment variable UNSET_KEY is not set/],
      [["--secret", "apiKy=KEY"], 2, /unknown input port "apiKy"; did you mean apiKey\?/],
      [["--secret", "apiKey=KEY"], 2, /the input already contains apiKey/, '{"apiKey":"x","plain":1}'],
    ];
    for (const [given, code, message, input] of faults) {
      const ran = await run(given, { env }, input);
      assert.equal(ran.code, code, ran.err);
      assert.match(ran.err, message);
    }
  });

  it("--ca: the certificates of this file are trusted", async () => {
    answer = (response) => {
      if (response.req.method === "GET") response.end(document);
      else response.writeHead(401).end('{"error":"auth_failed"}');
    };
    writeFileSync(join(keys, "ca.pem"), cert);
    const untrusted = await invoke(secure);
    assert.match(untrusted.out, /DEPTH_ZERO_SELF_SIGNED_CERT/);
    assert.match((await invoke(secure, "--ca", "ca.pem")).out, /401 auth_failed/);
    assert.match((await invoke(secure, ...AS_BOB, "--ca", "ca.pem")).out, /401 auth_failed/);
  });

  it("a tool of the project is on port 8080 by default", async () => {
    const folder = scratchFolder({ "meta.json": `[${document}]` });
    const { url } = await targetOf(undefined, folder, {}, false);
    assert.equal(url, "http://127.0.0.1:8080/tool");
  });
});
