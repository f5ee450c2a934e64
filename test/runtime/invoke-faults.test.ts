/** What is answered when a tool refuses, fails or does not end (protocol.md sections 1 and 7, steps 5 and 6). */

import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  errEval,
  InvalidInput,
  InvocationAborted,
  type InvokeContext,
  PermissionDenied,
  WireFault,
} from "#runtime/index.js";
import { proves, provesRow } from "../proves.js";
import { expectError, type RawResponse } from "./raw.js";
import {
  type Behaviour,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  gate,
  resultBcs,
  sendPlain,
  serveFor,
  serveSigned,
  until,
} from "./tools.js";

/** Calls a tool once, signed, on a server of its own. */
async function call(behaviour: Behaviour, json = "1") {
  const tool = countingTool(behaviour);
  const server = await serveSigned([tool]);
  const signed = echoCall(tool, json);
  const response = await signed.send(server.url);
  return { tool, server, signed, response, log: server.log };
}

const canary = () => new Error("canary: /home/canary/tool.ts");
/** What the runtime itself would tell the caller, thrown by the tool's code: by `toJson` in `encodeOutput`, say. */
const wireFault = () => new WireFault("output_serialization_error", "canary");
const THROWN: readonly [what: string, thrown: () => unknown][] = [
  ["an error", canary],
  ["a fault of the wire", wireFault],
  ["null", () => null],
  ["undefined", () => undefined],
  ["a text", () => "canary"],
  ["an object that is none of ours", () => ({ code: "auth_failed", details: "canary", name: "RequestError" })],
  [
    "an error whose message throws",
    () => Object.defineProperty(new Error(), "message", { get: () => assert.fail("canary") }),
  ],
  ["a frozen function", () => Object.freeze(() => "canary")],
];

describe("500 tool_invocation_failed: any error of the tool's own code, without its message", () => {
  for (const [what, thrown] of THROWN) {
    for (const [where, behaviour] of [
      ["invoke", { invoke: () => fail(thrown()) }],
      ["a promise of invoke", { invoke: () => Promise.reject(thrown()) }],
      ["construction", { construct: () => fail(thrown()) }],
      ["a promise of construction", { construct: () => Promise.reject(thrown()) }],
      ["authorize", { authorize: () => fail(thrown()) }],
      ["a promise of authorize", { authorize: () => Promise.reject(thrown()) }],
    ] as const) {
      it(`${where}: ${what}`, async () => {
        const { response, log } = await call(behaviour);
        assert.equal(expectError(response, 500, "tool_invocation_failed"), undefined);
        const logged = log.filter(({ level }) => level === "error");
        assert.equal(logged.length, 1, "the log has it, once");
        assert.equal("err" in (logged[0]?.fields ?? {}), true);
        proves("7.27", "7.32");
      });
    }
  }

  it("PermissionDenied causes a 403 only from authorize", async () => {
    const denied = () => fail(new PermissionDenied("canary"));
    for (const behaviour of [{ invoke: denied }, { construct: denied }]) {
      assert.equal(expectError((await call(behaviour)).response, 500, "tool_invocation_failed"), undefined);
    }
    const { log } = await call({ invoke: denied });
    assert.ok(log.some(({ message }) => message.startsWith("the tool threw PermissionDenied outside authorize(), ")));
    const encoded = await call({ encodeOutput: denied });
    assert.equal(expectError(encoded.response, 500, "output_serialization_error"), undefined);
  });

  it("new() that returns no tool", async () => {
    const tool = countingTool();
    Object.assign(tool.class, { new: async () => undefined });
    const { url } = await serveSigned([tool]);
    expectError(await echoCall(tool, "1").send(url), 500, "tool_invocation_failed");
  });
});

describe("403 permission_denied: authorize refuses, with its own message", () => {
  for (const [what, message] of [
    ["a text", "not on my watch"],
    ["an empty text", ""],
    ["quotes and control characters", 'a "quoted"\n\u0001 text'],
    ["a lone surrogate", "a\ud800b"],
    ["other scripts", "verboten: \u00e4\u6f22\ud83d\ude00"],
  ] as const) {
    for (const authorize of [
      () => fail(new PermissionDenied(message)),
      () => Promise.reject(new PermissionDenied(message)),
      () => fail(new (class extends PermissionDenied {})(message)),
    ]) {
      it(what, async () => {
        const { tool, response } = await call({ authorize });
        assert.equal(response.status, 403);
        assert.deepEqual(JSON.parse(response.body.toString()), { error: "permission_denied", details: message });
        expectError(response, 403, "permission_denied");
        assert.deepEqual([tool.calls.constructed, tool.calls.authorized, tool.calls.invoked], [1, 1, 0]);
      });
    }
  }

  for (const returned of [false, true, null, 0, "", Promise.resolve(false)]) {
    it(`a returned value refuses the leader: ${typeof returned}`, async () => {
      const { tool, response, log } = await call({ authorize: () => returned as unknown as undefined });
      assert.equal(expectError(response, 403, "permission_denied"), undefined);
      assert.deepEqual([tool.calls.authorized, tool.calls.invoked], [1, 0]);
      const [line] = log.filter(({ level }) => level === "error");
      assert.match(line?.message ?? "", /^authorize\(\) returned a value, .* throw PermissionDenied to refuse/);
    });
  }

  it("at most 1,024 characters of a message are sent", async () => {
    for (const length of [1024, 1025]) {
      const { response } = await call({ authorize: () => fail(new PermissionDenied("n".repeat(length))) });
      assert.equal(expectError(response, 403, "permission_denied"), "n".repeat(1024));
    }
    proves("7.20");
  });

  it("an authorize that is a member of the instance is called too", async () => {
    const tool = countingTool();
    const construct = tool.class.new;
    const guarded = async () =>
      Object.assign(await construct.call(tool.class), { authorize: () => fail(new PermissionDenied("no")) });
    Object.assign(tool.class, { new: guarded });
    delete (tool.class.prototype as { authorize?: unknown }).authorize;
    const { url } = await serveSigned([tool]);
    assert.equal(expectError(await echoCall(tool, "1").send(url), 403, "permission_denied"), "no");
    assert.equal(tool.calls.invoked, 0);
  });

  it("authorize runs before decoding, and decoding before invoke", async () => {
    const input = [{ name: "value", many: false, codec: { kind: "string" as const } }];
    const denied = await call({ input, authorize: () => fail(new PermissionDenied("no")) });
    expectError(denied.response, 403, "permission_denied");
    const passed = await call({ input });
    const details = expectError(passed.response, 422, "input_deserialization_error");
    assert.equal(details, "value: expected a string, got a number");
    assert.deepEqual([passed.tool.calls.authorized, passed.tool.calls.invoked], [1, 0]);
    proves("7.1");
  });

  it("authorize is called in signed mode only", async () => {
    const tool = countingTool({ authorize: () => fail(new PermissionDenied("no")) });
    const { url } = await serveFor([tool]);
    expectResult(await sendPlain(url, tool.target, '{"value":1}'), echoed("1"));
    assert.equal(tool.calls.authorized, 0);
    proves("7.9");
  });
});

describe("422 input_deserialization_error: invoke refuses its input", () => {
  const refused = async (...of: ConstructorParameters<typeof InvalidInput>) => {
    const seen = await call({ invoke: () => fail(new InvalidInput(...of)) });
    return { ...seen, details: expectError(seen.response, 422, "input_deserialization_error") };
  };

  it("path and text like those of decoding, stored for a retry, and not logged", async () => {
    const { details, tool, signed, server, response, log } = await refused(
      'legs[1].pairs["odd \\"name"]',
      "expected BASE-QUOTE",
    );
    assert.equal(details, 'legs[1].pairs["odd \\"name"]: expected BASE-QUOTE');
    assert.deepEqual((await signed.send(server.url)).body, response.body);
    assert.equal(tool.calls.invoked, 1);
    assert.deepEqual(
      log.filter(({ level }) => level === "error"),
      [],
    );
    proves("7.43");
  });

  it("at most 1,024 characters of the text, without control characters", async () => {
    assert.equal((await refused("", `a\n\u001b[2J\u0085${"n".repeat(2_000)}`)).details, `a??[2J?${"n".repeat(1_017)}`);
  });

  it("InvalidInput applies only from invoke", async () => {
    const invalid = () => fail(new InvalidInput("value", "canary"));
    for (const behaviour of [{ construct: invalid }, { authorize: invalid }]) {
      assert.equal(expectError((await call(behaviour)).response, 500, "tool_invocation_failed"), undefined);
    }
  });

  it("an invalid path throws a TypeError", () => {
    for (const path of ["a b", ".a", "a.", "a[x]", "a[1", 'a["b]', "/a/b", "a\n", "a".repeat(257)]) {
      assert.throws(() => new InvalidInput(path, "x"), TypeError, path);
    }
    for (const path of ["", "a", "$_", "[0]", '["a b"]', "a[0][1].b"])
      assert.ok(new InvalidInput(path, "x").message.endsWith("x"));
  });
});

describe("a result with a number of type unknown that may have lost precision", () => {
  it("is logged once for its port, and signed all the same", async () => {
    const rounded = { deep: [1e15, { id: JSON.parse("9007199254740993") }] };
    const tool = countingTool({
      invoke: ({ value }) => ({ ok: { value: value === 1 ? rounded : [2 ** 53 - 1, 1e15 + 0.5] } }),
    });
    const server = await serveSigned([tool]);
    const warnings = () => server.log.filter(({ message }) => message.includes("probably rounded"));
    assert.equal((await echoCall(tool, "2").send(server.url)).status, 200);
    assert.equal(warnings().length, 0);
    for (let i = 0; i < 2; i++) assert.equal((await echoCall(tool, "1").send(server.url)).status, 200);
    assert.deepEqual(
      warnings().map(({ level, fields }) => [level, fields.tool, fields.port]),
      [["warn", tool.fqn, "ok.value"]],
    );
  });
});

describe("500 output_serialization_error: port and reason, no message of custom code", () => {
  // All such values and results: test/wire/output.test.ts.
  for (const [what, value, details] of [
    ["NaN", Number.NaN, "ok.value: expected a finite number, got NaN"],
    ["a lone surrogate", "canary\ud800", "ok.value: expected well-formed text, got a lone surrogate"],
    ["a function within", { canary: [() => "canary"] }, 'ok.value["*"][0]: expected a JSON value, got a function'],
  ] as const) {
    it(`${what} cannot be encoded`, async () => {
      const { response, log } = await call({ invoke: () => ({ ok: { value } }) });
      const got = expectError(response, 500, "output_serialization_error") ?? assert.fail("no details");
      assert.equal(got, details);
      assert.equal(log.filter(({ level }) => level === "error").length, 1);
      proves("7.29");
    });
  }

  for (const [what, thrown] of THROWN) {
    it(`encodeOutput throws ${what}`, async () => {
      for (const encodeOutput of [() => fail(thrown()), () => Promise.reject(thrown())]) {
        const { response, log } = await call({ encodeOutput });
        assert.equal(expectError(response, 500, "output_serialization_error"), undefined);
        assert.equal(log.filter(({ level }) => level === "error").length, 1);
      }
      proves("7.29", "7.32");
    });
  }

  it("code within a result throws: a getter, a toJSON, a proxy", async () => {
    const results = [
      Object.defineProperty({}, "ok", { enumerable: true, get: () => fail(canary()) }),
      { ok: Object.defineProperty({}, "value", { enumerable: true, get: () => fail(canary()) }) },
      { ok: { value: { toJSON: () => fail(canary()) } } },
      { ok: { value: new Proxy({}, { ownKeys: () => fail(canary()) }) } },
    ];
    for (const result of results) {
      const { response } = await call({ invoke: () => result });
      assert.equal(expectError(response, 500, "output_serialization_error"), undefined);
    }
  });
});

describe("errEval: the reserved failure result, signed like a success", () => {
  it("one inline port reason, the JSON string of the text, before or after encodeOutput", async () => {
    for (const behaviour of [
      { invoke: () => errEval('no "such" city\n') },
      { encodeOutput: () => errEval('no "such" city\n') },
    ]) {
      const { response, signed } = await call(behaviour);
      expectResult(response, resultBcs("_err_eval", [["reason", '"no \\"such\\" city\\n"']]), signed);
    }
    proves("2.16");
  });
});

describe("504 tool_invocation_timeout: the deadline passed", () => {
  const never = () => new Promise<never>(() => {});
  const timedOut = (response: RawResponse) =>
    assert.equal(expectError(response, 504, "tool_invocation_timeout"), undefined);

  for (const [what, behaviour] of [
    ["invoke that never settles", { invoke: never }],
    ["construction that never settles", { construct: never }],
    ["authorize that never settles", { authorize: never }],
    ["encodeOutput that never settles", { encodeOutput: never }],
    ["all of them together", { construct: () => wait(60), authorize: () => wait(60), invoke: never }],
  ] as const) {
    it(what, async () => {
      const started = performance.now();
      const { response, tool } = await call({ ...behaviour, timeout: 150 });
      timedOut(response);
      const ms = performance.now() - started;
      assert.ok(ms >= 149, `${ms} ms`);
      assert.equal(tool.calls.constructed, 1);
      provesRow(what, { "1.16": ["all of them together"] });
    });
  }

  it("a tool that is constructed or authorized too late is not invoked", async () => {
    for (const behaviour of [{ construct: () => wait(120) }, { authorize: () => wait(120) }]) {
      const { response, tool, log } = await call({ ...behaviour, timeout: 50 });
      timedOut(response);
      await until(() => log.some(({ message }) => message.includes("discarded")), "the late end is logged");
      assert.deepEqual([tool.calls.authorized, tool.calls.invoked], ["authorize" in behaviour ? 1 : 0, 0]);
    }
  });

  it("the signal fires with reason timeout, the late result is discarded and logged", async () => {
    const late = gate<unknown>();
    let seen: InvokeContext | undefined;
    const invoke = (_: unknown, context: InvokeContext) => {
      seen = context;
      assert.equal(context.signal.aborted, false);
      return late.promise;
    };
    const { response, log } = await call({ timeout: 60, invoke });
    timedOut(response);
    assert.ok(seen?.signal.aborted);
    assert.ok(seen.signal.reason instanceof InvocationAborted);
    assert.equal(seen.signal.reason.reason, "timeout");
    assert.ok(performance.now() >= seen.deadline);
    assert.equal(seen.msLeft(), 0);
    const discarded = () => log.filter(({ message }) => message.includes("its result was discarded"));
    assert.equal(discarded().length, 0);
    late.open({ ok: { value: "canary" } });
    await until(() => discarded().length === 1, "the late result is logged");
    proves("7.31", "8.11");
  });

  for (const [what, invoke] of [
    ["its reason", (signal: AbortSignal) => once(signal, "abort").then(() => Promise.reject(signal.reason))],
    ["Node's own error with that cause", (signal: AbortSignal) => sleep(1_000_000, undefined, { signal })],
    [
      "throwIfAborted",
      async (signal: AbortSignal) => {
        await once(signal, "abort");
        signal.throwIfAborted();
      },
    ],
  ] as const) {
    it(`a tool that rejects at its signal with ${what} has not failed`, async () => {
      const { response, log } = await call({
        timeout: 1_000,
        invoke: (_, { signal }) => invoke(signal as AbortSignal),
      });
      timedOut(response);
      await until(() => log.some(({ message }) => message.includes("discarded")), "the late end is logged");
      const ended = log.find(({ message }) => message === "the tool stopped after its abort signal");
      assert.deepEqual([ended?.level, ended?.fields.reason, ended?.fields.err], ["info", "timeout", undefined]);
      assert.deepEqual(
        log.filter(({ level }) => level === "error"),
        [],
      );
    });
  }

  it("a tool that throws another error at its signal has failed", async () => {
    const invoke = async (_: unknown, { signal }: InvokeContext) => {
      await once(signal as AbortSignal, "abort");
      throw new Error("cannot roll back", { cause: signal.reason });
    };
    const { response, log } = await call({ timeout: 40, invoke });
    timedOut(response);
    await until(() => log.some(({ message }) => message === "the tool threw an error"), "it is logged");
  });

  it("a tool that throws a value that is not an Error", async () => {
    const { log } = await call({ invoke: () => Promise.reject({ reason: "no" }) });
    assert.ok(log.some(({ message }) => message.endsWith("throw an Error or return errEval(…)")));
  });

  it("a tool that blocks the event loop beyond its deadline", async () => {
    for (const part of ["invoke", "authorize", "construct", "encodeOutput"] as const) {
      let signal: AbortSignal | undefined;
      const busy = (_given?: unknown, context?: { readonly signal: AbortSignal }) => {
        signal = context?.signal;
        const end = performance.now() + 80;
        while (performance.now() < end);
        return { ok: { value: "canary" } };
      };
      const { response, log } = await call({ timeout: 40, [part]: busy });
      timedOut(response);
      await until(() => log.some(({ message }) => message.includes("discarded")), `${part}: the late end is logged`);
      if (part === "invoke") assert.equal(signal?.aborted, true);
    }
  });
});

describe("the context of invoke", () => {
  it("signal, deadline on the clock of performance.now(), a log with the tool's name, the caller when signed", async () => {
    let context: InvokeContext | undefined;
    let msLeft = 0;
    const invoke = ({ value }: Record<string, unknown>, given: InvokeContext) => {
      context = given;
      msLeft = given.msLeft();
      given.log.info({ step: 1 }, "working");
      return { ok: { value } };
    };
    const before = performance.now();
    const { log, tool, signed } = await call({ timeout: 5_000, invoke });
    assert.ok(context !== undefined);
    assert.ok(context.deadline >= before + 5_000 && context.deadline <= performance.now() + 5_000);
    assert.ok(msLeft > 0 && msLeft <= 5_000, `${msLeft} ms`);
    assert.equal(context.auth?.leaderId, "alice");
    assert.deepEqual(Buffer.from(context.auth?.nonce ?? []), signed.nonce);
    const written = log.find(({ message }) => message === "working");
    const { request, ...fields } = written?.fields ?? {};
    assert.equal(typeof request, "string");
    assert.deepEqual([written?.level, fields], ["info", { tool: tool.fqn, step: 1 }]);
    const plain = countingTool({ invoke });
    await sendPlain((await serveFor([plain])).url, plain.target, '{"value":1}');
    assert.equal("auth" in context, false);
  });

  it("a thenable that is no Promise, as the instance and as the encoded output", async () => {
    const thenable = <T>(promise: Promise<T>) => ({
      // biome-ignore lint/suspicious/noThenProperty: the subject of the test
      then: (...callbacks: Parameters<typeof promise.then>) => promise.then(...callbacks),
    });
    const tool = countingTool({ encodeOutput: (output) => thenable(Promise.resolve(output)) });
    const create = tool.class.new;
    Object.assign(tool.class, { new: () => thenable(create.call(tool.class)) });
    expectResult(await sendPlain((await serveFor([tool])).url, tool.target, '{"value":1}'), echoed("1"));
  });

  it("one instance for each invocation", async () => {
    const { tool, server } = await call({});
    for (let i = 2; i < 5; i++) {
      await echoCall(tool, `${i}`).send(server.url);
      assert.deepEqual([tool.calls.constructed, tool.calls.invoked], [i, i]);
    }
    proves("7.8");
  });
});

function fail(thrown: unknown): never {
  throw thrown;
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
