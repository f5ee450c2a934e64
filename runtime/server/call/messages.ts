/** Data passed between the transport, the invoke service and the host of a tool's code. */

import type { AuthContext, InvocationAborted, Logger } from "../../tool.js";
import type { CommittedText } from "../../wire/envelope.js";
import { type ErrorCode, statusOf } from "../../wire/error-codes.js";
import type { JsonDocument } from "../../wire/json/document.js";
import { asciiText } from "../../wire/printable.js";
import { errorBody } from "../errors/request-error.js";
import type { Holding } from "../load/account.js";

/** The end of a call. Every member is always present, because V8 reads objects of one shape much faster. */
export interface Answer {
  readonly status: number;
  /** The error code; undefined for a result. */
  readonly code: ErrorCode | undefined;
  readonly body: Buffer;
  /** True for a result, which is signed in signed mode; false for an error, which is never signed. */
  readonly signable: boolean;
  /** The result as JSON text, for a caller that accepts JSON. */
  readonly json: string | undefined;
  /** The cached signature of a result, so that an exact retry is not signed again (../replay/cached-signature.ts). */
  readonly seal: Uint8Array | undefined;
  /** Whether the result has stored values with a `returned` callback: see {@link Execution.returned}. */
  readonly stored: boolean;
  /** The error that the tool threw, for hooks of the application. It is not part of the answer to the caller. */
  readonly error: unknown;
}

/** Creates the answer for an error. */
export function refusal(code: ErrorCode, details?: string, error?: unknown): Answer {
  const body = errorBody(code, details);
  const result = { signable: false, json: undefined, seal: undefined, stored: false };
  return { status: statusOf(code), code, body, ...result, error };
}

/** The end of a health check. */
export interface Health {
  readonly status: number;
  /** The error behind the status; undefined for a status that the tool returned. */
  readonly error: unknown;
}

/** The answer of a run that threw after a shutdown aborted it. Its replay entry becomes a mark. */
export const INTERRUPTED = refusal("tool_invocation_interrupted");

/**
 * The committed texts of a signed request, by port in order; or the body of an unsigned one, with its document if
 * parsed.
 */
export type CallInput =
  | { readonly texts: readonly (readonly CommittedText[])[] }
  | { readonly body: Uint8Array; readonly document?: JsonDocument | undefined };

/**
 * A holder that is emptied when the input is taken, so that objects that outlive the call do not keep the body in
 * memory.
 */
export interface InputHolder<T> {
  input: T | undefined;
}

/** Takes the input out of its holder. Throws when it was taken before. */
export function takeInput<T>(holder: InputHolder<T>): T {
  const { input } = holder;
  if (input === undefined) throw new Error("the input of the call was already taken");
  holder.input = undefined;
  return input;
}

/** One call of a tool. It holds the input until the input is decoded. */
export interface Call extends InputHolder<CallInput> {
  /** The verified caller; undefined in unsigned mode. */
  readonly auth: AuthContext | undefined;
  /** Whether the result is sent as JSON. */
  readonly json: boolean;
}

/** Copies the caller for the tool, so that a tool that changes the bytes cannot affect the signature of its answer. */
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

/** Work in progress. */
export interface Execution<T = Answer> {
  /** The result of the work; never rejects. */
  readonly end: Promise<T>;
  /** Aborts the work, with the reason. */
  abort(reason: InvocationAborted["reason"]): void;
  /**
   * Calls the `returned` callbacks of the stored values after their result was sent; resolves when all have ended.
   * Never rejects.
   */
  returned?(): Promise<void>;
}

/** Runs one tool's code, on this thread or on others. The code gets a copy of the caller. */
export interface ToolHost {
  /**
   * Starts a call.
   *
   * @param deadline on the clock of `performance.now()`, in milliseconds. The caller of this method aborts the call
   * when it passes
   */
  call(call: Call, deadline: number, log: Logger): Execution;
  /** Runs `authorize` on a new instance: undefined when the caller is permitted, else the refusal or the fault. */
  authorize(auth: AuthContext, log: Logger): Execution<Answer | undefined>;
  /** The status that the tool's `health()` returns; 500 when `health()` or `new` fails or the status is invalid. */
  health(log: Logger): Execution<Health>;
}

/** Headers from node:http: `headers` has lower-case names and joins repeated headers; `rawHeaders` is unchanged. */
export interface RequestHeaders {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly rawHeaders: readonly string[];
}

/** A request from the transport. */
export interface InvokeRequest extends RequestHeaders {
  readonly id: string;
  /** Address of the client, often that of a gateway. */
  peer(): string | undefined;
  /** Identity of the connection. */
  readonly connection: object;
  /** Reads a body of exactly `length` bytes and charges bytes as they arrive. Called only after authentication. */
  readBody(length: number, account: Holding): Promise<InputHolder<Uint8Array>>;
  /** Whether the caller has disconnected or already has an answer, such as a refusal at shutdown. */
  isGone(): boolean;
  /** Called before this request runs code of the tool. */
  onRun?(): void;
  /** Registers a listener for the case that a shutdown answers the request. */
  onRefused?(listener: (reply: Reply) => void): void;
  /** Registers a listener for the case that the caller disconnects before its answer is sent. */
  onDisconnect(listener: () => void): void;
}

/** The reply that the transport sends. */
export interface Reply {
  readonly status: number;
  /** The error code; undefined for a result. */
  readonly code?: string | undefined;
  /** Alternating names and values, for `writeHead`. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** The error of the run or the server behind a status 500 or 504; undefined for a repeated answer. */
  readonly error?: unknown;
  /** Called once the operating system has accepted the whole reply; not called when the caller has disconnected. */
  readonly sent?: () => void;
}

/** A request that was answered without running a tool. */
export interface Refusal {
  readonly id: string;
  readonly code: ErrorCode;
  readonly details: string | undefined;
  readonly headers: RequestHeaders["headers"];
  readonly peer: string | undefined;
  /** Whether the request also reaches the observers of calls. */
  readonly isCall: boolean;
}

/** Whether an error answer is a refusal. 500 and 504 are failures, and an interrupted run had already begun. */
export function isRefusal(status: number, code: string): boolean {
  return status < 500 || (status === 503 && code !== INTERRUPTED.code);
}

/** Maximum characters of an error's details in the log. Their paths may contain names chosen by a caller. */
const MAX_DETAILS = 256;

/** The details in the body of an error, for the log. */
export function detailsOf(body: Uint8Array): string | undefined {
  try {
    const { details } = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
    return typeof details === "string" ? asciiText(details, MAX_DETAILS) : undefined;
  } catch {
    // A custom replay store may have returned any body.
    return undefined;
  }
}
