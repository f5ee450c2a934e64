/**
 * Writes validators on a thread while this one reads the project: loading ajv and running it is a tenth of a first run of many
 * tools. Whatever the thread has not written is written where it is asked for, so what comes out does not depend on it.
 */

import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { AnySchemaObject } from "ajv";
import type { ValidatorCode } from "./validator-code.js";

/** Milliseconds without an answer after which no more is expected: a thread that cannot start says nothing. */
const PATIENCE_MS = 1_000;

/** Files from which on a thread is worth its start. */
const MANY = 50;

/** For a project of so many files; undefined where a thread is of no use. */
export function openAhead(files: number): Ahead | undefined {
  if (files < MANY || availableParallelism() < 2) return undefined;
  try {
    return new Ahead();
  } catch {
    return undefined;
  }
}

/** One thread, and the schemas that it was given. */
export class Ahead {
  private readonly worker: Worker;
  private readonly port: MessagePort;
  /** How many answers the thread has sent. */
  private readonly answered = new Int32Array(new SharedArrayBuffer(4));
  private readonly numbers = new Map<AnySchemaObject, number>();
  private readonly codes: (ValidatorCode | undefined)[] = [];
  private lost = false;

  constructor(thread = new URL("./validator-thread.js", import.meta.url)) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    const workerData = { port: port2, answered: this.answered };
    this.worker = new Worker(thread, { workerData, transferList: [port2], execArgv: [] });
    this.worker.on("error", () => {});
    this.worker.unref();
  }

  /** Has the thread write a validator, once. */
  begin(schema: AnySchemaObject): void {
    if (this.numbers.has(schema)) return;
    this.port.postMessage(schema);
    this.numbers.set(schema, this.numbers.size);
  }

  /** What the thread has written for a schema, once it has; undefined when it does not come. */
  take(schema: AnySchemaObject): ValidatorCode | undefined {
    const number = this.numbers.get(schema);
    if (number === undefined) return undefined;
    while (number >= this.codes.length && !this.lost) {
      const before = this.codes.length;
      this.lost = Atomics.wait(this.answered, 0, before, PATIENCE_MS) === "timed-out";
      for (let come = receiveMessageOnPort(this.port); come; come = receiveMessageOnPort(this.port)) {
        this.codes.push(come.message as ValidatorCode | undefined);
      }
    }
    return this.codes[number];
  }

  close(): void {
    this.port.close();
    void this.worker.terminate();
  }
}
