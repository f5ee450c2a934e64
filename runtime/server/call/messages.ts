/** The messages between the transport, the service of calls, and the place where a tool's code runs. */

import type { AuthContext, InvocationAborted, Logger } from "../../tool.js";
import type { CommittedText } from "../../wire/envelope.js";
import { type ErrorCode, errorBody, statusOf } from "../errors/request-error.js";
import type { BodyAccount } from "../load/body-bytes.js";

/** How a call ended. All of its members are always there: one shape of objects is read much faster than several. */
export interface Answer {
  readonly status: number;
  /** Undefined for a result. */
  readonly code: ErrorCode | undefined;
  readonly body: Buffer;
  /** A result, to be signed; an error never is. */
  readonly signable: boolean;
  /** The result as JSON text, when the call asks for it and JSON can say it. */
  readonly json: string | undefined;
  /** What lets an exact retry go without another signature (seal.ts). */
  readonly seal: Uint8Array | undefined;
  /** Whether the result refers to stored values that wait for it to leave: see {@link Execution.returned}. */
  readonly stored: boolean;
}

/** An error as an answer. */
export function refusal(code: ErrorCode, details?: string): Answer {
  const body = errorBody(code, details);
  return { status: statusOf(code), code, body, signable: false, json: undefined, seal: undefined, stored: false };
}

/** The end of a run that was told to stop and then threw: not kept, so that another process may answer. */
export const SHUTTING_DOWN = refusal("shutting_down");

/** The committed texts of a signed request, for each port in order; or the body of an unsigned one. */
export type CallInput = { readonly texts: readonly (readonly CommittedText[])[] } | { readonly body: Uint8Array };

/** Holder of an input until it is taken: what refers to the holder for longer does not keep the bytes of a body. */
export interface InputHolder<T> {
  input: T | undefined;
}

/** Takes the input out of its holder, once. */
export function takeInput<T>(holder: InputHolder<T>): T {
  const { input } = holder;
  if (input === undefined) throw new Error("the input of a call was taken before");
  holder.input = undefined;
  return input;
}

/** What one call of a tool is made of; its input until it is decoded. */
export interface Call extends InputHolder<CallInput> {
  /** The verified caller; undefined in unsigned mode. */
  readonly auth: AuthContext | undefined;
  /** Whether the caller wants its result as JSON. */
  readonly json: boolean;
}

/** What a tool is given of its caller: whatever it does to the bytes, the answer is signed over what the leader sent. */
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

/** Work that is going on. */
export interface Execution<T = Answer> {
  /** Never rejects. */
  readonly end: Promise<T>;
  /** Tells the work why nobody waits for it any more. */
  abort(reason: InvocationAborted["reason"]): void;
  /** Tells the stored values of a result that it has left; resolves when they have taken note. Never rejects. */
  returned?(): Promise<void>;
}

/** Where the code of one tool runs. It gives the code a copy of the caller. */
export interface ToolHost {
  /** @param deadline on the clock of `performance.now()`, in milliseconds; whoever calls says when it has passed */
  call(call: Call, deadline: number, log: Logger): Execution;
  /** Asks a new instance whether a caller may pass: undefined when it may, else the refusal or the fault. */
  authorize(auth: AuthContext, log: Logger): Execution<Answer | undefined>;
  /** The status that the tool's `health()` gives; 500 when it or `new` fails. */
  health(log: Logger): Execution<number>;
}

/** The headers of a request as node:http gives them: names in lower case, repeated ones joined; and as they came. */
export interface RequestHeaders {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly rawHeaders: readonly string[];
}

/** A request as the transport hands it over. */
export interface InvokeRequest extends RequestHeaders {
  /** Identity of the connection. */
  readonly connection: object;
  /** Reads the body, of exactly the announced length, and charges what arrives. Not called before the caller is known. */
  readBody(length: number, account: BodyAccount): Promise<InputHolder<Uint8Array>>;
  /** Calls back when the caller leaves before it has its answer. */
  onDisconnect(listener: () => void): void;
}

/** What the transport sends back. */
export interface Reply {
  readonly status: number;
  /** Of an error. */
  readonly code?: string | undefined;
  /** Of a refusal, for the log; they are in the body too. */
  readonly details?: string | undefined;
  /** Names and values in turn, as `writeHead` takes them. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Called once the whole answer was handed to the system; not when the caller had left. */
  readonly sent?: () => void;
}
