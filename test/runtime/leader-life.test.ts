/** The client in production, against an agent with written answers: repeats, several addresses, keys, contracts, observers, ends. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type CallEnd,
  type CallStart,
  LeaderClient,
  type LeaderError,
  type LeaderOptions,
  prepareSigningKey,
  publicKeyOf,
  type SignedRequest,
} from "svc-runtime/leader";
import { encodeOutput } from "#client/wire/bcs/bcs-writer.js";
import { selectEngine } from "#client/wire/signature/ed25519.js";
import { outputHash, toolSignatureMessage } from "#client/wire/signature/signature.js";
import { proves } from "../proves.js";
import { holdTimers } from "./held-timers.js";
import {
  type Answer,
  agentOf,
  DONE,
  documentOf,
  type End,
  failureOf,
  leader,
  RESULT_TYPE,
  type Sent,
} from "./leader-scene.js";

const TOOL_SEED = Buffer.alloc(32, 9);
const [A, B] = ["A".repeat(22), "B".repeat(22)];
const FQN = "xyz.test.life@1";
const DOCUMENT = documentOf(FQN, { any: {} });

const done = (memory?: string): Answer => ({
  headers: { "content-type": RESULT_TYPE, ...(memory && { "x-svc-replay-memory": memory }) },
  body: DONE,
});
const refused = (status: number, error: string, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: JSON.stringify({ error }),
});
const lostMemory = (memory: string) => refused(409, "replay_memory_lost", { "x-svc-replay-memory": memory });

/** A client whose requests are answered by the written answers, the last one again and again. */
function scripted(
  answers: readonly End[] | ((sent: Sent, n: number) => End),
  options: LeaderOptions & { url?: string[] } = {},
) {
  const { sent, dispatcher } = agentOf(answers);
  const trust = options.toolKey === undefined ? { acceptUnverified: true } : {};
  const client = LeaderClient.fromMetadata(DOCUMENT, { leader, dispatcher, ...trust, ...options });
  return { client, sent, dispatcher };
}

const endOf = ({ code, ran }: LeaderError) => `${code} ${ran}`;
const memories = (sent: readonly Sent[]) =>
  sent.map(({ headers }) => headers["X-Svc-Replay-Memory"]?.replace(/=\d+$/, "=…") ?? "none");
const input = { any: 1 };

/** Ends each pause at once; gives the pauses in milliseconds. */
async function withoutPauses<T>(act: () => Promise<T>): Promise<[T, number[]]> {
  const timers = holdTimers(1);
  const fired = new Set<object>();
  const step = () => {
    for (const timer of timers.waiting) {
      if (timer.ms < 20_000 && !fired.has(timer)) {
        fired.add(timer);
        timer.fire();
      }
    }
    if (!isOver) setImmediate(step);
  };
  let isOver = false;
  setImmediate(step);
  try {
    return [await act(), timers.started.filter((ms) => ms < 20_000)];
  } finally {
    isOver = true;
    timers.restore();
  }
}

describe("repeat", () => {
  test("sends the same nonce until a result, with growing pauses of at least Retry-After", async () => {
    const { client, sent } = scripted([
      done(A),
      "lost",
      refused(503, "overloaded", { "retry-after": "7" }),
      refused(409, "request_in_flight"),
      { status: 502, body: "<html>", headers: { "retry-after": new Date(Date.now() + 9_500).toUTCString() } },
      "unsent",
      done(A),
    ]);
    await client.invoke(input);
    const [{ tag }, pauses] = await withoutPauses(() => client.invoke(input, { repeat: true }));
    assert.equal(tag, "done");
    const nonces = sent.slice(1).map(({ headers }) => headers["X-Svc-Nonce"]);
    assert.deepEqual([nonces.length, new Set(nonces).size], [6, 1]);
    assert.deepEqual(memories(sent), ["none", ...nonces.map(() => `${A};age=…`)]);
    const [first = 0, second, third = 0, fourth = 0, fifth = 0] = pauses;
    assert.ok(first >= 50 && first <= 100, `${first}`);
    assert.equal(second, 7_000);
    assert.ok(third >= 200 && third <= 400, `${third}`);
    assert.ok(fourth >= 8_000 && fourth <= 10_000, `${fourth}`);
    assert.ok(fifth >= 800 && fifth <= 1_600, `${fifth}`);
  });

  test("ends at a final answer, with `ran` over all attempts", async () => {
    for (const [end, expected] of [
      [refused(500, "tool_invocation_failed"), "tool_invocation_failed maybe"],
      [refused(503, "tool_invocation_interrupted"), "tool_invocation_interrupted maybe"],
      [refused(401, "auth_failed"), "auth_failed maybe"],
      [refused(500, "output_serialization_error"), "output_serialization_error yes"],
    ] as const) {
      const { client, sent } = scripted([done(A), "lost", end]);
      await client.invoke(input);
      const [error] = await withoutPauses(() => failureOf(client.invoke(input, { repeat: true })));
      assert.deepEqual([endOf(error), sent.length], [expected, 3]);
    }
    const { client } = scripted([refused(401, "auth_failed")]);
    assert.equal(endOf(await failureOf(client.repeat(client.sign(input)))), "auth_failed no");
  });

  test("ends when a pause would last beyond the deadline, and at the signal", async () => {
    const { client, sent } = scripted([done(A), "lost", refused(503, "overloaded", { "retry-after": "60" })]);
    await client.invoke(input);
    const deadline = Date.now() + 30_000;
    const [error] = await withoutPauses(() => failureOf(client.invoke(input, { repeat: true, deadline })));
    assert.deepEqual([endOf(error), sent.length], ["overloaded maybe", 3]);
    const controller = new AbortController();
    const pausing = scripted(["lost"]).client;
    const call = failureOf(pausing.invoke(input, { repeat: true, signal: controller.signal }));
    setImmediate(() => controller.abort());
    const stopped = await call;
    assert.equal(stopped.code, "aborted");
    assert.ok(stopped.request);
  });

  test("reads the name of the memory before the first attempt, if no answer had it", async () => {
    const { client, sent } = scripted((request) =>
      request.path === "/meta" ? { headers: { "x-svc-replay-memory": A }, body: DOCUMENT } : done(A),
    );
    await client.invoke(input, { repeat: true });
    assert.deepEqual(
      sent.map(({ path }) => path),
      ["/meta", "/invoke"],
    );
    assert.deepEqual(memories(sent), ["none", `${A};age=…`]);
  });

  test("sends no name to an older server without one", async () => {
    const { client, sent } = scripted([{ body: DOCUMENT }, "lost", done()]);
    await withoutPauses(() => client.invoke(input, { repeat: true }));
    assert.deepEqual(memories(sent), ["none", "none", "none"]);
  });

  test("a request whose first attempt had no name sends a name that no server has", async () => {
    const { client, sent } = scripted(["lost", done(A), lostMemory(A)]);
    const { request } = await failureOf(client.invoke(input));
    await client.invoke(input);
    assert.equal(endOf(await failureOf(client.send(request as SignedRequest))), "replay_memory_lost maybe");
    assert.deepEqual(memories(sent), ["none", "none", "unknown;age=…"]);
  });

  test("a request whose first attempt had no name gets it for a repeat, if no answer had it", async () => {
    for (const act of ["send", "repeat"] as const) {
      const { client, sent } = scripted((request, n) => {
        if (n === 0) return "lost";
        return request.path === "/meta"
          ? { headers: { "x-svc-replay-memory": A }, body: DOCUMENT }
          : refused(409, "replay_memory_lost");
      });
      const { request } = await failureOf(client.invoke(input));
      const [error] = await withoutPauses(() => failureOf(client[act](request as SignedRequest)));
      assert.equal(endOf(error), "replay_memory_lost maybe");
      assert.deepEqual(memories(sent).slice(0, 3), ["none", "none", "unknown;age=…"]);
    }
  });

  test("behind a gateway that hides the metadata, a repeat cannot run as a new request", async () => {
    const { client, sent } = scripted(({ path }, n) => {
      if (path.endsWith("/meta")) return { status: 403, body: "<html>" };
      return n === 1 ? "lost" : done(A);
    });
    const [{ tag }] = await withoutPauses(() => client.invoke(input, { repeat: true }));
    assert.equal(tag, "done");
    assert.deepEqual(
      sent.map(({ path }) => path),
      ["/meta", "/invoke", "/meta", "/invoke"],
    );
    assert.deepEqual(memories(sent).slice(1), ["none", "none", "unknown;age=…"]);
    const busy = scripted([{ status: 429, body: "<html>" }, done(A)]);
    const failure = await failureOf(busy.client.invoke(input, { repeat: true }));
    assert.deepEqual([endOf(failure), busy.sent.length], ["invalid_answer no", 1]);
  });

  test("the age of a repeat includes the time during which the machine was suspended", async (t) => {
    const { client, sent } = scripted([done(A), "lost", done(A)]);
    await client.invoke(input);
    const error = await failureOf(client.invoke(input));
    const wakeUp = Date.now() + 600_000;
    t.mock.method(Date, "now", () => wakeUp);
    await client.send(error.request as SignedRequest);
    const [, age] = sent.at(-1)?.headers["X-Svc-Replay-Memory"]?.split("=") ?? [];
    assert.ok(Number(age) >= 600_000, `the age is ${age}`);
  });

  test("after the memory was replaced, a first attempt is sent to the new one, a repeat is not", async () => {
    const first = scripted([done(A), lostMemory(B), done(B)]);
    await first.client.invoke(input);
    assert.equal((await first.client.invoke(input)).tag, "done");
    assert.deepEqual(memories(first.sent), ["none", `${A};age=…`, `${B};age=…`]);
    const later = scripted([done(A), "lost", lostMemory(B)]);
    await later.client.invoke(input);
    const [error] = await withoutPauses(() => failureOf(later.client.invoke(input, { repeat: true })));
    assert.equal(endOf(error), "replay_memory_lost maybe");
    assert.deepEqual(new Set(memories(later.sent).slice(1)), new Set([`${A};age=…`]));
    proves("8.39");
  });

  test("a first attempt that the named memory refuses may have run, because a gateway sent it before, and is not sent again", async () => {
    const { client, sent } = scripted([done(A), lostMemory(A), done(A)]);
    await client.invoke(input);
    assert.equal(endOf(await failureOf(client.invoke(input))), "replay_memory_lost maybe");
    assert.equal(sent.length, 2);
  });

  test("several memories behind one address: a call without repeats is finally sent without a name", async () => {
    const { client, sent } = scripted((request, n) => {
      const own = n % 2 === 0 ? A : B;
      const named = request.headers["X-Svc-Replay-Memory"];
      return named === undefined || named.startsWith(own) ? done(own) : lostMemory(own);
    });
    await client.invoke(input);
    await client.invoke(input);
    assert.deepEqual(memories(sent), ["none", `${A};age=…`, `${B};age=…`, "none"]);
  });
});

describe("several addresses", () => {
  const url = ["https://one.example", "https://two.example"];
  const origins = (sent: readonly Sent[]) => sent.map(({ origin }) => origin.slice(8, 11));

  test("the next one is used if a call certainly did not run, and for later calls", async () => {
    const { client, sent } = scripted(({ origin }) => (origin.includes("one") ? "unsent" : done(B)), { url });
    await client.invoke(input);
    await client.invoke(input);
    assert.deepEqual(origins(sent), ["one", "two", "two"]);
    assert.equal(client.url, "https://two.example");
  });

  test("repeats and unsigned calls use the next one too", async () => {
    for (const call of [
      (client: LeaderClient) => client.invoke(input, { repeat: true, deadline: Date.now() + 20_000 }),
      (client: LeaderClient) => client.repeat(client.sign(input), { deadline: Date.now() + 20_000 }),
      (client: LeaderClient) => client.invokeUnsigned(input),
    ]) {
      const { client, sent } = scripted(
        ({ origin, path }) =>
          origin.includes("one") ? "unsent" : { ...done(B), ...(path.endsWith("/meta") && { body: DOCUMENT }) },
        { url },
      );
      assert.equal((await call(client)).tag, "done");
      const last = sent.at(-1) as Sent;
      assert.deepEqual([last.origin, last.path], ["https://two.example", "/invoke"]);
    }
  });

  test("after a lost answer, only an address that shares the memory or has not sent a name is used", async () => {
    for (const [second, expected] of [
      [A, "done"],
      [B, "connection_failed maybe"],
    ] as const) {
      let failing = "one";
      let how: End = "unsent";
      const { client, sent } = scripted(
        ({ origin }) => {
          if (origin.includes(failing)) return how;
          return done(origin.includes("one") ? A : second);
        },
        { url },
      );
      await client.invoke(input);
      failing = "two";
      await client.invoke(input);
      // Both have named their memories, and calls go to the first.
      failing = "one";
      how = "lost";
      assert.equal(await client.invoke(input).then(({ tag }) => tag, endOf), expected);
      assert.deepEqual(origins(sent), ["one", "two", "two", "one", "one", ...(expected === "done" ? ["two"] : [])]);
    }
    const { client, sent } = scripted(
      ({ origin }, n) => (n === 0 ? done(A) : origin.includes("one") ? "lost" : done(A)),
      { url },
    );
    await client.invoke(input);
    assert.equal((await client.invoke(input)).tag, "done");
    assert.deepEqual(memories(sent), ["none", `${A};age=…`, `${A};age=…`]);
  });

  test("connect reads the metadata of the first address that answers", async () => {
    const { dispatcher } = scripted(({ origin }) => (origin.includes("one") ? "unsent" : { body: DOCUMENT }));
    const connected = await LeaderClient.connect(url, { dispatcher });
    assert.equal(connected.url, "https://two.example");
    await assert.rejects(LeaderClient.connect([], { dispatcher }), /at least one address/);
  });
});

describe("keys of the tool", () => {
  const key = publicKeyOf(TOOL_SEED);
  const other = publicKeyOf(Buffer.alloc(32, 8));
  const { engine } = selectEngine();
  const signing = prepareSigningKey(TOOL_SEED);
  const signed = ({ headers }: Sent): Answer => {
    const [leaderSignature, nonce] = ["X-Svc-Leader-Signature", "X-Svc-Nonce"].map((name) =>
      Buffer.from(headers[name] ?? "", "base64url"),
    ) as [Buffer, Buffer];
    const signature = engine.sign(signing, toolSignatureMessage(leaderSignature, nonce, outputHash(DONE)));
    const own = { "x-svc-sig-v": "3", "x-svc-tool-signature": Buffer.from(signature).toString("base64url") };
    return { headers: { "content-type": RESULT_TYPE, ...own }, body: DONE };
  };

  test("any of a list verifies", async () => {
    for (const toolKey of [key, [other, key], [Buffer.from(other).toString("hex"), Buffer.from(key).toString("hex")]]) {
      assert.equal((await scripted(signed, { toolKey }).client.invoke(input)).signature, "verified");
    }
    assert.equal(
      (await failureOf(scripted(signed, { toolKey: [other] }).client.invoke(input))).code,
      "wrong_signature",
    );
    assert.throws(() => scripted(signed, { toolKey: [] }), /toolKey: expected at least one key/);
  });

  test("a function is called for each call, and again for a result that its keys do not verify", async () => {
    let asked = 0;
    const toolKey = async () => (++asked === 2 ? key : other);
    const { client } = scripted(signed, { toolKey });
    assert.equal((await client.invoke(input)).signature, "verified");
    assert.equal(asked, 2);
    assert.equal((await failureOf(client.invoke(input))).code, "wrong_signature");
    assert.equal(asked, 4);
  });

  test("if a function throws, nothing is sent; an error after an attempt keeps `ran` and the request", async () => {
    let asked = 0;
    let good = 0;
    const toolKey = () => {
      if (asked++ >= good) throw new Error("no keys today");
      return other;
    };
    const { client, sent } = scripted(signed, { toolKey });
    const failed = async () => {
      const error = await failureOf(client.invoke(input));
      assert.match(String(error.cause), /no keys today/);
      assert.ok(error.request);
      return [endOf(error), sent.length];
    };
    assert.deepEqual(await failed(), ["tool_key_unavailable no", 0]);
    [asked, good] = [0, 1];
    assert.deepEqual(await failed(), ["tool_key_unavailable maybe", 1]);
    const lost = scripted(["lost", { body: DOCUMENT }], { toolKey });
    [asked, good] = [0, 1];
    const { request } = await failureOf(lost.client.invoke(input));
    assert.equal(endOf(await failureOf(lost.client.send(request as SignedRequest))), "tool_key_unavailable maybe");
  });

  test("a function that never ends has the same time limit as an answer", async () => {
    const { client } = scripted(signed, { toolKey: () => new Promise(() => undefined) });
    assert.equal(endOf(await failureOf(client.invoke(input, { timeoutMs: 1 }))), "timeout no");
    const controller = new AbortController();
    const call = failureOf(client.invoke(input, { signal: controller.signal }));
    controller.abort();
    assert.equal(endOf(await call), "aborted no");
    assert.equal(endOf(await failureOf(client.invoke(input, { signal: controller.signal }))), "aborted no");
  });
});

describe("a contract that changes", () => {
  const changed = documentOf(FQN, { any: {}, more: {} });
  const meta = (request: Sent, answer: End): End => (request.path === "/meta" ? { body: changed } : answer);

  test("the error of a refused input lists the changes, and refresh reads the new contract", async () => {
    const { client, sent } = scripted((request) => meta(request, refused(422, "input_deserialization_error")));
    const error = await failureOf(client.invoke(input));
    assert.match(
      error.details ?? "",
      /^the tool's contract has changed: input port "more" was added; call refresh\(\)$/,
    );
    assert.equal((await failureOf(client.invoke(input))).details, undefined, "looked at once in ten seconds");
    assert.equal(sent.filter(({ path }) => path === "/meta").length, 1);
    assert.deepEqual(await client.refresh(), ['input port "more" was added']);
    assert.deepEqual(
      client.ports.inputPorts.map(({ name }) => name),
      ["any", "more"],
    );
    assert.match(Buffer.from(client.sign({ any: 1, more: 2 }).body).toString(), /"more"/);
    assert.deepEqual(await client.refresh(), []);
  });

  test("the contract is read within the time limits of the call", async () => {
    const { client, sent } = scripted(({ path }) =>
      path.endsWith("/meta") ? "never" : refused(422, "input_deserialization_error"),
    );
    const timers = holdTimers(1);
    try {
      const failure = failureOf(client.invoke(input, { timeoutMs: 700, deadline: Date.now() + 600 }));
      while (sent.length < 2) await new Promise((resolve) => setImmediate(resolve));
      const limit = timers.waiting.at(-1);
      limit?.fire();
      assert.equal((await failure).code, "input_deserialization_error");
      assert.ok(limit !== undefined && limit.ms <= 600, `${limit?.ms}`);
    } finally {
      timers.restore();
    }
  });

  test("the error of a refused result lists the changes; for an unchanged contract nothing is added", async () => {
    const body = encodeOutput({ tag: "new", ports: [] });
    const other = documentOf(FQN, { any: {} }, { const: "new" });
    const { client } = scripted((request) =>
      request.path === "/meta" ? { body: other } : { headers: { "content-type": RESULT_TYPE }, body },
    );
    assert.match(
      (await failureOf(client.invoke(input))).details ?? "",
      /variant "new" was added, variant "done" was removed/,
    );
    const same = scripted((request) =>
      request.path === "/meta" ? { body: DOCUMENT } : refused(422, "input_deserialization_error"),
    );
    assert.equal((await failureOf(same.client.invoke(input))).details, undefined);
    const gone = scripted((request) =>
      request.path === "/meta" ? "lost" : refused(422, "input_deserialization_error"),
    );
    assert.equal((await failureOf(gone.client.invoke(input))).code, "input_deserialization_error");
  });
});

test("a 429 with a reason is not repeated", async () => {
  const body = JSON.stringify({ error: "rate_limited", details: "the budget is used up" });
  const { client } = scripted([{ ...refused(429, "rate_limited"), body }, done(A)]);
  const error = await failureOf(client.invoke(input, { repeat: true }));
  assert.deepEqual([error.code, error.ran, error.details], ["rate_limited", "no", "the budget is used up"]);
});

test("observe receives the start and the end of every call, and cannot affect it", async () => {
  const seen: [CallStart, CallEnd][] = [];
  const observe = (start: CallStart) => (end: CallEnd) => {
    seen.push([start, end]);
    const fault = new Error("a fault of the observer");
    if (seen.length > 1) throw fault;
    return Promise.reject(fault);
  };
  const { client } = scripted([done(A), "lost", refused(429, "rate_limited"), done(A)], { observe });
  const request = client.sign(input);
  await client.send(request);
  const [error] = await withoutPauses(() => failureOf(client.invoke(input)));
  assert.equal(error.code, "connection_failed");
  await withoutPauses(() => client.invoke(input, { repeat: true }));
  const facts = seen.map(([{ fqn, url }, { milliseconds, ...end }]) => {
    assert.ok(milliseconds >= 0);
    assert.deepEqual([fqn, url], ["xyz.test.life@1", "http://127.0.0.1:1"]);
    return end;
  });
  assert.deepEqual(facts, [
    { attempts: 1, status: 200, ran: "yes", tag: "done", code: undefined },
    {
      attempts: 1,
      status: undefined,
      ran: "maybe",
      tag: undefined,
      code: "connection_failed",
    },
    {
      attempts: 2,
      status: 200,
      ran: "yes",
      tag: "done",
      code: undefined,
    },
  ]);
  assert.deepEqual(seen[0]?.[0].nonce, request.nonce);
  const throwing = scripted([done()], {
    observe: () => {
      throw new Error("a fault of the observer");
    },
  });
  await throwing.client.invoke(input);
});

describe("the end of a client", () => {
  test("close refuses further calls and waits for running ones", async () => {
    let answer = () => {};
    const dispatch = (_options: object, handler: object) => {
      const to = handler as Record<string, (...args: unknown[]) => void>;
      const control = { abort: (error: Error) => to.onResponseError?.(control, error) };
      to.onRequestStart?.(control);
      answer = () => {
        to.onResponseStart?.(control, 200, { "content-type": RESULT_TYPE });
        to.onResponseData?.(control, DONE);
        to.onResponseEnd?.(control, {});
      };
      return true;
    };
    const { client } = scripted([], { dispatcher: { dispatch } });
    const call = client.invoke(input);
    let isClosed = false;
    const closed = client.close().then(() => {
      isClosed = true;
    });
    assert.equal(endOf(await failureOf(client.invoke(input))), "client_closed no");
    await assert.rejects(client.health(), /client_closed/);
    assert.equal(isClosed, false);
    answer();
    assert.equal((await call).tag, "done");
    await closed;
    await client.close();
  });

  test("its time limit and destroy abort running calls and pauses", async () => {
    const limited = scripted(["never"]).client;
    const cut = failureOf(limited.invoke(input));
    await limited.close({ timeoutMs: 1 });
    assert.equal(endOf(await cut), "aborted maybe");
    const { client } = scripted(["lost"]);
    const pausing = failureOf(client.invoke(input, { repeat: true }));
    setImmediate(() => client.destroy());
    assert.equal((await pausing).code, "aborted");
    assert.equal(endOf(await failureOf(client.invoke(input))), "client_closed no");
    await assert.rejects(scripted([]).client.close({ timeoutMs: -1 }), RangeError);
  });
});
