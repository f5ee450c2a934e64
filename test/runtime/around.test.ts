/** The option `around`, and `authorize` with the input (protocol.md section 7). */

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, it } from "node:test";
import { fastify, svcTools } from "#runtime/fastify.js";
import { type Around, type CallEnd, InvalidInput, PermissionDenied, RateLimited } from "#runtime/index.js";
import { proves, provesRow } from "../proves.js";
import { expectError } from "./raw.js";
import {
  type Behaviour,
  bob,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  gate,
  sendPlain,
  serveFor,
  serveSigned,
} from "./tools.js";

/** Serves one tool with `around`. */
async function served(around: Around, behaviour: Behaviour = {}) {
  const tool = countingTool(behaviour);
  const server = await serveSigned([tool], { around });
  const errors = () =>
    server.log.filter(({ level }) => level === "error").map(({ fields, message }) => [fields.phase, message]);
  return { tool, calls: tool.calls, errors, send: (call = echoCall(tool, "1")) => call.send(server.url) };
}

const refuse =
  (error: Error): Around =>
  () => {
    throw error;
  };

/** Reading its prototype, as `instanceof` does, throws. */
const unreadable = new Proxy(new Error("canary"), {
  getPrototypeOf: () => {
    throw new Error("no prototype");
  },
});

describe("around", () => {
  it("sees the call, its caller and its result, and gets neither exact retries nor refused calls", async () => {
    const seen: unknown[] = [];
    const store = new AsyncLocalStorage<string>();
    const { tool, calls, send } = await served(
      async (call, next) => {
        const before = Object.freeze(call).output;
        const end = await store.run("context", next);
        seen.push([call.fqn, call.input, call.context.auth?.leaderId, call.stored, before, call.output, end]);
        seen.push([call.is(tool.class), call.is(countingTool().class)]);
        // The result is encoded, so this changes nothing.
        Object.assign(call.output as object, { ok: { value: 2 } });
      },
      {
        authorize: ({ leaderId }) => {
          if (leaderId === "bob") throw new PermissionDenied("not you");
        },
        invoke: ({ value }) => {
          assert.equal(store.getStore(), "context");
          return { ok: { value } };
        },
      },
    );
    const call = echoCall(tool, "1");
    for (let i = 0; i < 2; i++) expectResult(await send(call), echoed("1"), call);
    expectError(await send(echoCall(tool, "1").by(bob)), 403, "permission_denied");
    assert.deepEqual(seen, [
      [tool.fqn, { value: 1 }, "alice", false, undefined, { ok: { value: 2 } }, { status: 200, code: undefined }],
      [true, false],
    ]);
    assert.equal(calls.invoked, 1);
    proves("7.51");
  });

  const REFUSALS: readonly [
    what: string,
    around: Around,
    status: number,
    code: string,
    details: string | undefined,
    phase?: string,
  ][] = [
    ["PermissionDenied", refuse(new PermissionDenied("no")), 403, "permission_denied", "no"],
    [
      "InvalidInput",
      refuse(new InvalidInput("value", "too large")),
      422,
      "input_deserialization_error",
      "value: too large",
    ],
    ["RateLimited", refuse(new RateLimited("budget used up")), 429, "rate_limited", "budget used up"],
    ["a long RateLimited", refuse(new RateLimited("x".repeat(1_025))), 429, "rate_limited", "x".repeat(1_024)],
    ["another error", refuse(new Error("canary")), 500, "tool_invocation_failed", undefined, "around"],
    ["a proxy that throws", refuse(unreadable), 500, "tool_invocation_failed", undefined, "invoke"],
    ["no next", () => {}, 500, "tool_invocation_failed", undefined, "around"],
  ];
  for (const [what, around, status, code, details, phase] of REFUSALS) {
    it(`${what} before next: ${status}, and the tool does not run; only a 429 is not stored`, async () => {
      let isOpen = false;
      const { tool, calls, send, errors } = await served((call, next) => (isOpen ? next() : around(call, next)));
      const call = echoCall(tool, "1");
      assert.equal(expectError(await send(call), status, code), details);
      assert.deepEqual(
        errors().map(([at]) => at),
        phase === undefined ? [] : [phase],
      );
      isOpen = true;
      const retry = await send(call);
      assert.deepEqual([retry.status, calls.invoked], status === 429 ? [200, 1] : [status, 0]);
      provesRow(what, { "7.26": ["RateLimited"], "7.51": ["PermissionDenied", "InvalidInput", "RateLimited"] });
    });
  }

  it("cannot change the answer after next: an error is logged, a second next runs nothing, a missing await is waited for", async () => {
    const ends: CallEnd[] = [];
    const { tool, calls, send, errors } = await served(async (_call, next) => {
      ends.push(...(await Promise.all([next(), next()])));
      throw new PermissionDenied("too late");
    });
    const call = echoCall(tool, "1");
    expectResult(await send(call), echoed("1"), call);
    assert.deepEqual([ends.map(({ status }) => status), calls.invoked], [[200, 200], 1]);
    assert.deepEqual(errors(), [["around", "around() threw an error after next(); the answer is that of the tool"]]);
    const hasty = await served((_call, next) => void next());
    const other = echoCall(hasty.tool, "1");
    expectResult(await hasty.send(other), echoed("1"), other);
  });

  it("learns the code of a failed run, and of a failure result", async () => {
    const seen: unknown[] = [];
    const around: Around = async (call, next) => seen.push([(await next()).code, call.output]);
    const failing = await served(around, { invoke: () => Promise.reject(new Error("canary")) });
    expectError(await failing.send(), 500, "tool_invocation_failed");
    const wrong = await served(around, { invoke: () => ({ other: {} }) });
    expectError(await wrong.send(), 500, "output_serialization_error");
    assert.deepEqual(seen, [
      ["tool_invocation_failed", undefined],
      ["output_serialization_error", undefined],
    ]);
  });

  for (const refusal of [new RateLimited("no answer of the policy in time"), undefined]) {
    it(`next runs nothing after the function has ${refusal ? "refused the call" : "returned"}`, async () => {
      let late: Parameters<Around>[1] | undefined;
      const { tool, calls, send } = await served((_call, next) => {
        if (late !== undefined) return next();
        late = next;
        if (refusal) throw refusal;
        return undefined;
      });
      const call = echoCall(tool, "1");
      const [status, code] = refusal ? [429, "rate_limited"] : [500, "tool_invocation_failed"];
      expectError(await send(call), status, code);
      assert.deepEqual([await late?.(), calls.invoked], [{ status, code }, 0]);
      assert.deepEqual([(await send(call)).status, calls.invoked], refusal ? [200, 1] : [500, 0]);
    });
  }

  it("next runs nothing after the function has thrown an error that cannot be read", async () => {
    let late: Parameters<Around>[1] | undefined;
    const { calls, send } = await served((_call, next) => {
      late = next;
      throw unreadable;
    });
    expectError(await send(), 500, "tool_invocation_failed");
    await assert.rejects(late?.() as Promise<unknown>, /no prototype/);
    assert.equal(calls.invoked, 0);
  });

  it("has the deadline of the call: a tool does not start after it", async () => {
    const late = gate();
    const ended = gate();
    const { calls, send } = await served(
      async (_call, next) => {
        await late.promise;
        await next();
        ended.open(undefined);
      },
      { timeout: 50 },
    );
    expectError(await send(), 504, "tool_invocation_timeout");
    late.open(undefined);
    await ended.promise;
    assert.equal(calls.invoked, 0);
  });

  it("judges the caller of a stored result, too", async () => {
    const seen: unknown[] = [];
    const { tool, calls, send } = await served(async (call, next) => {
      const isBob = call.context.auth?.leaderId === "bob";
      if (isBob && seen.length === 1) throw new RateLimited("later");
      seen.push([call.stored, call.input, (await next()).status, call.output]);
    });
    const call = echoCall(tool, "1");
    expectResult(await send(call), echoed("1"), call);
    seen.length = 1;
    const retry = call.by(bob);
    expectError(await send(retry), 429, "rate_limited");
    seen.length = 0;
    expectResult(await send(retry), echoed("1"), retry);
    assert.deepEqual([seen, calls.invoked], [[[true, { value: 1 }, 200, undefined]], 1]);
    proves("7.52");
  });

  it("runs for unsigned calls, without a caller", async () => {
    const tool = countingTool();
    const callers: unknown[] = [];
    const server = await serveFor([tool], {
      around: (call, next) => {
        callers.push(call.context.auth);
        return next();
      },
    });
    assert.equal((await sendPlain(server.url, tool.target, '{"value":1}')).status, 200);
    assert.deepEqual(callers, [undefined]);
  });
});

it("around runs for tools that an application mounts", async () => {
  const tool = countingTool();
  const app = fastify();
  const calls: string[] = [];
  await app.register(svcTools, {
    tools: [tool.class],
    allowUnsigned: true,
    around: (call, next) => {
      calls.push(call.fqn);
      return next();
    },
  });
  const answer = await app.inject({ method: "POST", url: tool.target, payload: '{"value":1}' });
  assert.deepEqual([answer.statusCode, calls], [200, [tool.fqn]]);
  await app.close();
});

describe("authorize with the input", () => {
  it("a decoded input decides, also for another leader's retry; a faulty one is a 422 before authorize", async () => {
    const tool = countingTool({
      authorize: ({ leaderId }, input) => {
        if (leaderId === "bob" && Number(input?.value) > 1_000) throw new PermissionDenied("treasurers only");
      },
    });
    const server = await serveSigned([tool]);
    for (const value of ["1000", "1001"]) {
      const call = echoCall(tool, value);
      expectResult(await call.send(server.url), echoed(value), call);
      const answers = [
        await call.by(bob).send(server.url),
        await echoCall(tool, value, { leader: bob }).send(server.url),
      ];
      for (const answer of answers) {
        if (value === "1000") assert.equal(answer.status, 200);
        else assert.equal(expectError(answer, 403, "permission_denied"), "treasurers only");
      }
    }
    const { authorized } = tool.calls;
    const strict = countingTool({
      input: [{ name: "value", many: false, codec: { kind: "string" } }],
      authorize: (_auth, _input) => {},
    });
    const faulty = await serveSigned([strict]);
    expectError(await echoCall(strict, "1").send(faulty.url), 422, "input_deserialization_error");
    assert.deepEqual([authorized, strict.calls.authorized, strict.calls.invoked], [6, 0, 0]);
    proves("7.50");
  });
});
