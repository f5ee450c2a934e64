/** Worker thread of crypto-threads.ts: processes the jobs of its ring until it is terminated. */

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { prepareSigningKey, prepareVerifyKey, selectEngine } from "../../wire/ed25519.js";
import type { EngineName, SigningKey, VerifyKey } from "../../wire/ed25519-keys.js";
import { CryptoRing, VERIFY } from "./crypto-ring.js";

/** Message from the main thread: a new key, sent before its first job, or the number of a key to delete. */
export type KeyMessage =
  | { readonly id: number; readonly verify: Uint8Array }
  | { readonly id: number; readonly sign: Uint8Array }
  | { readonly id: number };

const { memory, engineName } = workerData as { memory: SharedArrayBuffer; engineName: EngineName };
const ring = new CryptoRing(memory);
const { engine } = selectEngine(engineName);
const keys = new Map<number, VerifyKey | SigningKey>();

/** The key of a job. Its message precedes the job; the first job that uses the key receives it from the queue. */
function keyOf(id: number): VerifyKey | SigningKey {
  for (;;) {
    const known = keys.get(id);
    if (known !== undefined) return known;
    const { message } = receiveMessageOnPort(parentPort as MessagePort) as { message: KeyMessage };
    if ("verify" in message) keys.set(message.id, prepareVerifyKey(message.verify));
    else if ("sign" in message) {
      keys.set(message.id, prepareSigningKey(message.sign));
      message.sign.fill(0);
    } else keys.delete(message.id);
  }
}

function work(at: number): void {
  const key = keyOf(ring.key(at));
  const message = ring.message(at);
  if (ring.kind(at) === VERIFY) ring.setVerdict(at, engine.verify(key as VerifyKey, message, ring.signature(at)));
  else ring.setSignature(at, engine.sign(key as SigningKey, message));
}

for (let done = 0; ; ) {
  const pushed = ring.pushed;
  while (done !== pushed) {
    work(done);
    done = (done + 1) | 0;
    ring.finish(done);
  }
  ring.waitForPush(pushed);
}
