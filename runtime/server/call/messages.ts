/** Data exchanged by the transport, the invoke service and the runs of tools. */

import { asBuffer } from "svc-client/internal/wire/bytes";
import type { CommittedText } from "svc-client/internal/wire/envelope/committed-texts";
import { type ErrorCode, statusOf } from "svc-client/internal/wire/error-codes";
import type { JsonDocument } from "svc-client/internal/wire/json/document";
import { asciiText } from "svc-client/internal/wire/printable";
import type { AuthContext } from "../../tool.js";
import { errorBody } from "../errors/request-error.js";
import type { Holding } from "../load/account.js";

/** Outcome of a call. All members are always present, because V8 reads objects of one shape much faster. */
export interface Answer {
  readonly status: number;
  /** Error code; undefined for a result. */
  readonly code: ErrorCode | undefined;
  readonly body: Buffer;
  /** True for a result, which is signed in signed mode; false for an error, which is never signed. */
  readonly signable: boolean;
  /** Result as JSON text, for a caller that accepts JSON. */
  readonly json: string | undefined;
  /** Signature of a result, stored so that an exact retry is not signed again (../replay/cached-signature.ts). */
  readonly seal: Uint8Array | undefined;
  /** Whether the result contains stored values with a `returned` callback, to be called after the result was sent. */
  readonly stored: boolean;
  /** Error that the tool threw, for the application's hooks. Not sent to the caller. */
  readonly error: unknown;
}

export function errorAnswer(code: ErrorCode, details?: string, error?: unknown): Answer {
  const body = errorBody(code, details);
  const result = { signable: false, json: undefined, seal: undefined, stored: false };
  return { status: statusOf(code), code, body, ...result, error };
}

/** Outcome of a health check. */
export interface Health {
  readonly status: number;
  /** Error that caused the status; undefined for a status that the tool returned. */
  readonly error: unknown;
}

/** Answer of a run that threw after a shutdown aborted it. Its replay entry becomes a mark (protocol.md section 8). */
export const INTERRUPTED = errorAnswer("tool_invocation_interrupted");

/**
 * Committed texts of a signed request, by port in schema order; or the body of an unsigned request, with its document
 * if it was parsed.
 */
export type CallInput =
  | { readonly texts: readonly (readonly CommittedText[])[] }
  | { readonly body: Uint8Array; readonly document?: JsonDocument | undefined };

/**
 * Holder of an input. Taking the input empties it, so that objects that outlive the call do not keep the body in
 * memory.
 */
export interface InputHolder<T> {
  input: T | undefined;
}

/** Takes the input out of its holder. Throws if it was taken before. */
export function takeInput<T>(holder: InputHolder<T>): T {
  const { input } = holder;
  if (input === undefined) throw new Error("the input of the call was already taken");
  holder.input = undefined;
  return input;
}

/** A call of a tool. Holds its input until the input is decoded. */
export interface Call extends InputHolder<CallInput> {
  /** Verified caller; undefined in unsigned mode. */
  readonly auth: AuthContext | undefined;
  /** Whether the result is sent as JSON. */
  readonly json: boolean;
}

/** Copies the caller for the tool's code, which could otherwise change the bytes that the answer's signature covers. */
export function callerCopy(auth: AuthContext): AuthContext {
  const { leaderId, leaderKeyId, inputHash, leaderSignature, nonce } = auth;
  return {
    leaderId,
    leaderKeyId,
    inputHash: new Uint8Array(inputHash),
    leaderSignature: new Uint8Array(leaderSignature),
    nonce: new Uint8Array(nonce),
  };
}

/** Headers from node:http. `headers` has lower-case names and joins repeated headers; `rawHeaders` is unchanged. */
export interface RequestHeaders {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly rawHeaders: readonly string[];
}

/** A request from the transport. */
export interface InvokeRequest extends RequestHeaders {
  readonly id: string;
  /** Address of the client, which is often a gateway. */
  peer(): string | undefined;
  readonly connection: object;
  /**
   * Reads a body of exactly `length` bytes; counts bytes towards `account` as they arrive. Called only after
   * authentication.
   */
  readBody(length: number, account: Holding): Promise<InputHolder<Uint8Array>>;
  /** Whether the caller has disconnected, or already has an answer such as the 503 of a shutdown. */
  isGone(): boolean;
  /** Called before code of the tool runs for this request. */
  onRun?(): void;
  /** Registers a listener that is called if a shutdown answers the request. */
  onRefused?(listener: (reply: Reply) => void): void;
  /** Registers a listener that is called if the caller disconnects before its answer is sent. */
  onDisconnect(listener: () => void): void;
}

export interface Reply {
  readonly status: number;
  /** Error code; undefined for a result. */
  readonly code?: string | undefined;
  /** Alternating names and values, for `writeHead`. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Replaces the details in the log of refused requests. */
  readonly logged?: string | undefined;
  /** Error of the run or the server for status 500 or 504; undefined for an answer from the replay store. */
  readonly error?: unknown;
  /** Called when the operating system has accepted the whole reply; not called if the caller disconnects first. */
  readonly sent?: () => void;
}

/** A request that was answered without running a tool. */
export interface Refusal {
  readonly id: string;
  readonly code: ErrorCode;
  readonly details: string | undefined;
  /** Path of a request that no route takes, as sent by the caller. */
  readonly path?: string | undefined;
  readonly headers: RequestHeaders["headers"];
  readonly peer: string | undefined;
  /** Whether the request is a call. Then the observers of calls receive it, in addition to those of requests. */
  readonly isCall: boolean;
}

/** Whether an error answer means that no tool ran. 500 and 504 are failures; an interrupted run had started. */
export function isRefusal(status: number, code: string): boolean {
  return status < 500 || (status === 503 && code !== INTERRUPTED.code);
}

/** Maximum length, in characters, of an error's details in the log; they may contain names chosen by a caller. */
const MAX_DETAILS = 256;

/** Details in the body of an error, for the log. */
export function detailsOf(body: Uint8Array): string | undefined {
  try {
    const { details } = JSON.parse(asBuffer(body).toString());
    return typeof details === "string" ? asciiText(details, MAX_DETAILS) : undefined;
  } catch {
    // A custom replay store may return any body.
    return undefined;
  }
}
