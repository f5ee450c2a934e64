/**
 * Failures of a call, each caused at a server that counts its runs: the code, whether the tool ran by the error, how often it
 * really ran, and the same after repeats of the request.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PermissionDenied, ReplayMemory, ReplayStoreUnavailable } from "svc-runtime";
import {
  LeaderClient,
  type LeaderError,
  type LeaderOptions,
  publicKeyOf,
  type SignedRequest,
} from "svc-runtime/leader";
import { ERROR_CODES, isErrorCode } from "#client/wire/error-codes.js";
import { proves } from "../proves.js";
import { atEnd } from "../teardown.js";
import { type Cut, CuttingProxy } from "./cutting-proxy.js";
import { failureOf } from "./leader-scene.js";
import { alice, type Behaviour, bob, countingTool, one, serveSigned, signerOf, TOOL_KEY } from "./tools.js";

const leader = signerOf(alice);

/** Runs by the id of their input. */
const runs = new Map<string, number>();
let release = () => {};
let held = new Promise<void>(() => {});
const hold = () => {
  held = new Promise((resolve) => {
    release = resolve;
  });
};

const text = { kind: "string" } as const;
const behaviour: Behaviour = {
  path: "",
  input: [one("id", text), one("mode", text)],
  output: [{ name: "ok", ports: [one("id", text)] }],
  authorize: ({ leaderId }) => {
    if (leaderId === bob.id) throw new PermissionDenied("barred");
  },
  invoke: async ({ id, mode }, { signal }) => {
    runs.set(`${id}`, (runs.get(`${id}`) ?? 0) + 1);
    if (mode === "throw") throw new Error("no");
    if (mode === "unencodable") return { ok: { id: Symbol("no JSON") } };
    if (mode === "hold")
      await Promise.race([held, new Promise((_, reject) => signal.addEventListener("abort", reject))]);
    return { ok: { id } };
  },
};
const tool = countingTool({ ...behaviour, timeout: 20_000 });
const hasty = countingTool({ ...behaviour, timeout: 100 });

const start = (options: Parameters<typeof serveSigned>[1] = {}, served = tool) =>
  serveSigned([served], { replayStore: new ReplayMemory(), ...options });

const server = await start();
const proxy = await CuttingProxy.start(() => [Number(new URL(server.url).port)]);

async function connect(url = proxy.url, options: LeaderOptions = {}): Promise<LeaderClient> {
  const client = await LeaderClient.connect(url, { leader, toolKey: TOOL_KEY, ...options });
  atEnd(() => client.destroy());
  return client;
}
const client = await connect();

let ids = 0;
const input = (mode = "ok") => ({ id: `call ${ids++}`, mode });

/** Cuts the next request and passes all others. */
function cutNext(cut: Cut, target = proxy): void {
  target.cut = () => {
    target.cut = () => "pass";
    return cut;
  };
}

async function runsOf(id: string): Promise<number> {
  // A run that has begun is counted by then.
  await new Promise((resolve) => setTimeout(resolve, 20));
  return runs.get(id) ?? 0;
}

interface Row {
  /** The code, whether the tool ran by the error, and its runs. */
  readonly failure: string;
  /** Makes the failing call. */
  readonly call: (given: { id: string; mode: string }) => Promise<unknown>;
  /** The end of a repeat of the error's request, and all runs after it. */
  readonly repeat: string | undefined;
  readonly mode: string | undefined;
}

const row = (failure: string, call: Row["call"], repeat?: string, mode?: string): Row => ({
  failure,
  call,
  repeat,
  mode,
});
/** One of which a repeat gets the result of a single run. */
const repeatable = (failure: string, call: Row["call"], mode?: string) => row(failure, call, "result 1", mode);

const rows: Readonly<Record<string, Row>> = {
  "the input does not fit": row("invalid_input no 0", (given) => client.invoke({ ...given, more: 1 })),
  "the signal has fired": repeatable("aborted no 0", (given) => client.invoke(given, { signal: AbortSignal.abort() })),
  "the deadline has passed": repeatable("timeout no 0", (given) => client.invoke(given, { deadline: Date.now() - 1 })),
  "the client is closed": repeatable("client_closed no 0", async (given) => {
    const closed = await connect();
    await closed.close();
    return closed.invoke(given);
  }),
  "another leader's key": row(
    "auth_failed no 0",
    async (given) => (await connect(proxy.url, { leader: { ...leader, key: Buffer.alloc(32, 8) } })).invoke(given),
    "auth_failed no 0",
  ),
  "authorize refuses": row(
    "permission_denied no 0",
    async (given) => (await connect(proxy.url, { leader: signerOf(bob) })).invoke(given),
    "permission_denied no 0",
  ),
  "the body was changed on the way": row(
    "input_integrity_error no 0",
    (given) => {
      const request = client.sign(given);
      const body = Buffer.from(Buffer.from(request.body).toString().replace("call ", "CALL "));
      return client.send({ ...request, body });
    },
    "input_integrity_error no 0",
  ),
  "a value of another type": row(
    "input_deserialization_error no 0",
    (given) => client.invoke({ ...given, mode: 1 }),
    "input_deserialization_error no 0",
  ),
  "the tool throws": row(
    "tool_invocation_failed maybe 1",
    (given) => client.invoke(given),
    "tool_invocation_failed maybe 1",
    "throw",
  ),
  "the result has no JSON form": row(
    "output_serialization_error yes 1",
    (given) => client.invoke(given),
    "output_serialization_error yes 1",
    "unencodable",
  ),
  "the connection is cut before the request": repeatable("connection_failed maybe 0", (given) => {
    cutNext("before");
    return client.invoke(given);
  }),
  "the answer is lost": repeatable("connection_failed maybe 1", (given) => {
    cutNext("after");
    return client.invoke(given);
  }),
  "a gateway answers in place of the tool": repeatable("gateway_error maybe 1", (given) => {
    cutNext("gateway");
    return client.invoke(given);
  }),
  "no answer within the timeout": repeatable(
    "timeout maybe 1",
    (given) => {
      hold();
      return client.invoke(given, { timeoutMs: 200 });
    },
    "hold",
  ),
  "the signal fires while it runs": repeatable(
    "aborted maybe 1",
    (given) => {
      hold();
      const controller = new AbortController();
      const call = client.invoke(given, { signal: controller.signal });
      whenRunning(given.id, () => controller.abort());
      return call;
    },
    "hold",
  ),
  "the client is destroyed while it runs": repeatable(
    "aborted maybe 1",
    async (given) => {
      hold();
      const cut = await connect();
      const call = cut.invoke(given);
      whenRunning(given.id, () => cut.destroy());
      return call;
    },
    "hold",
  ),
  "the same request is running": repeatable(
    "request_in_flight maybe 1",
    (given) => {
      hold();
      const request = client.sign(given);
      client.send(request).catch(() => undefined);
      return new Promise((resolve, reject) => whenRunning(given.id, () => client.send(request).then(resolve, reject)));
    },
    "hold",
  ),
  "the tool's deadline passes": row(
    "tool_invocation_timeout maybe 1",
    async (given) => {
      hold();
      const { url } = await start({}, hasty);
      return (await connect(url)).invoke(given);
    },
    undefined,
    "hold",
  ),
  "a shutdown ends the run": row(
    "tool_invocation_interrupted maybe 1",
    async (given) => {
      hold();
      const ending = await start({ shutdown: { drainMs: 0 } });
      const call = (await connect(ending.url)).invoke(given);
      whenRunning(given.id, () => ending.close());
      return call;
    },
    undefined,
    "hold",
  ),
  "no run is free": repeatable("overloaded no 0", async (given) => {
    hold();
    const busy = await connect((await start({ maxRuns: 2 })).url);
    const first = { id: `before ${given.id}`, mode: "hold" };
    const running = busy.invoke(first);
    await new Promise<void>((resolve) => whenRunning(first.id, resolve));
    try {
      return await busy.invoke(given);
    } finally {
      release();
      await running;
    }
  }),
  "no tool is at the address": repeatable("not_found no 0", async (given) => {
    const document = await (await fetch(`${server.url}/meta`)).text();
    const options = { leader, toolKey: TOOL_KEY, url: `${server.url}/other` };
    return LeaderClient.fromMetadata(document, options).invoke(given);
  }),
  "the replay store is away": repeatable("replay_store_unavailable no 0", async (given) => {
    const claim = () => Promise.reject(new ReplayStoreUnavailable("disconnected", 1_000));
    return (await connect((await start({ replayStore: { scope: "process", claim } })).url)).invoke(given);
  }),
  "the tool's keys cannot be read after the run": repeatable("tool_key_unavailable maybe 1", async (given) => {
    const keys = [publicKeyOf(Buffer.alloc(32, 3))];
    return (await connect(proxy.url, { toolKey: () => keys.pop() ?? assert.fail("away") })).invoke(given);
  }),
  "the replay memory began anew, and the request had an attempt": repeatable(
    "replay_memory_lost maybe 0",
    async (given) => {
      cutNext("before");
      const { request } = await failureOf(client.invoke(given));
      const renewed = await start();
      return (await connect(renewed.url)).send(request as SignedRequest);
    },
  ),
  "the replay memory began anew, before any attempt": repeatable("replay_memory_lost no 0", async (given) => {
    const renewing = await CuttingProxy.start(() => [Number(new URL(at).port)]);
    let at = server.url;
    const one = await connect(renewing.url);
    const request = one.sign(given);
    at = (await start()).url;
    return one.send(request);
  }),
  "another tool's key": repeatable("wrong_signature maybe 1", async (given) =>
    (await connect(proxy.url, { toolKey: publicKeyOf(Buffer.alloc(32, 3)) })).invoke(given),
  ),
  "the tool has no key": row("unsigned_result maybe 1", async (given) =>
    (await connect((await start({ key: false })).url)).invoke(given),
  ),
  "the result does not match the given contract": repeatable("invalid_answer yes 1", async (given) => {
    const output = [{ name: "other", ports: [] }];
    return (await connect(proxy.url, { contracts: [{ ...tool.contract, output }] })).invoke(given);
  }),
};

function whenRunning(id: string, act: () => void): void {
  const timer = setInterval(() => {
    if (!runs.has(id)) return;
    clearInterval(timer);
    act();
  }, 5);
}

describe("`ran` of each error equals whether the tool counted a run", () => {
  for (const [title, { failure, call, repeat, mode }] of Object.entries(rows)) {
    test(`${title}: ${failure}`, async () => {
      const given = input(mode);
      const { code, ran, message, request, status } = await failureOf(call(given));
      const count = await runsOf(given.id);
      assert.equal(`${code} ${ran} ${count}`, failure, message);
      if (isErrorCode(code)) assert.equal(status, ERROR_CODES[code].status);
      if (ran !== "maybe") assert.equal(ran, count === 0 ? "no" : "yes");
      release();
      assert.equal(request === undefined, code === "invalid_input", "the request to repeat");
      if (request === undefined || repeat === undefined) return;
      const end = await client.repeat(request, { deadline: Date.now() + 60_000 }).then(
        () => "result",
        ({ code, ran }: LeaderError) => `${code} ${ran}`,
      );
      assert.equal(`${end} ${await runsOf(given.id)}`, repeat);
    });
  }

  test("a shutdown ends the run and its answer is lost: the memory that survives refuses the repeat", async () => {
    const replayStore = new ReplayMemory();
    const [ending, next] = [await start({ replayStore, shutdown: { drainMs: 0 } }), await start({ replayStore })];
    let at = ending.url;
    const own = await CuttingProxy.start(() => [Number(new URL(at).port)]);
    const caller = await connect(own.url);
    const given = input("hold");
    hold();
    cutNext("after", own);
    whenRunning(given.id, () => ending.close());
    const { code, ran, request } = await failureOf(caller.invoke(given));
    assert.deepEqual([code, ran], ["connection_failed", "maybe"]);
    release();
    at = next.url;
    const lost = await failureOf(caller.send(request as SignedRequest));
    assert.deepEqual([lost.code, lost.ran, runs.get(given.id)], ["replay_memory_lost", "maybe", 1]);
    proves("8.38");
  });

  test("a later attempt does not forget the failure of an earlier one", async () => {
    cutNext("after");
    const { request } = await failureOf(client.invoke(input()));
    const late = await failureOf(client.send(request as SignedRequest, { signal: AbortSignal.abort() }));
    assert.deepEqual([late.code, late.ran], ["aborted", "maybe"]);
    await client.send(request as SignedRequest);
    const after = await failureOf(client.repeat(request as SignedRequest, { deadline: new Date(1) }));
    assert.deepEqual([after.code, after.ran], ["timeout", "yes"]);
  });
});
