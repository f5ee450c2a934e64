/** What crosses between the main thread and the threads of a tool: plain data, bytes moved instead of copied. */

import type { AuthContext, InvocationAborted, Logger } from "../../tool.js";
import { committedBytes } from "../../wire/envelope.js";
import type { CallInput, InputHolder } from "../call/messages.js";

/** What every thread of a tool is started with. */
export interface ThreadData {
  /** The file of the application's entry module. */
  readonly entry: string;
  readonly fqn: string;
  /** For each place the reasons for which its job is to end, as a bit each of {@link REASONS}. */
  readonly reasons: Int32Array;
  /** The name of the channel on which threads hear that a reason was set, or which job's result has left. */
  readonly channel: string;
}

/** The bits of {@link ThreadData.reasons}, lowest first. */
export const REASONS: readonly InvocationAborted["reason"][] = ["timeout", "disconnect", "shutdown"];

/** Milliseconds that a thread keeps the stored values of a result that it may yet hear to have left. */
export const KEPT_MS = 30_000;

/** What a thread is to do. */
export type Work =
  /** Load the entry module and say so. */
  | { readonly kind: "load" }
  | (InputHolder<PackedInput> & {
      readonly kind: "call";
      readonly auth: AuthContext | undefined;
      readonly json: boolean;
      /** On the clock of `process.hrtime`, which threads share; they differ in the origin of `performance.now()`. */
      readonly deadline: bigint;
    })
  | { readonly kind: "authorize"; readonly auth: AuthContext }
  | { readonly kind: "health" };

/** Work at a place. */
export interface Job {
  readonly id: number;
  /** One place has one job at a time. */
  readonly place: number;
  readonly work: Work;
}

/** A line of log from a thread. */
export interface ThreadLog {
  readonly level: keyof Logger;
  readonly fields: object;
  readonly message: string | undefined;
  /** The job that writes it; undefined outside of jobs. */
  readonly job: number | undefined;
}

/** An input as one stretch of bytes; of a signed request with the length of every text, for each port. */
export interface PackedInput {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly (readonly number[])[] | undefined;
}

/** Packs an input into bytes that nobody else looks at, so that they can be moved. */
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

/** The bytes alone in their buffer: themselves where they are, else a copy. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const alone = bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength;
  return alone ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
