/** State of a call, and the requests that it makes. */

import { checkedInteger } from "../checked-integer.js";
import { MAX_RESULT_BYTES, MAX_TIMEOUT_MS, RESULT_CONTENT_TYPE } from "../wire/protocol.js";
import { LeaderError } from "./error.js";
import { type CallOptions, timeLeft } from "./options.js";
import type { Attempts } from "./request/signed-request.js";
import { responseError } from "./transport/response.js";
import { type HttpRequest, type HttpResponse, late, type Transport } from "./transport/transport.js";
import { waitFor } from "./waiting.js";

/** Maximum size of an answer to a call, in bytes: four times the maximum result. */
export const MAX_ANSWER_BYTES = 4 * MAX_RESULT_BYTES;
/** Maximum size of a metadata document, in bytes. */
const MAX_META_BYTES = 4 * 1024 * 1024;

/** State shared by all attempts of a call. */
export interface CallState {
  readonly msLeft: () => number;
  readonly timeoutMs: number;
  readonly signals: readonly AbortSignal[];
  attempts: number;
  status: number | undefined;
}

/** @throws TypeError, RangeError, {@link LeaderError} for invalid options of a call */
export function newCall({ timeoutMs, deadline, signal }: CallOptions, defaultMs: number, cut?: AbortSignal): CallState {
  const limit = timeoutMs === undefined ? defaultMs : checkedInteger("timeoutMs", timeoutMs, 1, MAX_TIMEOUT_MS);
  const until = deadline === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeLeft(deadline);
  return {
    msLeft: () => until - performance.now(),
    timeoutMs: limit,
    signals: [signal, cut].filter((each) => each !== undefined),
    attempts: 0,
    status: undefined,
  };
}

/** Waits for work that precedes an attempt. Its failure gets the `ran` of the earlier attempts. */
export async function beforeAttempt<T>({ ran }: Attempts, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof LeaderError ? error.with({ ran }) : error;
  }
}

/** Waits for a promise of the application, at most for the time limit of one request. */
export function inTime<T>(work: Promise<T>, { msLeft, timeoutMs, signals }: CallState): Promise<T> {
  const ms = Math.min(timeoutMs, Math.max(0, msLeft()));
  return waitFor(work, ms, signals, () => {
    throw late(ms);
  });
}

export async function exchange(
  http: Transport,
  call: CallState,
  request: Omit<HttpRequest, "timeoutMs" | "signals">,
): Promise<HttpResponse> {
  const { timeoutMs, signals } = call;
  const left = call.msLeft();
  if (left <= 0) throw new LeaderError("timeout", "the deadline has passed", { ran: "no" });
  call.attempts++;
  call.status = undefined;
  const answer = await http.send({ ...request, timeoutMs: Math.min(timeoutMs, Math.ceil(left)), signals });
  call.status = answer.status;
  return answer;
}

/** Sends a request that runs no tool. */
export async function get(http: Transport, url: string, maxBytes: number, call: CallState): Promise<HttpResponse> {
  const headers = { Accept: "application/json" };
  try {
    return await exchange(http, call, { method: "GET", url: new URL(url), headers, maxBytes });
  } catch (error) {
    throw error instanceof LeaderError ? error.with({ ran: "no" }) : error;
  }
}

export async function getMeta(http: Transport, base: string, call: CallState): Promise<HttpResponse> {
  const answer = await get(http, `${base}/meta`, MAX_META_BYTES, call);
  if (answer.status === 200) return answer;
  throw notThere(base, "meta", answer).with({ ran: "no" });
}

export function resultBody(base: string, answer: HttpResponse): Uint8Array {
  if (answer.status !== 200) throw notThere(base, "invoke", answer);
  if (answer.headers["content-type"] === RESULT_CONTENT_TYPE) return answer.body;
  throw new LeaderError("invalid_answer", `expected a result of type ${RESULT_CONTENT_TYPE}, got another`);
}

/** Error for a missing endpoint, with the requested address. */
function notThere(base: string, endpoint: string, answer: HttpResponse): LeaderError {
  const error = responseError(answer);
  if (answer.status !== 404) return error;
  const end = /^(.*)(\/(?:invoke|meta|health))$/.exec(base);
  const hint =
    end === null
      ? `; ${new URL(base).origin}/tools lists the paths of the server's tools`
      : `; the url ends in ${end[2]}: give the tool's address, ${end[1]}`;
  return error.with({ details: `no tool at this address; requested ${base}/${endpoint}${hint}` });
}
