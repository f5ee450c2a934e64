/** Thread of parse-aside.ts: parses one document and posts its tape, without copying either. */

import { parentPort, workerData } from "node:worker_threads";
import { JsonError } from "svc-client/internal/wire/json/error";
import { parseJson } from "svc-client/internal/wire/json/scan";
import type { ThreadAnswer } from "./parse-aside.js";

const bytes = workerData as Uint8Array;

function post(answer: ThreadAnswer, transfer: readonly ArrayBufferLike[]): void {
  parentPort?.postMessage(answer, transfer as ArrayBuffer[]);
}

try {
  const document = parseJson(bytes);
  post({ document }, [document.tape.buffer, bytes.buffer]);
} catch (error) {
  if (!(error instanceof JsonError)) throw error;
  const { reason, offset } = error;
  post({ bytes, reason, offset }, [bytes.buffer]);
}
