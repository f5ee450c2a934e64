/** Replay protection as callers see it, a counting tool behind every rule (protocol.md section 8). */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it, mock } from "node:test";
import { type Ed25519Engine, prepareSigningKey, selectEngine } from "#client/wire/signature/ed25519.js";
import { type InvokeContext, PermissionDenied, StartupError } from "#runtime/index.js";
import { SEAL_BYTES } from "#runtime/server/replay/cached-signature.js";
import { END_LIMIT_MS, endLease } from "#runtime/server/replay/claim.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import {
  type CachedAnswer,
  type Claim,
  type ReplayContext,
  type ReplayRequest,
  type ReplayStore,
  ReplayStoreUnavailable,
} from "#runtime/server/replay/store.js";
import { proves } from "../proves.js";
import { loseAnswers } from "./lost-answers.js";
import { expectError, RawConnection, type RawResponse } from "./raw.js";
import {
  alice,
  aliceKey2,
  type Behaviour,
  bob,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  gate,
  keptLog,
  type Leader,
  SignedCall,
  serveHasty,
  serveSigned,
  signedConfig,
  TOOL_SEED,
  until,
} from "./tools.js";

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const deny = (message: string): never => {
  throw new PermissionDenied(message);
};

/** A tool on a server of its own, and its calls. */
async function served(behaviour: Behaviour = {}, options: Parameters<typeof serveSigned>[1] = {}) {
  const tool = countingTool(behaviour);
  const server = await serveSigned([tool], options);
  const send = (call: SignedCall): Promise<RawResponse> => call.send(server.url);
  return { tool, calls: tool.calls, server, send, call: (json: string, o = {}) => echoCall(tool, json, o) };
}

/** A tool whose runs wait for the test: each call of `invoke` takes the next gate. */
async function held(behaviour: Behaviour = {}, options: Parameters<typeof serveSigned>[1] = {}) {
  const gates: ReturnType<typeof gate<void>>[] = [];
  const invoke = async ({ value }: Record<string, unknown>) => {
    const next = gate();
    gates.push(next);
    await next.promise;
    return { ok: { value } };
  };
  const it = await served({ invoke, ...behaviour }, options);
  /** Sends a call and waits until it runs. */
  const start = async (call: SignedCall) => {
    const before = gates.length;
    const answer = it.send(call);
    await until(() => gates.length > before, "the tool runs");
    return { answer, open: () => gates[before]?.open() };
  };
  return { ...it, start };
}

const inFlight = (response: RawResponse) =>
  assert.equal(expectError(response, 409, "request_in_flight"), "a call with this nonce is still running");

describe("the look-up", () => {
  it("an exact retry does not run again and gets the same bytes", async () => {
    const { calls, send, call } = await served();
    const signed = call('"once"');
    for (let i = 0; i < 3; i++) expectResult(await send(signed), echoed('"once"'), signed);
    assert.deepEqual([calls.constructed, calls.authorized, calls.invoked], [1, 1, 1]);
    proves("7.7", "8.2", "8.6", "8.7");
  });

  it("409 for another hash of a nonce in flight; afterwards both have their own answers", async () => {
    const { calls, send, call, start } = await held();
    const nonce = randomBytes(32);
    const [one, two] = [call("1", { nonce }), call("2", { nonce })];
    const first = await start(one);
    inFlight(await send(two));
    inFlight(await send(two.by(bob)));
    assert.equal(calls.constructed, 1);
    first.open();
    expectResult(await first.answer, echoed("1"), one);
    const second = await start(two);
    expectResult(await send(one), echoed("1"), one);
    inFlight(await send(call("3", { nonce })));
    second.open();
    expectResult(await second.answer, echoed("2"), two);
    expectResult(await send(one), echoed("1"), one);
    expectResult(await send(two), echoed("2"), two);
    assert.equal(calls.invoked, 2);
    proves("8.1", "8.3", "8.4", "8.5");
  });

  it("in flight from the claim to the end, including construction and authorize", async () => {
    for (const part of ["construct", "authorize", "encodeOutput"] as const) {
      const open = gate();
      const { calls, send, call, server } = await served({
        [part]: (output: unknown) => open.promise.then(() => (part === "encodeOutput" ? output : undefined)),
      });
      const signed = call("1");
      const answer = send(signed);
      await until(() => calls.constructed === 1, "it runs");
      inFlight(await send(signed));
      open.open();
      expectResult(await answer, echoed("1"), signed);
      assert.equal(
        server.log.some(({ level }) => level === "error"),
        false,
      );
    }
    proves("7.1", "7.23", "8.2");
  });
});

describe("answers that are never stored", () => {
  it("401, envelope faults and input_integrity_error", async () => {
    const { calls, send, call } = await served();
    const signed = call("1");
    const broken = (body: string) =>
      new SignedCall(signed.target, Buffer.from(body), signed.hash, { nonce: signed.nonce });
    const stranger = Object.assign(call("1", { nonce: signed.nonce }), { headers: signed.headers.slice(1) });
    expectError(await send(stranger), 401, "auth_failed");
    expectError(await send(broken("{")), 422, "input_deserialization_error");
    expectError(await send(broken('{"ports":[]}')), 422, "input_deserialization_error");
    expectError(await send(broken(call("2").body.toString())), 422, "input_integrity_error");
    assert.equal(calls.constructed, 0);
    expectResult(await send(signed), echoed("1"), signed);
    assert.equal(calls.invoked, 1);
    // Nor does it find the entry of the call.
    expectError(await send(broken(call("2").body.toString())), 422, "input_integrity_error");
    proves("7.1", "8.9");
  });
});

describe("every end of a run completes its entry", () => {
  const fail = () => {
    throw new Error("canary");
  };
  for (const [status, code, behaviour] of [
    [
      422,
      "input_deserialization_error",
      { input: [{ name: "value", many: false, codec: { kind: "string" as const } }] },
    ],
    [500, "tool_invocation_failed", { invoke: fail }],
    [500, "tool_invocation_failed", { construct: fail }],
    [500, "tool_invocation_failed", { authorize: fail }],
    [500, "output_serialization_error", { invoke: () => ({ ok: { value: Number.NaN } }) }],
    [500, "output_serialization_error", { encodeOutput: fail }],
    [504, "tool_invocation_timeout", { timeout: 40, invoke: () => new Promise(() => {}) }],
    [504, "tool_invocation_timeout", { timeout: 40, invoke: () => wait(80).then(() => ({ ok: { value: 1 } })) }],
    [403, "permission_denied", { authorize: () => deny("no") }],
  ] as const) {
    it(`${status} ${code}: ${Object.keys(behaviour)}`, async () => {
      const { calls, send, call } = await served(behaviour);
      const signed = call("1");
      const first = await send(signed);
      expectError(first, status, code);
      for (let i = 0; i < 2; i++) {
        const retry = await send(signed);
        expectError(retry, status, code);
        assert.deepEqual(retry.body, first.body);
        if (status === 504) await wait(60);
      }
      assert.equal(calls.constructed, 1);
      proves("7.16", "8.6");
    });
  }
});

describe("a retry", () => {
  it("of another leader passes authorize on a new instance, then gets the cached answer, signed for it", async () => {
    const { calls, send, call } = await served();
    const signed = call("1");
    expectResult(await send(signed), echoed("1"), signed);
    const retry = signed.by(bob);
    expectResult(await send(retry), echoed("1"), retry);
    assert.deepEqual([calls.constructed, calls.authorized, calls.invoked], [2, 2, 1]);
    expectResult(await send(signed), echoed("1"), signed);
    assert.deepEqual([calls.constructed, calls.authorized], [2, 2], "the entry is still the first caller's");
    proves("8.1", "8.8");
  });

  it("of another key of the leader: a refusal is answered and not cached", async () => {
    let open = false;
    const authorize = ({ leaderKeyId }: { leaderKeyId: bigint }) => {
      if (leaderKeyId === aliceKey2.kid && !open) deny("not you");
    };
    const { calls, send, call } = await served({ authorize });
    const signed = call("1");
    expectResult(await send(signed), echoed("1"), signed);
    assert.equal(expectError(await send(signed.by(aliceKey2)), 403, "permission_denied"), "not you");
    expectResult(await send(signed), echoed("1"), signed);
    open = true;
    const retry = signed.by(aliceKey2);
    expectResult(await send(retry), echoed("1"), retry);
    assert.equal(calls.invoked, 1);
    proves("8.8");
  });

  const onlyFor =
    (leader: Leader, act: () => void | Promise<void>) =>
    ({ leaderId }: { leaderId: string }) =>
      leaderId === leader.id ? act() : undefined;
  for (const [what, status, code, act] of [
    ["fails", 500, "tool_invocation_failed", () => Promise.reject(new Error("canary"))],
    ["never ends", 504, "tool_invocation_timeout", () => new Promise<void>(() => {})],
    [
      "keeps the event loop busy past the deadline",
      504,
      "tool_invocation_timeout",
      () => {
        const end = performance.now() + 600;
        while (performance.now() < end);
      },
    ],
  ] as const) {
    it(`its authorize ${what}: answered and not cached`, async () => {
      let broken = true;
      const { calls, send, call } = await served({
        timeout: 500,
        authorize: onlyFor(bob, () => (broken ? act() : undefined)),
      });
      const signed = call("1");
      expectResult(await send(signed), echoed("1"), signed);
      expectError(await send(signed.by(bob)), status, code);
      expectResult(await send(signed), echoed("1"), signed);
      broken = false;
      const retry = signed.by(bob);
      expectResult(await send(retry), echoed("1"), retry);
      assert.equal(calls.invoked, 1);
      proves("8.8");
    });
  }
});

describe("signing again", () => {
  for (const [what, change, again] of [
    ["is kept", (seal) => seal, false],
    ["is not kept by the store", () => undefined, true],
    ["is an array", (seal) => [...seal], true],
    ["is too short", (seal) => seal.slice(1), true],
    ["is a text", () => "x".repeat(SEAL_BYTES), true],
  ] as readonly (readonly [string, (seal: Uint8Array) => unknown, boolean])[]) {
    it(`happens ${again ? "" : "only "}for another leader if the stored seal ${what}${again ? ", and for an exact retry" : ""}`, async () => {
      const memory = new ReplayMemory();
      const claim = (request: ReplayRequest) => {
        const claim = memory.claim(request);
        if (claim.state !== "completed") return claim;
        const { seal = assert.fail("no seal"), ...answer } = claim.answer;
        assert.equal(seal.length, SEAL_BYTES);
        return { ...claim, answer: { ...answer, seal: change(seal) } };
      };
      const { server, send, call } = await served({}, { replayStore: { scope: "process", claim } as ReplayStore });
      const first = call("1");
      for (const [request, signed] of [
        [first, true],
        [first, again],
        [first.by(bob), true],
        [first, again],
      ] as const) {
        expectResult(await send(request), echoed("1"), request);
        const steps = server.log.findLast(({ message }) => message === "answered")?.fields.ms as object;
        assert.equal("sign" in steps, signed);
      }
    });
  }
});

describe("an engine that fails", () => {
  const { engine } = selectEngine();
  type Sign = Ed25519Engine["sign"];
  const serveSigning = async (sign: Sign) => {
    const tool = countingTool();
    const work = { name: engine.name, verify: engine.verify, sign };
    const server = await serveHasty([tool], {}, signedConfig([tool.fqn]), work);
    const call = echoCall(tool, "1");
    return { tool, call, send: () => call.send(server.url), ...server };
  };

  const fail = () => assert.fail("canary");

  it("once: the result is signed, and the failure is logged", async () => {
    let calls = 0;
    const { tool, call, send, log } = await serveSigning((...of) => (++calls === 1 ? fail() : engine.sign(...of)));
    for (let i = 0; i < 2; i++) expectResult(await send(), echoed("1"), call);
    assert.equal(tool.calls.invoked, 1);
    assert.ok(log.entries.some(({ level, message }) => level === "warn" && /signing a result failed/.test(message)));
  });

  it("always: 500 for each caller, one run, nothing in flight", async () => {
    const { tool, send, service, store, log } = await serveSigning(fail);
    for (let i = 0; i < 2; i++) expectError(await send(), 500, "internal_error");
    const errors = log.entries.filter(({ level, message }) => level === "error" && /answering a request/.test(message));
    assert.equal(errors.length, 2);
    assert.deepEqual([tool.calls.invoked, service.load.runs.inFlight], [1, 0]);
    const { entries, inFlight } = store.stats();
    assert.deepEqual([entries, inFlight], [1, 0]);
  });
});

/** A replay memory on a clock that the test moves. */
function clocked(ttlMs: number) {
  const clock = { now: 0 };
  return { clock, replayStore: new ReplayMemory({ ttlMs: () => ttlMs, now: () => clock.now }) };
}

describe("the TTL", () => {
  it("of a timed-out run starts when the tool settles: a 504 until then, never a second run", async () => {
    const { clock, replayStore } = clocked(200);
    const end = gate();
    const invoke = () => end.promise.then(() => ({ ok: { value: 1 } }));
    const { calls, send, call, server } = await served({ timeout: 500, invoke }, { replayStore });
    const signed = call("1");
    expectError(await send(signed), 504, "tool_invocation_timeout");
    clock.now = 100_000;
    expectError(await send(signed), 504, "tool_invocation_timeout");
    assert.equal(calls.invoked, 1, "long past the TTL, but the tool still runs");
    end.open();
    await until(() => server.log.some(({ message }) => message.includes("discarded")), "the late end is logged");
    clock.now = 100_199;
    expectError(await send(signed), 504, "tool_invocation_timeout");
    clock.now = 100_200;
    expectResult(await send(signed), echoed("1"), signed);
    assert.equal(calls.invoked, 2);
    proves("8.11");
  });
});

describe("a caller that disconnects", () => {
  it("does not release its entry or abort the tool: the run continues and the retry gets its result", async () => {
    let context: InvokeContext | undefined;
    const end = gate();
    const invoke = async ({ value }: Record<string, unknown>, given: InvokeContext) => {
      context = given;
      given.signal.aborted;
      await end.promise;
      return { ok: { value } };
    };
    const { calls, send, call, server } = await served({ invoke });
    const signed = call("1");
    const connection = await RawConnection.open(server.url);
    connection.send(signed.text());
    await until(() => context !== undefined, "the tool runs");
    connection.close();
    await wait(50);
    inFlight(await send(signed));
    assert.equal(context?.signal.aborted, false);
    end.open();
    await until(async () => (await send(signed)).status === 200, "its end");
    expectResult(await send(signed), echoed("1"), signed);
    assert.equal(context?.signal.aborted, false);
    assert.equal(calls.invoked, 1);
    proves("8.10");
  });
});

describe("a claim that a custom store", () => {
  const answer = { status: 200, code: undefined, signable: true, body: new Uint8Array(1) };
  const completed = (change: object) => ({ state: "completed", sameCaller: true, answer: { ...answer, ...change } });
  const canary = () => new Error("canary");
  const CLAIMS: Record<string, () => unknown> = {
    throws: () => {
      throw canary();
    },
    rejects: () => Promise.reject(canary()),
    "rejects with a promise of another library": () => ({
      // biome-ignore lint/suspicious/noThenProperty: what such a promise is known by
      then: (_: unknown, reject: (e: unknown) => void) => reject(canary()),
    }),
    "gives nothing": () => undefined,
    "gives a state that is none": async () => ({ state: "canary" }),
    "gives a run without a lease": () => ({ state: "run" }),
    "gives a run with half a lease": async () => ({ state: "run", lease: { complete: () => true } }),
    "completes with status 99": () => completed({ status: 99 }),
    "completes with status 1e9": async () => completed({ status: 1e9, signable: false }),
    "completes with status NaN": async () => completed({ status: Number.NaN, signable: false }),
    "completes with a text for a status": () => completed({ status: "200\r\ncanary" }),
    "completes with an error that is signed": () => completed({ status: 500 }),
    "completes with an unsigned result": () => completed({ signable: false }),
    "completes with an error below 400": () => completed({ status: 399, signable: false }),
    "completes with an error above 599": () => completed({ status: 600, signable: false }),
    "completes with an error of half a status": () => completed({ status: 400.5, signable: false }),
    "completes with a code that is no text": () => completed({ code: 7 }),
    "completes without saying whether its result is signed": () => completed({ signable: undefined }),
    "completes without saying who asked first": () => ({ ...completed({}), sameCaller: undefined }),
    "completes without a body": async () => completed({ body: undefined }),
    "completes without an answer": () => ({ state: "completed", sameCaller: true }),
  };
  const ends = { complete: () => true, timeOut: () => true, settle: () => true, release: () => true };
  for (const end of Object.keys(ends)) {
    CLAIMS[`gives a run whose lease lacks ${end}`] = () => ({ state: "run", lease: { ...ends, [end]: undefined } });
  }
  for (const [what, claim] of Object.entries(CLAIMS)) {
    it(`${what} is 503 replay_store_unavailable, logged; nothing ran`, async () => {
      const replayStore = { claim } as unknown as ReplayStore;
      const { calls, send, call, server } = await served({}, { replayStore });
      const response = await send(call("1"));
      assert.equal(expectError(response, 503, "replay_store_unavailable"), undefined);
      assert.match(response.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
      assert.equal(calls.constructed, 0);
      const lines = server.log.filter(({ level, fields }) => level === "error" && "err" in fields);
      assert.deepEqual(
        lines.map(({ message }) => message),
        ["a call was refused, because the replay store failed"],
      );
      assert.equal(server.load().bodyBytes.inFlight, 0);
      proves("7.30", "8.18", "8.22");
    });
  }

  for (const [claim, status, code] of [
    [{ state: "in-flight" }, 409, "request_in_flight"],
    [{ state: "full" }, 503, "replay_store_full"],
    [completed({ status: 400, code: "one", signable: false, body: Buffer.from('{"error":"one"}') }), 400, "one"],
    [completed({ status: 599, code: "other", signable: false, body: Buffer.from('{"error":"other"}') }), 599, "other"],
  ] as const) {
    it(`gives as ${claim.state} is ${status} ${code}`, async () => {
      const replayStore = { claim: () => claim } as unknown as ReplayStore;
      const { calls, send, call } = await served({}, { replayStore });
      const response = await send(call("1"));
      assert.equal(response.status, status);
      assert.equal((JSON.parse(response.body.toString()) as { error: string }).error, code);
      assert.equal(calls.invoked, 0);
    });
  }

  it("never settles gets 503 after the time limit; one that settles late is released", async () => {
    const memory = new ReplayMemory();
    const opened = gate();
    const late: ReplayStore = {
      scope: "process",
      claim: async (request) => {
        await opened.promise;
        return memory.claim(request);
      },
    };
    const tool = countingTool();
    const config = signedConfig([tool.fqn]);
    const { url } = await serveHasty([tool], {}, config, undefined, { store: late, claimLimitMs: 50 });
    const call = echoCall(tool, "1");
    expectError(await call.send(url), 503, "replay_store_unavailable");
    assert.equal(tool.calls.constructed, 0);
    opened.open();
    await until(() => memory.stats().inFlight === 0, "the late claim is given back");
    await until(async () => {
      const response = await call.send(url);
      if (response.status === 200) expectResult(response, echoed("1"), call);
      return response.status === 200;
    }, "the pair runs");
    assert.equal(tool.calls.invoked, 1);
    proves("8.22");
  });
});

describe("a tool gets a copy of the caller", () => {
  it("a tool that writes to every object in its context changes neither signature nor entry", async () => {
    let found = 0;
    const overwrite = (object: object, depth: number): void => {
      for (const part of [...Object.values(object), (object as { auth?: unknown }).auth]) {
        if (part instanceof Uint8Array) {
          part.fill(0);
          found++;
        } else if (depth > 0 && typeof part === "object" && part !== null) overwrite(part, depth - 1);
      }
    };
    const invoke = ({ value }: Record<string, unknown>, context: object) => {
      overwrite(context, 2);
      return { ok: { value } };
    };
    const { calls, send, call } = await served({ authorize: (auth) => overwrite({ auth }, 1), invoke });
    const signed = call("1");
    for (let i = 0; i < 2; i++) expectResult(await send(signed), echoed("1"), signed);
    assert.ok(found >= 6 && calls.invoked === 1);
  });
});

describe("a custom store that throws at the end of a run", () => {
  for (const end of ["complete", "timeOut", "settle"] as const) {
    it(`${end}: the caller gets its answer, the error is logged, and no bytes stay counted`, async () => {
      const fail = () => {
        throw new Error("the store is gone");
      };
      const lease = { complete: () => true, timeOut: () => true, settle: () => true, release: () => true, [end]: fail };
      const replayStore: ReplayStore = { scope: "process", claim: () => ({ state: "run", lease }) };
      const invoke = async () => {
        if (end !== "complete") await new Promise((resolve) => setTimeout(resolve, 150));
        return { ok: { value: 1 } };
      };
      const tool = countingTool({ timeout: end === "complete" ? 10_000 : 50, invoke });
      const server = await serveSigned([tool], { replayStore });
      const { status } = await echoCall(tool, "1").send(server.url);
      assert.equal(status, end === "complete" ? 200 : 504);
      const said = () => server.log.some(({ message }) => /failed to store an answer/.test(message));
      await until(said, "a line in the log");
      assert.equal(server.load().bodyBytes.inFlight, 0);
      proves("8.22");
    });
  }
});

const NOT_SENT = "the call has run, but its answer cannot be sent now";

describe("a store that other processes share", () => {
  /** The memory as a shared store: asynchronous, with entries that another writer may change. */
  function shared(change: (answer: CachedAnswer) => CachedAnswer = (answer) => answer) {
    const memory = new ReplayMemory();
    const ends = gate();
    const seen: string[] = [];
    const store = {
      scope: "shared",
      unavailable: undefined as string | undefined,
      start: async ({ tools, ttlMs }: ReplayContext) => {
        for (const { fqn, timeoutMs } of tools) seen.push(`start ${fqn} ${timeoutMs} ${ttlMs(fqn)}`);
      },
      claim: async (request: ReplayRequest): Promise<Claim> => {
        seen.push(`claim ${request.leaseMs}`);
        const claim = memory.claim(request);
        if (claim.state === "completed") return { ...claim, answer: change(claim.answer) };
        if (claim.state !== "run") return claim;
        const { lease } = claim;
        const complete = async (answer: CachedAnswer) => {
          await ends.promise;
          seen.push("complete");
          return lease.complete(answer);
        };
        const { timeOut, settle, release } = lease;
        return {
          state: "run",
          lease: {
            complete,
            timeOut: async (answer) => timeOut.call(lease, answer),
            settle: async () => settle.call(lease),
            release: async () => release.call(lease),
          },
        };
      },
      close: async (ms: number) => {
        seen.push(`close ${ms}`);
      },
    } satisfies ReplayStore;
    return { store, seen, ends };
  }

  it("starts before the server listens, gets the lease, stores the end before the answer, is closed last", async () => {
    const { store, seen, ends } = shared();
    const { tool, server, send, call } = await served({}, { replayStore: store });
    assert.deepEqual(seen, [`start ${tool.fqn} 10000 300000`]);
    let answered = false;
    const answer = send(call("1")).finally(() => {
      answered = true;
    });
    await until(() => tool.calls.invoked === 1 && server.log !== undefined, "the tool ran");
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(answered, false);
    ends.open();
    assert.equal((await answer).status, 200);
    await server.close();
    assert.deepEqual(seen.slice(1), ["claim 40000", "complete", "close 5000"]);
  });

  for (const [name, change] of Object.entries({
    "another body": (answer) => ({ ...answer, body: new Uint8Array(echoed("2")) }),
    "no seal": ({ seal: _, ...answer }) => answer,
    "a seal of another key": ({ seal, ...answer }) => ({ ...answer, seal: seal && corrupt(seal, 130) }),
    "another input": ({ seal, ...answer }) => ({ ...answer, seal: seal && corrupt(seal, SEAL_BYTES) }),
    "an unknown input": ({ seal, ...answer }) => ({ ...answer, seal: seal?.slice(0, SEAL_BYTES) }),
  } satisfies Record<string, (answer: CachedAnswer) => CachedAnswer>)) {
    it(`write access to the store is not enough to get a signature: ${name}`, async () => {
      const { store, ends } = shared(change);
      ends.open();
      const { calls, server, send, call } = await served({}, { replayStore: store, admin: [[127, 0, 0, 1], 0] });
      const first = call("1");
      expectResult(await send(first), echoed("1"), first);
      assert.equal(expectError(await send(first.by(bob)), 409, "request_in_flight"), NOT_SENT);
      assert.equal(calls.invoked, 1);
      const line = server.log.find(({ message }) =>
        message.startsWith("a stored result was not sent, because another"),
      );
      assert.equal(line?.level, "error");
      const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
      assert.match(metrics, /^svc_replay_hits_total\{[^}]*\} 0$/m, "what is not sent is no hit");
      proves("8.25");
    });
  }

  it("a result is sent again when the key of its first caller has left the allow-list", async () => {
    const { store, ends } = shared();
    ends.open();
    const tool = countingTool();
    const config = signedConfig([tool.fqn]);
    const { leaders } = config;
    let removed: bigint | undefined;
    const lookup = (id: string, kid: bigint) => (kid === removed ? undefined : leaders.lookup(id, kid));
    Object.defineProperty(config, "leaders", { get: () => ({ lookup, has: () => true, keys: [], isEmpty: false }) });
    const server = await serveSigned([tool], { replayStore: store, config });
    const first = echoCall(tool, "1");
    expectResult(await first.send(server.url), echoed("1"), first);
    removed = alice.kid;
    expectError(await first.send(server.url), 401, "auth_failed");
    const rotated = first.by(aliceKey2);
    expectResult(await rotated.send(server.url), echoed("1"), rotated);
    assert.equal(tool.calls.invoked, 1);
  });

  it("a result of the previous key is signed again after a rotation, even after more reloads", async () => {
    const { store, ends } = shared();
    ends.open();
    const tool = countingTool();
    const config = signedConfig([tool.fqn]);
    let seed = TOOL_SEED;
    // Each reload makes a new object of the key.
    const replayTtlMs = 300_000;
    mock.method(config, "toolConfig", () => ({ replayTtlMs, signingKey: prepareSigningKey(seed) }));
    const server = await serveSigned([tool], { replayStore: store, config });
    const first = echoCall(tool, "1");
    expectResult(await first.send(server.url), echoed("1"), first);
    seed = Buffer.alloc(32, 7);
    for (const caller of [alice, bob, alice]) assert.equal((await first.by(caller).send(server.url)).status, 200);
    assert.equal(tool.calls.invoked, 1);
  });

  it("a store that cannot claim sets Retry-After, and nothing runs", async () => {
    const replayStore: ReplayStore = {
      scope: "shared",
      claim: () => Promise.reject(new ReplayStoreUnavailable("grace", 4_200)),
    };
    const { calls, server, send, call } = await served({}, { replayStore });
    const response = await send(call("1"));
    assert.equal(response.status, 503);
    assert.deepEqual(JSON.parse(response.body.toString()), { error: "replay_store_unavailable" });
    assert.equal(response.headers.get("retry-after"), "5");
    assert.equal(calls.invoked, 0);
    assert.ok(!server.log.some(({ level }) => level === "error"), "the store says it once, not every call");
  });

  it("if a store does not start, the server does not listen", async () => {
    const replayStore: ReplayStore = {
      scope: "shared",
      start: () => Promise.reject(new StartupError("no Redis there")),
      claim: () => Promise.reject(new Error()),
    };
    await assert.rejects(served({}, { replayStore }), new StartupError("no Redis there"));
  });

  it("an end that the store never accepts delays the answer by a limited time", async () => {
    const timers = mock.timers;
    timers.enable({ apis: ["setTimeout"] });
    try {
      const late = endLease(keptLog(), () => new Promise<boolean>(() => {}));
      let over = false;
      void late?.then(() => {
        over = true;
      });
      timers.tick(END_LIMIT_MS - 1);
      await Promise.resolve();
      assert.equal(over, false);
      timers.tick(1);
      await late;
    } finally {
      timers.reset();
    }
  });
});

const corrupt = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte));

for (const scope of ["process", "shared"] as const) {
  it(`no answer says that nothing ran after a run, with lost answers and changing keys: ${scope} store`, () => {
    const memory = new ReplayMemory();
    const [start, claim] = [memory.start.bind(memory), memory.claim.bind(memory)];
    return loseAnswers([{ scope, memoryName: memory.memoryName, start, claim }]);
  });
}
