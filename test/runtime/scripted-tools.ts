/** Tools that do what a call asks for. */

import { setTimeout as wait } from "node:timers/promises";
import type { Codec } from "#client/wire/codec/contract.js";
import {
  errEval,
  InvalidInput,
  InvocationAborted,
  type InvokeContext,
  NexusData,
  NexusValue,
  OffchainToolOutput,
  PermissionDenied,
} from "#runtime/index.js";
import { type Behaviour, countingTool, one } from "./counting-tool.js";

const canary = () => new Error("canary: /home/canary/tool.ts");

/** Logs that it waits, then why its signal fired, and throws that. */
async function untilAborted({ signal, log }: InvokeContext): Promise<never> {
  log.info("waiting");
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  const { reason } = signal;
  log.info({ reason: reason instanceof InvocationAborted && reason.reason }, "aborted");
  throw reason;
}

const holding: (() => void)[] = [];

/** Logs that it holds, until `releaseHeld` is called. */
function untilReleased({ log }: InvokeContext): Promise<void> {
  return new Promise((resolve) => {
    holding.push(resolve);
    log.info("holding");
  });
}

/** Lets every call that holds go on. */
export function releaseHeld(): void {
  for (const release of holding.splice(0)) release();
}

/** Milliseconds, more than a call takes on any machine. */
const LONG_MS = 60_000;

function recurse(depth: number): number {
  return 1 + recurse(depth + 1);
}

/** What a call asks for by its one value: a word, or a word and what it is about. */
const ACTIONS: Readonly<Record<string, (about: string, context: InvokeContext) => unknown>> = {
  fail: (about) => errEval(about),
  refuse: (about) => Promise.reject(new InvalidInput("value[1]", about)),
  store: (about, { log }) => ({ store: () => log.info({ about }, "the result has left") }),
  never: () => new Promise(() => {}),
  "until aborted": (_, context) => untilAborted(context),
  recurse: () => recurse(0),
  hold: (about, context) => untilReleased(context).then(() => ({ ok: { value: about } })),
  wait: (ms) => wait(Number(ms), { ok: { value: ms } }),
  context: (about, context) => {
    const { signal, deadline, log, auth } = context;
    const left = context.msLeft();
    log.info({ about, odd: () => "canary" }, "working");
    log.warn("a text alone");
    const caller = auth && [auth.leaderId, `${auth.leaderKeyId}`, Buffer.from(auth.nonce).toString("hex")];
    return {
      ok: {
        value: {
          aborted: signal.aborted,
          inTime: Number.isInteger(left) && left > 0 && left <= LONG_MS && deadline - performance.now() <= left + 1,
          caller: caller ?? null,
        },
      },
    };
  },
};

const act: Behaviour["invoke"] = ({ value }, context) => {
  const [word, about] = Array.isArray(value) ? (value as string[]) : [value as string, ""];
  const action = ACTIONS[word ?? ""];
  return action === undefined ? { ok: { value } } : action(about ?? "", context);
};

const encodeOutput: Behaviour["encodeOutput"] = (output) => {
  const { store } = (output ?? {}) as { store?: () => void };
  if (store === undefined) return output;
  const blob = NexusValue.walrus("A".repeat(43), new Uint8Array(32), 1, store);
  return OffchainToolOutput.fromPorts("ok", [["value", NexusData.one(blob)]]);
};

/** What a nonce begins with when `authorize` is to do something. */
export const AUTHORIZE = { denies: "deny", fails: "fail" } as const;
const authorize: Behaviour["authorize"] = ({ nonce }) => {
  const asked = Buffer.from(nonce).toString("latin1", 0, 4);
  if (asked === AUTHORIZE.denies) throw new PermissionDenied("not on my watch");
  if (asked === AUTHORIZE.fails) throw canary();
};

const tool = (name: string, behaviour: Behaviour) =>
  countingTool({ fqn: `xyz.modes.${name}@1`, path: name, timeout: LONG_MS, ...behaviour });

/** Each codec with a text that fits it and one that does not, and what is said of that. */
export const VALUES: readonly [codec: Codec, fits: string, refused: string, complaint: string][] = [
  [{ kind: "json" }, '[18446744073709551615,{"x":-9223372036854775808,"y":1.5}]', "", ""],
  [{ kind: "bigint", format: "int64" }, "9223372036854775807", '"canary"', "expected an integer, got a string"],
  [
    { kind: "bigint", format: "uint64" },
    "18446744073709551615",
    "-1",
    "expected an uint64 integer, got an integer outside its range",
  ],
  [
    { kind: "bigint" },
    "9007199254740993",
    "1.0",
    "expected an integer, got a number with a point or exponent, such as 1.0",
  ],
  [{ kind: "number" }, "-1.5", "9007199254740993", "expected a number within +/-(2^53-1), got an integer beyond it"],
  [
    { kind: "date" },
    '"2024-02-29T12:34:56.789Z"',
    '"2024-02-30"',
    "expected an RFC 3339 date-time with an offset, such as 2026-01-31T12:00:00Z, got a string",
  ],
  [{ kind: "bytes" }, '"AAH/"', '"AAH_"', "expected standard base64 with padding, got a string"],
  [
    {
      kind: "object",
      members: [
        { name: "b", codec: { kind: "bigint" } },
        { name: "a", codec: { kind: "string" } },
      ],
    },
    '{"b":9007199254740993,"a":"\u00e4\u6f22"}',
    '{"b":1,"a":[1.0]}',
    "expected a string, got an array",
  ],
];
const ports = VALUES.map(([codec], i) => one(`p${i}`, codec, true));

export const tools = {
  act: tool("act", { invoke: act, encodeOutput, authorize }),
  /** The same with a short deadline. */
  hasty: tool("hasty", { invoke: act, timeout: 300, health: () => 204 }),
  unmade: tool("unmade", { construct: () => Promise.reject(canary()) }),
  values: tool("values", {
    input: ports,
    output: [{ name: "ok", ports }],
    invoke: (input) => ({ ok: input }),
  }),
};
