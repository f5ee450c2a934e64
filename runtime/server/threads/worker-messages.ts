/**
 * Messages between the main thread and the threads of a tool. They are plain data; bytes of inputs are transferred, not
 * copied.
 */

import type { MessagePort } from "node:worker_threads";
import { committedBytes } from "svc-client/internal/wire/committed-texts";
import type { AuthContext, InvocationAborted, Logger } from "../../tool.js";
import type { CallInput, InputHolder } from "../call/messages.js";
import type { Verbosity } from "../log/verbosity.js";

export interface ThreadData {
  /** Path of the application's entry module. */
  readonly entry: string;
  readonly fqn: string;
  readonly port: MessagePort;
  readonly verbosity: Verbosity;
}

/** Message to a thread: a job with its id, or the abort of the current job. */
export type ToThread = { readonly id: number; readonly work: Work } | { readonly abort: InvocationAborted["reason"] };

/** Message from a thread: the result of a job, or a log line. */
export type FromThread =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: unknown }
  | ThreadLog;

/** A job for a thread. */
export type Work =
  /** Waits until the entry module is loaded. */
  | { readonly kind: "load" }
  | (InputHolder<PackedInput> & {
      readonly kind: "call";
      readonly auth: AuthContext | undefined;
      readonly json: boolean;
      /**
       * Nanoseconds on the clock of `process.hrtime`, which all threads share. `performance.now()` has a different
       * origin in each thread.
       */
      readonly deadline: bigint;
    })
  | { readonly kind: "authorize"; readonly auth: AuthContext }
  | { readonly kind: "health" }
  /** The result of a call was sent: settles the uploads to which it refers. */
  | { readonly kind: "returned"; readonly call: number }
  /** Calls `close()` of the tool's class. */
  | { readonly kind: "close" };

export interface ThreadLog {
  readonly level: keyof Logger;
  readonly fields: object;
  readonly message: string | undefined;
  /** Id of the job that wrote this log line; 0 if no job was running. */
  readonly id: number;
}

export interface PackedInput {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Byte length of each text of a signed request, for each port; undefined for an unsigned body. */
  readonly lengths: readonly (readonly number[])[] | undefined;
}

/** Packs an input into a separate buffer, which can be transferred. */
export function packInput(input: CallInput): PackedInput {
  if ("body" in input) return { bytes: ownBytes(input.body), lengths: undefined };
  const texts = input.texts.map((port) => port.map(committedBytes));
  const lengths = texts.map((port) => port.map(({ length }) => length));
  const bytes = new Uint8Array(lengths.flat().reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const text of texts.flat()) {
    bytes.set(text, at);
    at += text.length;
  }
  return { bytes, lengths };
}

export function unpackInput({ bytes, lengths }: PackedInput): CallInput {
  if (lengths === undefined) return { body: bytes };
  let at = 0;
  const next = (length: number) => {
    at += length;
    return { document: undefined, bytes: Buffer.from(bytes.buffer, at - length, length) };
  };
  return { texts: lengths.map((port) => port.map(next)) };
}

/** Returns the bytes if they fill their buffer, otherwise a copy that does. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const alone = bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength;
  return alone ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
