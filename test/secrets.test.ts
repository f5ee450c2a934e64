/**
 * Marked secrets through every door, with valid and broken values and the log at level debug. Nothing that the toolkit
 * writes may contain one: log lines, answers, errors, standard output, files and the page's history.
 */

import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { LeaderClient } from "svc-runtime/leader";
import { createHarness } from "svc-runtime/testing";
import { DevelopmentPage } from "#generator/dev/page-server/development-page.js";
import { Bridge } from "#generator/mcp/bridge.js";
import { mcpServer } from "#generator/mcp/mcp-server.js";
import { svcGenIn } from "./generator/run-cli.js";
import { listen } from "./listening.js";
import { firstEvents, postAs } from "./page/requests.js";
import { REPOSITORY } from "./repository.js";
import { type Child, run } from "./runtime/child.js";
import { countingTool, many, one } from "./runtime/tools.js";
import { scratchFolder } from "./scratch-folder.js";

const FULL = process.env.SVC_TEST_FULL === "1";
/** Secrets of each kind of value. */
const ROUNDS = FULL ? 10 : 1;

/** Values that contain a mark; most are refused somewhere. */
const SHAPES: readonly ((mark: string) => string)[] = [
  (mark) => `sk-${mark}`,
  (mark) => `sk-${mark}\n${mark}`,
  (mark) => `${mark}\r\nX-Forged: ${mark}`,
  (mark) => `${mark}\u2192\u00e4`,
  (mark) => `"${mark}" \\ {${mark}`,
  (mark) => `${mark}\u0000`,
  (mark) => `user:${mark}@host/%0a?${mark}#${mark}`,
  (mark) => ` ${mark} `,
  (mark) => mark.repeat(80),
];

let seed = 1;
/** Repeatable in the short form; a full run takes other values each time. */
function pick<T>(from: readonly T[]): T {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345 + (FULL ? randomBytes(1).readUInt8() : 0)) >>> 0;
  return from[(seed >>> 8) % from.length] as T;
}

/** Texts by which a secret is found: itself, its bytes as numbers, and in base64 at each of the three alignments. */
function tracesOf(secret: Buffer, text = secret.toString("latin1")): string[] {
  const base64 = [0, 1, 2].map((pad) => {
    const whole = Buffer.concat([Buffer.alloc(pad), secret]).toString("base64");
    return whole.slice(pad === 0 ? 0 : 4, whole.length - (whole.length % 4) - 4);
  });
  const hex = secret.toString("hex");
  const found = [
    text,
    hex,
    hex.toUpperCase(),
    // A Buffer in a log line, and as printed by Node.
    [...secret].join(","),
    hex.match(/../g)?.join(" ") ?? "",
    ...base64,
    ...base64.map((each) => each.replaceAll("+", "-").replaceAll("/", "_")),
  ];
  return found.filter((each) => each.length >= 12);
}

/** Everything that a door wrote, and the secrets that went through it. */
class Door {
  readonly #traces = new Map<string, string>();
  readonly #written: [what: string, text: string][] = [];
  secrets = 0;

  /** A new mark: letters and digits, which no encoding of text changes. */
  mark(): string {
    const mark = `Z${randomBytes(9).toString("hex")}Q`;
    this.add(Buffer.from(mark), mark);
    return mark;
  }

  text(): string {
    return pick(SHAPES)(this.mark());
  }

  add(secret: Buffer, text?: string): void {
    this.secrets++;
    for (const trace of tracesOf(secret, text)) this.#traces.set(trace, text ?? "a key");
  }

  wrote(what: string, value: unknown): void {
    this.#written.push([
      what,
      typeof value === "string" ? value : inspect(value, { depth: 12, maxStringLength: null }),
    ]);
    if (typeof value === "object")
      this.#written.push([
        what,
        String(JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `${each}` : each))),
      ]);
  }

  /** Fails with the first places where a secret was written. */
  shut(t: TestContext): void {
    const found = new Set<string>();
    let size = 0;
    for (const [what, text] of this.#written) {
      size += text.length;
      for (const [trace] of this.#traces) {
        const at = text.indexOf(trace);
        if (at >= 0) found.add(`${what}: ${text.slice(Math.max(0, at - 160), at + 60)}`);
      }
    }
    t.diagnostic(`${this.secrets} secrets, ${this.#written.length} texts, ${size} characters, ${found.size} found`);
    assert.deepEqual([...found].slice(0, 8), []);
  }
}

const attempt = async (door: Door, what: string, work: () => unknown) => {
  try {
    door.wrote(what, await work());
  } catch (error) {
    door.wrote(what, error);
  }
};

const FQN = "xyz.test.ask@1";
const SECRET = '{"type":"string","maxLength":300,"format":"password","writeOnly":true}';
const INPUT = [
  one("apiKey", { kind: "string", maxLength: 300 }),
  many("tokens", { kind: "string", patterns: ["^[A-Za-z]"] }),
  one("count", { kind: "number", integer: true }),
  one("doing", { kind: "literal", values: ["http", "throw", "answer"] }),
  one("when", { kind: "date" }),
];
const INPUT_SCHEMA = `{"type":"object","properties":{"apiKey":${SECRET},"tokens":{"type":"array","items":${SECRET}},"count":{"type":"integer"},"doing":{"enum":["http","throw","answer"]},"when":{"type":"string","format":"date-time"}},"required":["apiKey","tokens","count","doing","when"],"additionalProperties":false}`;

/** A server at level debug. Its tool sends the caller's secret to another server, and passes errors on. */
const ASK = `
import { http } from "svc-runtime";
const Ask = class extends tool("${FQN}", "ask") {
  async invoke({ apiKey, tokens, count, doing }, context) {
    if (doing === "throw") throw new Error("refused");
    if (doing === "answer") return { ok: { value: apiKey.length } };
    const url = process.env.UPSTREAM + "/" + count;
    const given = [
      { headers: { Authorization: apiKey } }, { headers: { "X-Key": apiKey }, query: { key: apiKey } },
      { json: { apiKey, tokens } }, { body: apiKey }, { body: { apiKey } }, { method: apiKey }, { headers: { "Content-Length": apiKey } },
      { headers: { Host: apiKey } }, { headers: { Connection: apiKey } }, { headers: { "Transfer-Encoding": apiKey } },
      { timeoutMs: apiKey }, { accept: apiKey }, { query: { [apiKey]: apiKey } },
    ][apiKey.length % 13];
    const answer = await http(context, url, { attempts: 1, ...given });
    return { ok: { value: answer.json() === null } };
  }
};
provide(contract("${FQN}", "ask", { inputSchema: ${JSON.stringify(INPUT_SCHEMA)}, input: ${JSON.stringify(INPUT)}, outputSchema: '{"oneOf":[{"type":"object","properties":{"ok":{"type":"object","properties":{"value":{}}}}}]}' }));
await bootstrap(Ask);
`;

const leaderSeed = randomBytes(32);
const toolSeed = randomBytes(32);
let unsigned: Child;
let signed: Child;
let upstream = "";
let folder = "";

/** Answers in every broken way, each with the secret that it got. */
const ANSWERS: readonly ((secret: string) => string)[] = [
  (secret) => `HTTP/1.1 401 No\r\nX-Echo: ${secret}\r\nContent-Length: ${secret.length}\r\n\r\n${secret}`,
  (secret) => `HTTP/1.1 200 OK\r\nbroken ${secret}\r\n\r\n`,
  (secret) => `HTTP/1.1 200 ${secret}\r\nContent-Encoding: gzip\r\nContent-Length: ${secret.length}\r\n\r\n${secret}`,
  (secret) => `HTTP/1.1 200 OK\r\nContent-Encoding: ${secret}\r\nContent-Length: 1\r\n\r\n1`,
  (secret) => `HTTP/1.1 302 Found\r\nLocation: /${secret}\r\nContent-Length: 0\r\n\r\n`,
  (secret) => `HTTP/1.1 200 OK\r\nContent-Length: ${secret.length + 10}\r\n\r\n{"key":"${secret}`,
  (secret) => `HTTP/1.1 200 OK\r\nContent-Length: ${secret.length + 8}\r\n\r\n{"key":"${secret}`,
  (secret) => `HTTP/${secret} 200\r\n\r\n`,
  (secret) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${secret}\r\n`,
  () => "",
];

before(async () => {
  folder = scratchFolder();
  const server = createServer(async (got) => {
    const whole = `${got.url} ${JSON.stringify(got.headers)} ${await text(got)}`;
    const secret = /Z[0-9a-f]{18}Q/.exec(whole)?.[0] ?? "none";
    const answer = ANSWERS[Number(/\d+/.exec(got.url ?? "")?.[0]) % ANSWERS.length] ?? (() => "");
    got.socket.end(answer(secret));
  });
  upstream = `http://${await listen(server)}`;
  const config = join(folder, "server.json");
  writeFileSync(join(folder, "leader.key"), leaderSeed.toString("hex"), { mode: 0o600 });
  const shown = await svcGenIn(folder, ["keys", "show", "leader.key", "--json"]);
  const leader = { leader_id: "agent", keys: [{ kid: 0, public_key: JSON.parse(shown.out).public_key }] };
  const tools = { [FQN]: { response_signing_key: toolSeed.toString("hex") } };
  const document = { signed_http: { allowed_leaders: { version: 1, leaders: [leader] }, tools } };
  writeFileSync(config, JSON.stringify(document), { mode: 0o600 });
  const env = { SVC_LOG_LEVEL: "debug", BIND_ADDR: "127.0.0.1:0", UPSTREAM: upstream };
  unsigned = run(ASK, { env });
  signed = run(ASK, { env: { ...env, SVC_TOOLKIT_CONFIG_PATH: config } });
  await Promise.all([unsigned.url, signed.url]);
});

after(() => {
  for (const child of [unsigned, signed]) child.process.kill("SIGKILL");
});

/** A server's log so far, once it has written a line about a last request. */
async function logs(door: Door): Promise<void> {
  for (const [name, child] of Object.entries({ unsigned, signed })) {
    door.wrote(`log of the ${name} server`, child.stderr() + child.stdout());
    assert.match(child.stderr(), /"level":20/);
  }
}

const valid = (apiKey: string) => ({
  apiKey,
  tokens: ["a"],
  count: pick([...ANSWERS.keys()]),
  doing: pick(["http", "http", "throw", "answer"]),
  when: "2026-01-01T00:00:00Z",
});

/** Inputs with a secret, as JSON texts. */
function inputs(door: Door): string[] {
  const text = () => JSON.stringify(door.text());
  const whole = (apiKey: string, more: object = {}) => JSON.stringify({ ...valid(apiKey), ...more });
  const good = whole(door.text());
  return [
    good,
    whole(door.text(), { tokens: [door.text(), ` ${door.text()}`] }),
    whole(door.text(), { apiKey: [door.text()] }),
    whole(door.text(), { apiKey: { key: door.text() } }),
    whole(door.text(), { count: door.text() }),
    whole(door.text(), { doing: door.text() }),
    whole(door.text(), { when: door.text() }),
    whole(door.text(), { other: door.text() }),
    good.replace(/}$/, `,"apiKey":${text()}}`),
    good.slice(0, good.length / 2),
    `{"apiKey":${text()}`,
    `{"apiKey":"${door.mark()}\\ud800"}`,
    `{"apiKey":"${door.mark()}\\q"}`,
    `{"apiKey":${door.mark()}}`,
    `${good} ${text()}`,
    `[${text()}]`,
    text(),
    door.text(),
  ];
}

/** Sends bytes and gives all that comes back. */
function exchange(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect({ host: hostname, port: Number(port) });
    socket.setEncoding("latin1").on("data", (part) => (answer += part));
    socket.on("error", () => undefined).once("close", () => resolve(answer));
    socket.end(bytes);
  });
}

const LINES: readonly ((secret: string) => string)[] = [
  (secret) => `POST /ask/invoke?key=${secret} HTTP/1.1`,
  (secret) => `POST /ask/invoke/${secret} HTTP/1.1`,
  (secret) => `POST /${secret}/invoke HTTP/1.1`,
  (secret) => `GET /ask/meta?${secret} HTTP/1.1`,
  (secret) => `DELETE /ask/${secret} HTTP/1.1`,
  (secret) => `${secret} /ask/invoke HTTP/1.1`,
  (secret) => `POST http://user:${secret}@host/ask/invoke HTTP/1.1`,
  (secret) => `POST /ask/invoke HTTP/${secret}`,
  (secret) => `CONNECT ${secret}:443 HTTP/1.1`,
  (secret) => `OPTIONS /ask/${secret} HTTP/1.1`,
];
const HEADERS = [
  ..."Authorization Cookie Content-Type Accept Content-Encoding Origin Expect Upgrade Forwarded Range Referer".split(
    " ",
  ),
  ..."X-Forwarded-Proto X-Forwarded-Host traceparent Content-Length Transfer-Encoding".split(" "),
  ..."Sig-V Input-Hash Leader-Signature Nonce Repeat-Of Replay-Memory".split(" ").map((name) => `X-Svc-${name}`),
];

test("the search finds a secret as text, in hex and in base64", (t) => {
  for (const write of ["utf8", "hex", "base64", "base64url"] as const) {
    for (const around of ["", "1", "12"]) {
      const door = new Door();
      const mark = door.mark();
      door.wrote("planted", `x ${Buffer.from(`${around}${mark}${around}`).toString(write)} x`);
      assert.throws(() => door.shut(t), /planted/, `${write} ${around.length}`);
    }
  }
  for (const write of [(bytes: Buffer) => JSON.stringify({ bytes }), (bytes: Buffer) => inspect({ bytes })]) {
    const door = new Door();
    door.wrote("planted", write(Buffer.from(door.mark())));
    assert.throws(() => door.shut(t), /planted/);
  }
});

test("requests: inputs, headers, queries, paths, methods; and http() with what callers gave", async (t) => {
  const door = new Door();
  for (let round = 0; round < ROUNDS; round++) {
    for (const child of [unsigned, signed]) {
      const url = await child.url;
      const send = (line: string, headers: readonly string[], body = "") => {
        const length = headers.some((each) => /^(?:Content-Length|Transfer-Encoding):/.test(each))
          ? []
          : [`Content-Length: ${Buffer.byteLength(body)}`];
        const head = [line, "Host: tool.example", "Connection: close", ...length, ...headers];
        return attempt(door, line, () => exchange(url, `${head.join("\r\n")}\r\n\r\n${body}`));
      };
      const json = "Content-Type: application/json";
      const all = [
        ...inputs(door).map((body) => send("POST /ask/invoke HTTP/1.1", [json], body)),
        ...LINES.map((line) => send(line(door.mark()), [json], "{}")),
        ...HEADERS.map((name) =>
          send("POST /ask/invoke HTTP/1.1", [json, `${name}: ${door.text()}`], JSON.stringify(valid("x"))),
        ),
        send(
          "POST /ask/invoke HTTP/1.1",
          [json, "Transfer-Encoding: chunked"],
          `2;${door.mark()}\r\n{}\r\n0\r\nX: ${door.mark()}\r\n\r\n`,
        ),
      ];
      await Promise.all(all);
    }
    for (const input of inputs(door).slice(0, 7)) {
      const key = { id: "agent", keyId: 0, key: leaderSeed };
      await attempt(door, "LeaderClient", async () => {
        const client = await LeaderClient.connect(`${await signed.url}/ask`, { leader: key, acceptUnverified: true });
        // A result has the signed request, as a receipt of the call.
        return (await client.invoke(JSON.parse(input))).tag;
      });
    }
    for (let i = 0; i < 40; i++) {
      const body = JSON.stringify({ ...valid(door.text()), doing: "http", count: i });
      await attempt(door, "http()", async () => {
        const answer = await fetch(`${await unsigned.url}/ask/invoke`, {
          method: "POST",
          body,
          headers: { "content-type": "application/json" },
        });
        return answer.text();
      });
    }
  }
  await logs(door);
  door.shut(t);
});

/** Texts of a private key that are read by someone's tools, and most of which these refuse. */
function keyTexts(door: Door): string[] {
  const bytes = randomBytes(32);
  door.add(bytes);
  const hex = bytes.toString("hex");
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), bytes]);
  const pem = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" })
    .export({ format: "pem", type: "pkcs8" })
    .toString();
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  door.add(Buffer.from(privateKey.export({ format: "jwk" }).d ?? "", "base64url"));
  return [
    hex,
    `${hex}\n${hex}`,
    `${hex}00`,
    hex.slice(0, 62),
    `0x${hex}`,
    `"${hex}"`,
    bytes.toString("base64"),
    bytes.toString("base64url"),
    pem,
    pem.replace(/(.)\n-----END/, "\n-----END"),
    pem.replaceAll("PRIVATE", "PUBLIC"),
    pem.replaceAll("\n", " "),
    privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    privateKey.export({ format: "pem", type: "sec1" }).toString(),
    `{"private_key":"${hex}"}`,
    `{"${hex}":1`,
    `KEY=${hex}`,
    `ssh-ed25519 ${bytes.toString("base64")} me@host`,
    door.text(),
  ];
}

const CONFIGS: readonly ((secret: string) => string)[] = [
  (secret) =>
    `{"signed_http":{"allowed_leaders":{"version":1,"leaders":[]},"tools":{"${FQN}":{"response_signing_key":${secret}}}}}`,
  (secret) =>
    `{"signed_http":{"tools":{"${FQN}":{"response_signing_key":${secret},"response_signing_key":${secret}}}}}`,
  (secret) => `{"signed_http":{"tools":{"${FQN}":${secret}}}}`,
  (secret) => `{"signed_http":{"allowed_leaders":${secret},"mode":${secret}}}`,
  (secret) => `{"signed_http":{"allowed_leaders":{"version":${secret},"leaders":${secret}}}}`,
  (secret) =>
    `{"signed_http":{"allowed_leaders":{"version":1,"leaders":[{"leader_id":"a","keys":[{"kid":0,"public_key":${secret}}]}]}}}`,
  (secret) => `{"signed_http":{"allowed_leaders_path":${secret}},"invoke_max_body_bytes":${secret}}`,
  (secret) => `{"response_signing_key":${secret}}`,
  (secret) => `{"signed_http":{"tools":{"${FQN}":{"response_signing_key":${secret.slice(0, -1)}`,
  (secret) => `{"signed_http":{"tools":{"${FQN}":{"replay_cache_ttl_ms":${secret}}}}} ${secret}`,
];

const SETTINGS = [
  ...["SVC_TOOLKIT_CONFIG_PATH", "SVC_REPLAY_REDIS_URL", "BIND_ADDR", "SVC_ADMIN_ADDR", "SVC_ALLOW_UNSIGNED"],
  ...["SVC_UNSIGNED_RESULTS", "SVC_LOG_LEVEL", "SVC_TOOL_TLS_CERT_PATH", "SVC_TOOL_TLS_KEY_PATH", "SVC_MEMORY_LIMIT"],
  ...["SVC_REPLAY_MAX_BYTES", "SVC_MAX_CONNECTIONS", "SVC_MAX_RUNS", "SVC_MAX_INPUT_VALUES", "SVC_REDIS_PASSWORD"],
  ...["SVC_TOOLKIT_CONFIG", "NEXUS_TOOLKIT_CONFIG_PATH", "PORT", "API_TOKEN"],
];

test("a server's start: keys, PEM and configuration in files, settings in the environment", async (t) => {
  const door = new Door();
  const start = async (env: Record<string, string>) => {
    const child = run("await bootstrap(One);", { env: { SVC_LOG_LEVEL: "debug", BIND_ADDR: "127.0.0.1:0", ...env } });
    void child.url.then(() => child.process.kill("SIGTERM")).catch(() => undefined);
    const { stdout, stderr } = await child.ended;
    door.wrote(Object.keys(env).join(), stdout + stderr);
  };
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const redis = (door: Door) => [
    `redis://user:${door.mark()}@127.0.0.1:1`,
    `redis://:${door.mark()}@[`,
    `rediss://x/${door.mark()}?a=${door.mark()}`,
  ];
  // Each start is a process.
  for (let round = 0; round < Math.min(ROUNDS, 3); round++) {
    const settings = FULL ? SETTINGS : [pick(SETTINGS), pick(SETTINGS)];
    for (const name of settings) {
      // A path is printed, unless it looks like a key.
      const values = name.endsWith("_PATH") ? keyTexts(door).slice(0, 9) : [...redis(door), door.text(), door.mark()];
      await start({ [name]: pick(values).replaceAll("\0", "") });
    }
    await start({
      SVC_TOOLKIT_CONFIG_PATH: file("start.json", pick(CONFIGS)(JSON.stringify(pick(keyTexts(door).slice(0, -1))))),
    });
    await start({
      SVC_TOOL_TLS_CERT_PATH: file("cert.pem", pick(keyTexts(door))),
      SVC_TOOL_TLS_KEY_PATH: file("key.pem", pick(keyTexts(door))),
    });
    await start({ SVC_TOOLKIT_CONFIG_PATH: join(folder, "server.json"), SVC_REPLAY_REDIS_URL: pick(redis(door)) });
  }
  door.add(toolSeed);
  door.shut(t);
});

test("commands: keys, config, invoke, doctor, import, and the files that they write", async (t) => {
  const door = new Door();
  const own = new Set<string>();
  const work = join(folder, "work");
  mkdirSync(work);
  const write = (name: string, text: string) => {
    own.add(name);
    writeFileSync(join(work, name), text, { mode: 0o600 });
  };
  const env = { XDG_STATE_HOME: join(work, "state"), KEY: "", LIST: "" };
  const command = (args: readonly string[], host = {}) =>
    attempt(door, args[0] ?? "", () => svcGenIn(work, args, { env, ...host }));
  const url = `${await unsigned.url}/ask`;
  const authority = new URL(url).host;
  for (let round = 0; round < ROUNDS; round++) {
    for (const text of keyTexts(door)) {
      write("a.key", text);
      await command(["keys", "show", "a.key"]);
      await command(["invoke", url, "{}", "--signed", "--leader-key", "a.key", "--leader-id", "agent"]);
      write("b.json", pick(CONFIGS)(JSON.stringify(text)));
      await command(["config", "check", "b.json", "--json"]);
    }
    write("a.key", pick(keyTexts(door).slice(0, 9)));
    const init = ["config", "init", `new${round}.json`, "--tool-private-key", "a.key"];
    await command([...init, "--project", join(REPOSITORY, "examples/sum"), "--leader-public-key", "11".repeat(32)]);
    for (const config of CONFIGS) {
      write("b.json", config(JSON.stringify(pick(keyTexts(door).slice(0, -1)))));
      await command(["config", "check", "b.json"]);
    }
    write(".env", `TOKEN=${door.mark()}\nSVC_LOG_LEVEL=${door.mark()}\nBROKEN ${door.mark()}\nPEM="${door.mark()}\n`);
    write("a.key", pick(keyTexts(door)));
    await command(["doctor"]);
    await command(["doctor", `${url}?key=${door.mark()}`, "--config", "b.json", "--leader-key", "a.key"]);
    await command(["doctor", `http://user:${door.mark()}@${authority}/ask`]);
    for (const input of inputs(door)) await command(["invoke", url, input, "--json"]);
    for (const input of inputs(door).slice(0, 3)) {
      await command(["invoke", url, "-"], { readInput: async () => Buffer.from(input) });
      const secrets = { env: { ...env, KEY: door.text(), LIST: door.text() } };
      const rest = JSON.stringify({ ...valid(""), apiKey: undefined, tokens: undefined });
      await command(["invoke", url, rest, "--secret", "apiKey=KEY", "--secret", "tokens=LIST", "--json"], secrets);
      await command(["invoke", url, rest, "--secret", `apiKey=${door.mark()}`], secrets);
      await command(["invoke", url, rest], { ask: async () => door.text() });
    }
    for (const where of [
      `http://user:${door.mark()}@${authority}/ask`,
      `${url}?${door.mark()}`,
      `${upstream}/${round}?${door.mark()}`,
    ]) {
      await command(["invoke", where, "{}"]);
      await command(["import", `${where}/meta`, "--project", "."]);
    }
  }
  for (const path of readdirSync(work, { recursive: true, encoding: "utf8" })) {
    if (own.has(path) || /^new\d+\.json$/.test(path) || !statSync(join(work, path)).isFile()) continue;
    door.wrote(`file ${path}`, readFileSync(join(work, path), "latin1"));
  }
  await logs(door);
  door.shut(t);
});

test("the MCP bridge, the development page and the test kit", async (t) => {
  const door = new Door();
  const url = `${await unsigned.url}/ask`;
  const [near, far] = InMemoryTransport.createLinkedPair();
  const bridge = new Bridge({
    addresses: async () => new Map([[url, {}]]),
    client: { acceptUnverified: true },
    complain: (problem) => door.wrote("complaint of the bridge", problem),
  });
  await bridge.read();
  serveStdio(() => mcpServer(bridge, "test"), { transport: far });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(near);
  const page = new DevelopmentPage({
    url: new URL(url).origin,
    leader: () => ({ leader: { id: "agent", keyId: 0, key: leaderSeed.toString("hex") } }),
  });
  await page.open();
  const tool = countingTool({
    input: INPUT,
    inputSchema: INPUT_SCHEMA,
    invoke: ({ apiKey }) => {
      if (String(apiKey).length % 2 === 0) throw new Error("refused");
      return { ok: { value: 1 } };
    },
  });
  const harness = await createHarness(tool.class, { contracts: [tool.contract] });
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const text of inputs(door)) {
        const secret = door.text();
        const parsed = await Promise.resolve(text)
          .then(JSON.parse)
          .catch(() => ({}));
        bridge.bindSecrets([
          { name: "apiKey", text: secret },
          { name: `${FQN}.tokens`, text: door.text() },
        ]);
        const { apiKey: _, tokens: __, ...rest } = { ...valid(""), ...parsed } as Record<string, unknown>;
        const named = (args: object) =>
          client.callTool({ name: "xyz_test_ask_v1", arguments: args as Record<string, unknown> });
        await attempt(door, "MCP", () => named(rest));
        await attempt(door, "MCP with a secret in its arguments", () => named({ ...rest, apiKey: door.text() }));
        await attempt(door, "test kit", () => harness.invoke(parsed));
        await attempt(door, "raw request of the test kit", () =>
          harness.invokeRaw({ headers: { "Content-Type": "application/json", Cookie: door.text() }, body: text }),
        );
        const input = JSON.stringify({ ...valid(secret), count: 1 });
        const shown = input.replace(JSON.stringify(secret), '"••••••••"');
        await attempt(door, "page", () =>
          postAs(page.url, "call", { fqn: FQN, kind: "call", signed: false, input, shown, secrets: [secret] }),
        );
      }
    }
    await attempt(door, "MCP", () => client.listTools());
    await attempt(door, "history of the page", () => firstEvents(page.url));
    door.wrote("log of the test kit", harness.logs);
    await logs(door);
  } finally {
    await Promise.all([client.close(), page.close(), harness.close()]);
  }
  door.shut(t);
});
