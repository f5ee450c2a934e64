/** What the code of a tool may do in a call (protocol.md sections 7 and 8). */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, describe, it } from "node:test";
import { ReplayMemory } from "#runtime/index.js";
import { proves } from "../proves.js";
import { exchange, expectError, RawConnection, requestText } from "./raw.js";
import { AUTHORIZE, releaseHeld, tools, VALUES } from "./scripted-tools.js";
import {
  bob,
  type CallOptions,
  countingTool,
  data,
  echoCall,
  echoed,
  expectResult,
  resultBcs,
  sendPlain,
  serveFor,
  serveSigned,
  signedCall,
  type TestServer,
  until,
} from "./tools.js";

const { act, hasty, unmade, values } = tools;

const nonce = (start: string) => Buffer.concat([Buffer.from(start), randomBytes(28)]);
const asks = (word: string, about?: string) => JSON.stringify(about === undefined ? word : [word, about]);

describe("the code of a tool", () => {
  let signed: TestServer;
  let plain: TestServer;
  before(async () => {
    signed = await serveSigned([act, hasty, unmade, values], { replayStore: new ReplayMemory() });
    plain = await serveFor([act], { unsignedResults: "json" });
  });

  /** Sends a call of `act`; gives the answer and the errors that the log has from then on. */
  const call = async (json: string, callOptions: CallOptions = {}) => {
    const from = signed.log.length;
    const request = echoCall(act, json, callOptions);
    const response = await request.send(signed.url);
    const errors = () => signed.log.slice(from).filter(({ level }) => level === "error");
    return { request, response, errors };
  };
  const goesOn = async () => {
    const { response, request } = await call("42");
    expectResult(response, echoed("42"), request);
  };

  it("construction fails", async () => {
    const response = await echoCall(unmade, "1").send(signed.url);
    assert.equal(expectError(response, 500, "tool_invocation_failed"), undefined);
    assert.equal((await exchange(signed.url, requestText("GET", "/unmade/health"))).status, 500);
  });

  it("authorize refuses or fails", async () => {
    const denied = await call("1", { nonce: nonce(AUTHORIZE.denies) });
    assert.equal(expectError(denied.response, 403, "permission_denied"), "not on my watch");
    const failed = await call("1", { nonce: nonce(AUTHORIZE.fails) });
    assert.equal(expectError(failed.response, 500, "tool_invocation_failed"), undefined);
  });

  it("InvalidInput is a 422 with its path and text, also for a retry", async () => {
    const { response, request, errors } = await call(asks("refuse", "expected BASE-QUOTE"));
    const refused = (got: typeof response) => expectError(got, 422, "input_deserialization_error");
    assert.equal(refused(response), "value[1]: expected BASE-QUOTE");
    assert.equal(refused(await request.send(signed.url)), "value[1]: expected BASE-QUOTE");
    assert.deepEqual(errors(), []);
    proves("7.43");
  });

  it("errEval is signed like a result", async () => {
    const { response, request } = await call(asks("fail", "no such city"));
    expectResult(response, resultBcs("_err_eval", [["reason", '"no such city"']]), request);
  });

  it("recursion without end", async () => {
    const { response } = await call(asks("recurse"));
    assert.equal(expectError(response, 500, "tool_invocation_failed"), undefined);
    await goesOn();
  });

  it("a call that never settles gets 504, like its retry, and the next call is answered", async () => {
    const request = echoCall(hasty, asks("never"));
    for (let i = 0; i < 2; i++) {
      assert.equal(expectError(await request.send(signed.url), 504, "tool_invocation_timeout"), undefined);
    }
    const next = () => echoCall(hasty, "1").send(signed.url);
    await until(async () => (await next()).status === 200, "the next call is answered");
  });

  it("the signal fires with reason timeout at the deadline", async () => {
    const from = signed.log.length;
    const response = await echoCall(hasty, asks("until aborted")).send(signed.url);
    assert.equal(expectError(response, 504, "tool_invocation_timeout"), undefined);
    const told = () => signed.log.slice(from).find(({ message }) => message === "aborted");
    await until(() => told() !== undefined, "the tool hears of it");
    assert.deepEqual([told()?.fields.tool, told()?.fields.reason], [hasty.fqn, "timeout"]);
    // It rejects with the signal's reason: no fault of the tool.
    const ended = () =>
      signed.log.slice(from).find(({ message }) => message === "the tool stopped after its abort signal");
    await until(() => ended() !== undefined, "its end is logged");
    const { level, fields } = ended() ?? assert.fail();
    assert.deepEqual([level, fields.tool, fields.reason, fields.phase], ["info", hasty.fqn, "timeout", "invoke"]);
    assert.deepEqual(
      signed.log.slice(from).filter((line) => line.level === "error"),
      [],
    );
  });

  it("the signal fires with reason disconnect when an unsigned caller disconnects", async () => {
    const connection = await RawConnection.open(plain.url);
    const body = JSON.stringify({ value: "until aborted" });
    connection.send(requestText("POST", act.target, [["Content-Length", `${body.length}`]], body));
    await until(() => plain.log.some(({ message }) => message === "waiting"), "the tool runs");
    connection.close();
    const told = () => plain.log.find(({ message }) => message === "aborted");
    await until(() => told() !== undefined, "the tool hears of it");
    assert.deepEqual([told()?.fields.tool, told()?.fields.reason], [act.fqn, "disconnect"]);
  });

  it("invoke gets a signal, a deadline on its own clock, a log with the tool's name, the caller when signed", async () => {
    const from = signed.log.length;
    const { response, request } = await call(asks("context", "this"));
    const caller = ["alice", "0", request.nonce.toString("hex")];
    const told = { aborted: false, caller, inTime: true };
    expectResult(response, echoed(JSON.stringify(told)), request);
    const written = (message: string) => signed.log.slice(from).find((line) => line.message === message);
    await until(() => written("a text alone") !== undefined, "the log has both lines");
    const { tool, about } = written("working")?.fields ?? assert.fail("the log lacks a line");
    assert.deepEqual([tool, about], [act.fqn, "this"]);
    const alone = written("a text alone");
    assert.deepEqual([alone?.level, alone?.fields.tool], ["warn", act.fqn]);
    const unsigned = await sendPlain(plain.url, act.target, `{"value":${asks("context")}}`);
    expectResult(unsigned, echoed(JSON.stringify({ ...told, caller: null })));
  });

  for (const [i, [codec, fits, refused, complaint]] of VALUES.entries()) {
    it(`values: ${JSON.stringify(codec)}`, async () => {
      const texts = (text: string) => VALUES.map((_, j) => (i === j ? text : "null"));
      const send = async (text: string) => {
        const request = signedCall(values, Object.fromEntries(texts(text).map((json, j) => [`p${j}`, data(json)])));
        return [request, await request.send(signed.url)] as const;
      };
      const [request, response] = await send(fits);
      const expected = resultBcs(
        "ok",
        texts(fits).map((json, j) => [`p${j}`, json]),
      );
      expectResult(response, expected, request);
      if (refused === "") return;
      const details = expectError((await send(refused))[1], 422, "input_deserialization_error") ?? "";
      assert.ok(details.startsWith(`p${i}`) && details.endsWith(complaint), details);
    });
  }

  it("values of an unsigned call", async () => {
    const text = '[18446744073709551615,{"a":"\u00e4","b":9007199254740993}]';
    expectResult(await sendPlain(plain.url, act.target, `{"value":${text}}`), echoed(text));
    const refused = await sendPlain(plain.url, act.target, '{"value":1,"value":2}');
    assert.match(expectError(refused, 422, "input_deserialization_error") ?? "", /^value/);
  });

  it("an input of several MiB", async () => {
    const text = "\u00e4".repeat(2_000_000);
    const response = await sendPlain(plain.url, act.target, JSON.stringify({ value: text }));
    assert.equal(
      expectError(response, 500, "output_serialization_error"),
      "ok.value: at most 61440 bytes in a value, got 4000002: declare the port as DataRef<T> and store the value",
    );
    const request = echoCall(act, JSON.stringify(text));
    expectError(await request.send(signed.url), 500, "output_serialization_error");
  });

  it("a result as JSON for an unsigned caller that accepts it", async () => {
    const body = '{"value":[9007199254740993]}';
    const response = await sendPlain(plain.url, act.target, body, ["Accept", "application/json"]);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(response.body.toString(), '{"ok":{"value":[9007199254740993]}}');
  });

  it("a stored value's callback runs after its result was sent", async () => {
    for (const about of ["1", "2"]) {
      const { response } = await call(asks("store", about));
      assert.equal(response.status, 200);
      const heard = () =>
        signed.log.some(({ message, fields }) => message === "the result has left" && fields.about === about);
      await until(heard, "it hears of it");
    }
  });

  it("a retry gets the cached bytes; so does another leader that authorize permits", async () => {
    const { response, request } = await call('["cached"]');
    expectResult(response, echoed('["cached"]'), request);
    expectResult(await request.send(signed.url), echoed('["cached"]'), request);
    const other = request.by(bob);
    expectResult(await other.send(signed.url), echoed('["cached"]'), other);
  });

  it("a retry of a running call gets 409, and afterwards its result", async () => {
    const from = signed.log.length;
    const request = echoCall(act, asks("hold", "it"));
    const first = request.send(signed.url);
    await until(() => signed.log.slice(from).some(({ message }) => message === "holding"), "it runs");
    expectError(await request.send(signed.url), 409, "request_in_flight");
    releaseHeld();
    for (const response of [await first, await request.send(signed.url)]) {
      expectResult(response, echoed('"it"'), request);
    }
  });

  it("calls at the same time", async () => {
    const calls = Array.from({ length: 40 }, (_, i) => call(i % 4 === 0 ? asks("wait", `${i}`) : `${i}`));
    for (const [i, { response, request }] of (await Promise.all(calls)).entries()) {
      expectResult(response, echoed(i % 4 === 0 ? `"${i}"` : `${i}`), request);
    }
  });

  it("a thenable that is no Promise, as the instance and as the encoded output", async () => {
    const thenable = (promise: Promise<unknown>) => ({
      // biome-ignore lint/suspicious/noThenProperty: the subject of the test
      then: (...callbacks: Parameters<typeof promise.then>) => promise.then(...callbacks),
    });
    const tool = countingTool({ path: "then" });
    const { new: create, prototype } = tool.class as unknown as {
      new: () => Promise<object>;
      prototype: { encodeOutput(output: unknown): unknown };
    };
    const { encodeOutput } = prototype;
    Object.assign(tool.class, { new: () => thenable(create()) });
    prototype.encodeOutput = function (output) {
      return thenable(Promise.resolve(encodeOutput.call(this, output)));
    };
    const { url } = await serveFor([tool]);
    expectResult(await sendPlain(url, tool.target, '{"value":1}'), echoed("1"));
  });

  it("health", async () => {
    assert.equal((await exchange(signed.url, requestText("GET", "/hasty/health"))).status, 204);
  });
});
