/** The line that the log has for each call at level debug, and what no line has. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { initLogger } from "#runtime/index.js";
import { run } from "./child.js";
import { exchange, requestText } from "./raw.js";
import { countingTool, echoCall, keptLog, type LogEntry, sendPlain, serveFor, serveSigned } from "./tools.js";

const lines = (log: readonly LogEntry[]) => log.filter(({ level }) => level === "debug");
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe("the line of a call", () => {
  it("contains caller, tool, outcome and duration: for a result, its replay and a refusal", async () => {
    const tool = countingTool();
    const { url, log } = await serveSigned([tool]);
    const call = echoCall(tool, '"canary"');
    await call.send(url);
    await call.send(url);
    await exchange(url, requestText("POST", tool.target, [["Content-Length", "0"]]));
    const [result, replay, refused, ...more] = lines(log);
    assert.deepEqual(more, []);
    const fieldsOf = (entry: LogEntry | undefined) => {
      const { ms, request, ...fields } = entry?.fields ?? {};
      assert.match(String(request), UUID);
      for (const time of Object.values(ms as object)) assert.ok(Number.isFinite(time) && time >= 0);
      return { message: entry?.message, steps: Object.keys(ms as object), ...fields };
    };
    const about = { tool: tool.fqn, status: 200, leader: "alice", key: "0" };
    const steps = ["auth", "body", "claim", "run", "sign", "all"];
    assert.deepEqual(fieldsOf(result), { message: "answered", steps, ...about });
    const short = steps.filter((step) => step !== "run" && step !== "sign");
    assert.deepEqual(fieldsOf(replay), { message: "answered", steps: short, ...about, replayed: true });
    const details = "X-Svc-Sig-V: missing; this server accepts only signed calls";
    const refusal = { tool: tool.fqn, status: 401, code: "auth_failed", details, peer: "127.0.0.1" };
    assert.deepEqual(fieldsOf(refused), { message: "refused", steps: ["all"], ...refusal });
    const text = JSON.stringify(log);
    for (const secret of ["canary", call.hash.toString("base64url"), call.nonce.toString("base64url")]) {
      assert.ok(!text.includes(secret));
    }
  });

  it("has the caller's X-Request-Id; errors and lines of the tool have it too", async () => {
    const tool = countingTool({
      invoke: (_input, { log }) => {
        log.info({ step: 1 }, "working");
        throw new Error("broken");
      },
    });
    const { url, log } = await serveFor([tool]);
    const expected = "Root=1-67891233/a.b:c+d@e_f";
    const answer = await sendPlain(url, tool.target, '{"value":1}', ["X-Request-Id", expected]);
    assert.equal(answer.headers.get("x-request-id"), expected);
    const about = log.filter(({ message }) => ["working", "the tool threw an error", "answered"].includes(message));
    assert.deepEqual(
      about.map(({ message, fields }) => [message, fields.request, fields.tool]),
      ["working", "the tool threw an error", "answered"].map((message) => [message, expected, tool.fqn]),
    );
  });

  it("is not made if the level is not written", async () => {
    const tool = countingTool();
    const logger = keptLog();
    const quiet = { ...logger, isLevelEnabled: (level: string) => level !== "debug" };
    const { url } = await serveFor([tool], { logger: { ...quiet, child: () => quiet } });
    for (let i = 0; i < 3; i++) await sendPlain(url, tool.target, '{"value":1}');
    assert.deepEqual(lines(logger.entries), []);
  });
});

it("headers and keys that a tool logs are redacted down to five levels", async () => {
  // As docs/observe.md lists them.
  const names = [
    ...["headers", "rawHeaders", "authorization", "cookie"],
    ...["response_signing_key", "signingKey", "privateKey"],
  ];
  const child = run(`
    import { initLogger } from "svc-runtime";
    const log = initLogger();
    for (const name of ${JSON.stringify(names)}) {
      const secret = { [name]: { value: "canary" } };
      log.info(secret, "itself " + name);
      log.info({ tools: { a: [{ b: secret }] }, fine: "kept" }, "below " + name);
      log.error({ err: Object.assign(new Error("error " + name), { config: secret }) });
      log.child({ request: secret }).warn({}, "child " + name);
    }`);
  const { code, stderr } = await child.ended;
  assert.equal(code, 0);
  for (const name of names) {
    for (const what of ["itself", "below", "error", "child"]) {
      const line = stderr.split("\n").find((text) => text.includes(`${what} ${name}"`)) ?? "";
      assert.ok(line.includes(`"${name}":"[redacted]"`), `${what} ${name}: ${line}`);
      assert.ok(!line.includes("canary"), line);
    }
  }
  assert.ok(stderr.includes("kept"));
  assert.equal(typeof initLogger({ SVC_LOG_LEVEL: "silent" }).isLevelEnabled, "function");
});

it("a value that cannot be printed neither throws nor drops the line", async () => {
  const child = run(`
    import { initLogger } from "svc-runtime";
    const log = initLogger();
    const getter = { get secret() { throw new Error("canary"); } };
    log.info({ response: new Response("x"), url: new URL("http://one.example/"), bytes: Buffer.from("b") }, "one");
    log.info({ signal: AbortSignal.timeout(1), getter, list: [getter] }, "two");
    log.error({ err: new Response("x") }, "three");
    log.error({ err: Object.assign(new Error("four"), { stdout: Buffer.from("x"), getter }) });
    log.error({ err: Object.defineProperty(new Error("five"), "bad", { enumerable: true, get() { throw 1; } }) });
    const round = {}; round.round = round;
    log.child(round).info(round, "six");`);
  const { code, stderr } = await child.ended;
  assert.equal(code, 0, stderr);
  const lines = stderr.trim().split("\n");
  assert.equal(lines.length, 6);
  for (const line of lines) JSON.parse(line);
  for (const word of ["one", "http://one.example/", "two", "three", "four", "six", "cannot be printed"]) {
    assert.ok(stderr.includes(word), `${word}: ${stderr}`);
  }
  assert.ok(!stderr.includes("canary"), stderr);
});
