/** What tests of the leader's client share: a leader, a tool's document, an agent with written answers, failures. */

import assert from "node:assert/strict";
import { encodeOutput } from "#client/wire/bcs/bcs-writer.js";
import { LeaderError } from "#runtime/leader.js";

export const leader = { id: "leader", keyId: 0, key: Buffer.alloc(32, 7) };
/** The media type of a result. */
export const RESULT_TYPE = "application/vnd.nexus.canonical-tool-response+bcs";
/** The result of a tool whose only variant is `done`. */
export const DONE = encodeOutput({ tag: "done", ports: [] });

/** The metadata of a tool as JSON. */
export const documentOf = (fqn: string, inputs: object, output: object = { const: "done" }) =>
  JSON.stringify({
    fqn,
    url: "http://127.0.0.1:1/",
    timeout: 25_000,
    description: "d",
    input_schema: { type: "object", properties: inputs },
    output_schema: { oneOf: [output] },
  });

export interface Sent {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}
/** `lost`: the request was sent, and its connection ended. `unsent`: no connection. `never`: no answer. */
export type End = Answer | "lost" | "unsent" | "never";

/** An agent of undici that keeps what is sent and gives the written answers, the last one again and again. */
export function agentOf(answers: readonly End[] | ((sent: Sent, n: number) => End)) {
  const sent: Sent[] = [];
  const dispatch = (options: object, handler: object) => {
    const request = options as Sent;
    sent.push(request);
    const n = sent.length - 1;
    const end = typeof answers === "function" ? answers(request, n) : answers[Math.min(n, answers.length - 1)];
    const to = handler as Record<string, (...args: unknown[]) => void>;
    const control = { abort: (error: Error) => to.onResponseError?.(control, error) };
    if (end === "unsent") {
      to.onResponseError?.(control, Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
      return true;
    }
    to.onRequestStart?.(control);
    if (end === "lost") to.onResponseError?.(control, Object.assign(new Error("reset"), { code: "ECONNRESET" }));
    if (typeof end !== "object") return true;
    to.onResponseStart?.(control, end.status ?? 200, end.headers ?? {});
    to.onResponseData?.(control, Buffer.from(end.body ?? ""));
    to.onResponseEnd?.(control, {});
    return true;
  };
  return { sent, dispatcher: { dispatch } };
}

/** The error of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<LeaderError> {
  const error = await call.then(
    () => assert.fail("expected a failure"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof LeaderError, String(error));
  return error;
}
