/**
 * Signature work on separate threads. Verifying and signing take most of the time of a signed call and do not need the
 * main thread. Replay protection stays on the main thread, so it stays exact.
 *
 * Jobs go through shared memory, because a message between threads costs about as much as the offloading saves.
 */

import { Worker } from "node:worker_threads";
import { type Ed25519Engine, type Ed25519Work, secretSeed } from "../../wire/ed25519.js";
import type { EngineName, SigningKey, VerifyKey } from "../../wire/ed25519-keys.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { CryptoRing, MAX_MESSAGE, SIGN, SLOTS, VERIFY } from "./crypto-ring.js";
import type { KeyMessage } from "./crypto-worker.js";

/** Callbacks that complete a job in progress. */
interface Waiting {
  /** Resolves with the thread's outcome. */
  settle(): void;
  /** Does the job on the main thread. */
  instead(): void;
}

/** Verifies and signs on crypto threads; on the main thread while all of them are full, or after they have failed. */
export class CryptoThreads implements Ed25519Work {
  readonly name: EngineName;
  private readonly threads: CryptoThread[];

  /** @param count at least 1 */
  constructor(
    private readonly engine: Ed25519Engine,
    count: number,
    log: ServerLogger,
  ) {
    this.name = engine.name;
    this.threads = Array.from({ length: count }, () => new CryptoThread(engine.name, log));
  }

  verify(publicKey: VerifyKey, message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean> {
    const thread = this.idlest();
    if (thread === undefined || !fits(message) || signature.length !== 64) {
      return this.engine.verify(publicKey, message, signature);
    }
    return thread.verify(publicKey, message, signature, () => this.engine.verify(publicKey, message, signature));
  }

  sign(key: SigningKey, message: Uint8Array): Buffer | Promise<Buffer> {
    const thread = this.idlest();
    if (thread === undefined || !fits(message)) return this.engine.sign(key, message);
    return thread.sign(key, message, () => this.engine.sign(key, message));
  }

  /** Ends the threads; jobs in progress are done on the main thread. */
  close(): void {
    for (const thread of this.threads) thread.close();
  }

  /** The thread with the fewest jobs in progress; undefined when all are full. */
  private idlest(): CryptoThread | undefined {
    let idlest: CryptoThread | undefined;
    for (const thread of this.threads) {
      if (thread.room > 0 && (idlest === undefined || thread.room > idlest.room)) idlest = thread;
    }
    return idlest;
  }
}

const fits = (message: Uint8Array) => message.length <= MAX_MESSAGE;

/** One thread and its jobs in progress. */
class CryptoThread {
  private readonly ring = new CryptoRing();
  private readonly worker: Worker;
  private readonly ids = new WeakMap<VerifyKey | SigningKey, number>();
  private readonly forgotten = new FinalizationRegistry<number>((id) => this.tell({ id }));
  private lastId = 0;
  /** Number of the next job to push. */
  private pushed = 0;
  /** Number of the next job whose outcome is awaited. */
  private seen = 0;
  /** Jobs in progress, by slot. */
  private readonly waiting = new Array<Waiting | undefined>(SLOTS).fill(undefined);
  private watching = false;
  private gone = false;

  constructor(engineName: EngineName, log: ServerLogger) {
    this.worker = new Worker(new URL("./crypto-worker.js", import.meta.url), {
      workerData: { memory: this.ring.memory, engineName },
      // The thread needs neither the process's loaders nor its environment.
      execArgv: [],
      env: {},
      resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
    });
    this.worker.unref();
    const fail = (error?: unknown) => {
      if (!this.gone) log.error({ err: error }, "a crypto thread ended; its work is done on the main thread");
      this.close();
    };
    this.worker.once("error", fail);
    this.worker.once("exit", () => fail());
  }

  /** Number of free slots. */
  get room(): number {
    return this.gone ? 0 : SLOTS - ((this.pushed - this.seen) | 0);
  }

  verify(key: VerifyKey, message: Uint8Array, signature: Uint8Array, instead: () => boolean): Promise<boolean> {
    const id = this.idOf(key, () => ({ verify: Uint8Array.from(key.bytes) }));
    return this.push(VERIFY, id, message, signature, (at) => this.ring.verdict(at), instead);
  }

  sign(key: SigningKey, message: Uint8Array, instead: () => Buffer): Promise<Buffer> {
    const id = this.idOf(key, () => ({ sign: secretSeed(key) }));
    return this.push(SIGN, id, message, undefined, (at) => this.ring.signature(at), instead);
  }

  close(): void {
    if (this.gone) return;
    this.gone = true;
    void this.worker.terminate();
    for (; this.seen !== this.pushed; this.seen = (this.seen + 1) | 0) this.take(this.seen)?.instead();
  }

  private push<T>(
    kind: number,
    key: number,
    message: Uint8Array,
    signature: Uint8Array | undefined,
    outcome: (at: number) => T,
    instead: () => T,
  ): Promise<T> {
    const at = this.pushed;
    this.ring.write(at, kind, key, message, signature);
    this.pushed = (at + 1) | 0;
    this.ring.push(this.pushed);
    return new Promise<T>((resolve, reject) => {
      this.waiting[at & (SLOTS - 1)] = {
        settle: () => resolve(outcome(at)),
        instead: () => {
          try {
            resolve(instead());
          } catch (error) {
            reject(error);
          }
        },
      };
      this.watch();
    });
  }

  /** Collects outcomes until no job is in progress. */
  private watch(): void {
    if (this.watching) return;
    this.watching = true;
    const collect = () => {
      for (;;) {
        const { done } = this.ring;
        while (!this.gone && this.seen !== done) {
          const at = this.seen;
          this.seen = (at + 1) | 0;
          this.take(at)?.settle();
        }
        if (this.gone || this.seen === this.pushed) {
          this.watching = false;
          return;
        }
        const later = this.ring.waitForDone(done);
        if (later === undefined) continue;
        void later.then(collect);
        return;
      }
    };
    collect();
  }

  private take(at: number): Waiting | undefined {
    const slot = at & (SLOTS - 1);
    const waiting = this.waiting[slot];
    this.waiting[slot] = undefined;
    return waiting;
  }

  /** The number of a key on the thread; sends the key before its first job. */
  private idOf(key: VerifyKey | SigningKey, bytes: () => { verify: Uint8Array } | { sign: Uint8Array }): number {
    let id = this.ids.get(key);
    if (id === undefined) {
      id = ++this.lastId;
      this.ids.set(key, id);
      this.forgotten.register(key, id);
      this.tell({ id, ...bytes() });
    }
    return id;
  }

  private tell(message: KeyMessage): void {
    if (!this.gone) this.worker.postMessage(message);
  }
}
