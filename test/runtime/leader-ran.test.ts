/**
 * Failures of a call, each caused at a server that counts its runs: the code, whether the tool ran by the error, how often it
 * really ran, and the same after repeats of the request.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type InvokeContext,
  PermissionDenied,
  ReplayMemory,
  ReplayStoreUnavailable,
  SvcTool,
  serve,
  ToolkitRuntimeConfig,
} from "svc-runtime";
import { LeaderClient, LeaderError, type LeaderOptions, publicKeyOf, type SignedRequest } from "svc-runtime/leader";
import { type Contract, provideContracts } from "svc-runtime/v1";
import { proves } from "../proves.js";
import { atEnd } from "../teardown.js";
import { type Cut, CuttingProxy } from "./cutting-proxy.js";
import { refusingUrl } from "./raw.js";

const LEADER_KEY = Buffer.alloc(32, 7);
const TOOL_KEY = Buffer.alloc(32, 9);
const toolKey = publicKeyOf(TOOL_KEY);
const leader = { id: "leader", keyId: 0, key: LEADER_KEY };
const FQN = "xyz.test.ran@1";

/** Runs by the id of their input. */
const runs = new Map<string, number>();
let release = () => {};
let held = new Promise<void>(() => {});
const hold = () => {
  held = new Promise((resolve) => {
    release = resolve;
  });
};

class Ran extends SvcTool<{ id: string; mode: string }, unknown> {
  static override fqn() {
    return FQN;
  }
  static override description() {
    return "Counts its runs.";
  }
  static override timeout() {
    return 20_000;
  }
  override authorize({ leaderId }: { leaderId: string }) {
    if (leaderId === "barred") throw new PermissionDenied("barred");
  }
  override async invoke({ id, mode }: { id: string; mode: string }, { signal }: InvokeContext) {
    runs.set(id, (runs.get(id) ?? 0) + 1);
    if (mode === "throw") throw new Error("no");
    if (mode === "unencodable") return { ok: { id: Symbol("no JSON") } };
    if (mode === "hold")
      await Promise.race([held, new Promise((_, reject) => signal.addEventListener("abort", reject))]);
    return { ok: { id } };
  }
}

const text = { type: "string" } as const;
const contract: Contract = {
  fqn: FQN,
  description: "Counts its runs.",
  path: "",
  timeout: 20_000,
  inputSchema: JSON.stringify({ type: "object", properties: { id: text, mode: text } }),
  outputSchema: JSON.stringify({
    oneOf: [{ type: "object", properties: { ok: { type: "object", properties: { id: text } } } }],
  }),
  input: [
    { name: "id", many: false, codec: { kind: "string" } },
    { name: "mode", many: false, codec: { kind: "string" } },
  ],
  output: [{ name: "ok", ports: [{ name: "id", many: false, codec: { kind: "string" } }] }],
};
class Hasty extends Ran {
  static override fqn() {
    return "xyz.test.hasty@1";
  }
  static override timeout() {
    return 100;
  }
}
provideContracts([contract, { ...contract, fqn: Hasty.fqn(), timeout: 100 }]);

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

const SIGNING = { response_signing_key: TOOL_KEY.toString("hex") };

async function start(options: Parameters<typeof serve>[1] = {}, entry: object = SIGNING, tool: typeof Ran = Ran) {
  const keys = [{ kid: 0, public_key: Buffer.from(publicKeyOf(LEADER_KEY)).toString("hex") }];
  const leaders = ["leader", "barred"].map((leader_id) => ({ leader_id, keys }));
  const signed_http = { allowed_leaders: { version: 1, leaders }, tools: { [tool.fqn()]: entry } };
  const config = ToolkitRuntimeConfig.fromJsonStr(JSON.stringify({ signed_http }));
  const address = [[127, 0, 0, 1], 0] as const;
  const server = await serve([tool], { address, config, logger: silent, replayStore: new ReplayMemory(), ...options });
  atEnd(() => server.close());
  return server;
}

const server = await start();
const proxy = await CuttingProxy.start(() => [Number(new URL(server.url).port)]);

async function connect(url = proxy.url, options: LeaderOptions = {}): Promise<LeaderClient> {
  const client = await LeaderClient.connect(url, { leader, toolKey, ...options });
  atEnd(() => client.destroy());
  return client;
}
const client = await connect();

let ids = 0;
const input = (mode = "ok") => ({ id: `call ${ids++}`, mode });

async function failureOf(call: Promise<unknown>): Promise<LeaderError> {
  const error = await call.then(
    () => assert.fail("expected a failure"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof LeaderError, String(error));
  return error;
}

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
  readonly mode?: string;
  /** Makes the failing call. */
  readonly call: (given: { id: string; mode: string }) => Promise<unknown>;
  readonly code: string;
  readonly ran: "no" | "maybe" | "yes";
  readonly runs: number;
  /** The end of a repeat of the error's request, and all runs after it; none where nothing was signed. */
  readonly repeat?: readonly [end: string, runs: number];
}

const rows: Readonly<Record<string, Row>> = {
  "the input does not fit": {
    call: (given) => client.invoke({ ...given, more: 1 }),
    code: "invalid_input",
    ran: "no",
    runs: 0,
  },
  "nothing listens": {
    call: async (given) => {
      const gone = LeaderClient.fromMetadata(JSON.stringify(metaOf(client)), {
        leader,
        toolKey,
        url: await refusingUrl(),
      });
      return gone.invoke(given);
    },
    code: "connection_failed",
    ran: "no",
    runs: 0,
    repeat: ["result", 1],
  },
  "the TLS handshake fails": {
    call: (given) => {
      const url = server.url.replace("http:", "https:");
      return LeaderClient.fromMetadata(JSON.stringify(metaOf(client)), { leader, toolKey, url }).invoke(given);
    },
    code: "connection_failed",
    ran: "no",
    runs: 0,
    repeat: ["result", 1],
  },
  "the signal has fired": {
    call: (given) => client.invoke(given, { signal: AbortSignal.abort() }),
    code: "aborted",
    ran: "no",
    runs: 0,
    repeat: ["result", 1],
  },
  "the deadline has passed": {
    call: (given) => client.invoke(given, { deadline: Date.now() - 1 }),
    code: "timeout",
    ran: "no",
    runs: 0,
    repeat: ["result", 1],
  },
  "the client is closed": {
    call: async (given) => {
      const closed = await connect();
      await closed.close();
      return closed.invoke(given);
    },
    code: "client_closed",
    ran: "no",
    runs: 0,
    repeat: ["result", 1],
  },
  "another leader's key": {
    call: async (given) =>
      (await connect(proxy.url, { leader: { ...leader, key: Buffer.alloc(32, 8) } })).invoke(given),
    code: "auth_failed",
    ran: "no",
    runs: 0,
    repeat: ["auth_failed no", 0],
  },
  "authorize refuses": {
    call: async (given) => (await connect(proxy.url, { leader: { ...leader, id: "barred" } })).invoke(given),
    code: "permission_denied",
    ran: "no",
    runs: 0,
    repeat: ["permission_denied no", 0],
  },
  "the body was changed on the way": {
    call: (given) => {
      const request = client.sign(given);
      const body = Buffer.from(Buffer.from(request.body).toString().replace("call ", "CALL "));
      return client.send({ ...request, body });
    },
    code: "input_integrity_error",
    ran: "no",
    runs: 0,
    repeat: ["input_integrity_error no", 0],
  },
  "a value of another type": {
    call: (given) => client.invoke({ ...given, mode: 1 }),
    code: "input_deserialization_error",
    ran: "no",
    runs: 0,
    repeat: ["input_deserialization_error no", 0],
  },
  "the tool throws": {
    mode: "throw",
    call: (given) => client.invoke(given),
    code: "tool_invocation_failed",
    ran: "maybe",
    runs: 1,
    repeat: ["tool_invocation_failed maybe", 1],
  },
  "the result has no JSON form": {
    mode: "unencodable",
    call: (given) => client.invoke(given),
    code: "output_serialization_error",
    ran: "yes",
    runs: 1,
    repeat: ["output_serialization_error yes", 1],
  },
  "the connection is cut before the request": {
    call: (given) => {
      cutNext("before");
      return client.invoke(given);
    },
    code: "connection_failed",
    ran: "maybe",
    runs: 0,
    repeat: ["result", 1],
  },
  "the answer is lost": {
    call: (given) => {
      cutNext("after");
      return client.invoke(given);
    },
    code: "connection_failed",
    ran: "maybe",
    runs: 1,
    repeat: ["result", 1],
  },
  "a gateway answers in place of the tool": {
    call: (given) => {
      cutNext("gateway");
      return client.invoke(given);
    },
    code: "gateway_error",
    ran: "maybe",
    runs: 1,
    repeat: ["result", 1],
  },
  "no answer within the timeout": {
    mode: "hold",
    call: (given) => {
      hold();
      return client.invoke(given, { timeoutMs: 200 });
    },
    code: "timeout",
    ran: "maybe",
    runs: 1,
    repeat: ["result", 1],
  },
  "the signal fires while it runs": {
    mode: "hold",
    call: (given) => {
      hold();
      const controller = new AbortController();
      const call = client.invoke(given, { signal: controller.signal });
      whenRunning(given.id, () => controller.abort());
      return call;
    },
    code: "aborted",
    ran: "maybe",
    runs: 1,
    repeat: ["result", 1],
  },
  "the client is destroyed while it runs": {
    mode: "hold",
    call: async (given) => {
      hold();
      const cut = await connect();
      const call = cut.invoke(given);
      whenRunning(given.id, () => cut.destroy());
      return call;
    },
    code: "aborted",
    ran: "maybe",
    runs: 1,
    repeat: ["result", 1],
  },
  "the same request is running": {
    mode: "hold",
    call: (given) => {
      hold();
      const request = client.sign(given);
      client.send(request).catch(() => undefined);
      return new Promise((resolve, reject) => whenRunning(given.id, () => client.send(request).then(resolve, reject)));
    },
    code: "request_in_flight",
    ran: "maybe",
    runs: 1,
    repeat: ["result", 1],
  },
  "the tool's deadline passes": {
    mode: "hold",
    call: async (given) => {
      hold();
      const { url } = await start({}, SIGNING, Hasty);
      return (await connect(url)).invoke(given);
    },
    code: "tool_invocation_timeout",
    ran: "maybe",
    runs: 1,
  },
  "a shutdown ends the run": {
    mode: "hold",
    call: async (given) => {
      hold();
      const ending = await start({ shutdown: { drainMs: 0 } });
      const call = (await connect(ending.url)).invoke(given);
      whenRunning(given.id, () => ending.close());
      return call;
    },
    code: "tool_invocation_interrupted",
    ran: "maybe",
    runs: 1,
  },
  "no run is free": {
    call: async (given) => {
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
    },
    code: "overloaded",
    ran: "no",
    runs: 0,
    repeat: ["result", 1],
  },
  "no tool is at the address": {
    call: (given) => {
      const url = `${server.url}/other`;
      return LeaderClient.fromMetadata(JSON.stringify(metaOf(client)), { leader, toolKey, url }).invoke(given);
    },
    code: "not_found",
    ran: "no",
    runs: 0,
    repeat: ["result", 1],
  },
  "the replay store is away": {
    call: async (given) => {
      const claim = () => Promise.reject(new ReplayStoreUnavailable("disconnected", 1_000));
      return (await connect((await start({ replayStore: { scope: "process", claim } })).url)).invoke(given);
    },
    code: "replay_store_unavailable",
    ran: "no",
    runs: 0,
    repeat: ["result", 1],
  },
  "the tool's keys cannot be read after the run": {
    call: async (given) => {
      const keys = [publicKeyOf(Buffer.alloc(32, 3))];
      return (await connect(proxy.url, { toolKey: () => keys.pop() ?? assert.fail("away") })).invoke(given);
    },
    code: "tool_key_unavailable",
    ran: "maybe",
    runs: 1,
    repeat: ["result", 1],
  },
  "the replay memory began anew, and the request had an attempt": {
    call: async (given) => {
      cutNext("before");
      const { request } = await failureOf(client.invoke(given));
      const renewed = await start();
      return (await connect(renewed.url)).send(request as SignedRequest);
    },
    code: "replay_memory_lost",
    ran: "maybe",
    runs: 0,
    repeat: ["result", 1],
  },
  "the replay memory began anew, before any attempt": {
    call: async (given) => {
      const renewing = await CuttingProxy.start(() => [Number(new URL(at).port)]);
      let at = server.url;
      const one = await connect(renewing.url);
      const request = one.sign(given);
      at = (await start()).url;
      return one.send(request);
    },
    code: "replay_memory_lost",
    ran: "no",
    runs: 0,
    repeat: ["result", 1],
  },
  "another tool's key": {
    call: async (given) => (await connect(proxy.url, { toolKey: publicKeyOf(Buffer.alloc(32, 3)) })).invoke(given),
    code: "wrong_signature",
    ran: "maybe",
    runs: 1,
    repeat: ["result", 1],
  },
  "the tool has no key": {
    call: async (given) => (await connect((await start({}, {})).url)).invoke(given),
    code: "unsigned_result",
    ran: "maybe",
    runs: 1,
  },
  "the result does not match the given contract": {
    call: async (given) => {
      const output = [{ name: "other", ports: [] }];
      return (await connect(proxy.url, { contracts: [{ ...contract, output }] })).invoke(given);
    },
    code: "invalid_answer",
    ran: "yes",
    runs: 1,
    repeat: ["result", 1],
  },
};

function whenRunning(id: string, act: () => void): void {
  const timer = setInterval(() => {
    if (!runs.has(id)) return;
    clearInterval(timer);
    act();
  }, 5);
}

function metaOf({ metadata }: LeaderClient) {
  const { fqn, url, timeout, description, inputSchema, outputSchema } = metadata;
  return {
    fqn,
    url,
    timeout,
    description,
    input_schema: JSON.parse(inputSchema),
    output_schema: JSON.parse(outputSchema),
  };
}

describe("whether the tool ran, by the error and by its own count", () => {
  for (const [title, { mode, call, code, ran, runs: count, repeat }] of Object.entries(rows)) {
    test(`${title}: ${code}, ${ran}`, async () => {
      const given = input(mode);
      const error = await failureOf(call(given));
      assert.deepEqual([error.code, error.ran], [code, ran], error.message);
      assert.equal(await runsOf(given.id), count);
      if (ran !== "maybe") assert.equal(ran, count === 0 ? "no" : "yes");
      release();
      if (code === "invalid_input") {
        assert.equal(error.request, undefined);
        return;
      }
      assert.ok(error.request, "the request to repeat");
      if (repeat === undefined) return;
      const end = await client.repeat(error.request, { deadline: Date.now() + 60_000 }).then(
        () => "result",
        ({ code, ran }: LeaderError) => `${code} ${ran}`,
      );
      assert.deepEqual([end, await runsOf(given.id)], repeat);
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

  test("no failure of an earlier attempt is forgotten by a later one", async () => {
    cutNext("after");
    const { request } = await failureOf(client.invoke(input()));
    const late = await failureOf(client.send(request as SignedRequest, { signal: AbortSignal.abort() }));
    assert.deepEqual([late.code, late.ran], ["aborted", "maybe"]);
    await client.send(request as SignedRequest);
    const after = await failureOf(client.repeat(request as SignedRequest, { deadline: 1 }));
    assert.deepEqual([after.code, after.ran], ["timeout", "yes"]);
  });
});
