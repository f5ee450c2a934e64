import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { InvocationAborted, Logger } from "../../tool.js";
import { verbosity } from "../log/verbosity.js";
import type { FromThread, ThreadData, ToThread, Work } from "./worker-messages.js";

export interface ThreadSettings extends Omit<ThreadData, "port" | "verbosity"> {
  readonly memoryMb: number;
}

/** A job whose result is pending. */
interface Asked {
  readonly log: Logger;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A worker thread of a tool, used from the main thread. While idle, it does not keep the process alive. */
export class ToolThread {
  readonly #worker: Worker;
  /** Not `parentPort`, to which the tool's code may post any message. */
  readonly #port: MessagePort;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #error: unknown;

  readonly #log: Logger;
  readonly #onEnd: () => void;

  /**
   * @param log log for lines outside jobs
   * @param onEnd called once, when the thread has ended
   */
  constructor({ memoryMb, ...data }: ThreadSettings, log: Logger, onEnd: () => void) {
    this.#log = log;
    this.#onEnd = onEnd;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1.on("message", (message: FromThread) => this.#receive(message));
    this.#port.unref();
    // The code is passed as text, because threads inherit the options of the process, and with --input-type Node does
    // not start a file as a thread.
    this.#worker = new Worker(`import(${JSON.stringify(new URL("./tool-worker.js", import.meta.url).href)})`, {
      eval: true,
      workerData: { ...data, port: port2, verbosity: verbosity() } satisfies ThreadData,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    this.#worker.unref();
    this.#worker.on("error", (error) => this.#over(error));
    this.#worker.on("exit", (code) => this.#over(new Error(`the worker thread exited with code ${code}`)));
  }

  get ended(): boolean {
    return this.#error !== undefined;
  }

  /** Id of the last job, for {@link Work} `returned`. */
  get lastId(): number {
    return this.#lastId;
  }

  /** Runs a job on the thread; rejects if the thread ends first. */
  run(work: Work, log = this.#log): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#error !== undefined) return reject(this.#error);
      const id = ++this.#lastId;
      this.#asked.set(id, { log, resolve, reject });
      this.#worker.ref();
      try {
        this.#send({ id, work }, work.kind === "call" && work.input !== undefined ? [work.input.bytes.buffer] : []);
      } catch (error) {
        this.#receive({ id, error: error as Error });
      }
    });
  }

  /** Aborts the current job. */
  abort(reason: InvocationAborted["reason"]): void {
    this.#send({ abort: reason });
  }

  /** Terminates the thread and rejects its jobs at once. Resolves when the thread has ended. */
  async end(): Promise<void> {
    this.#over(new Error("the thread was terminated"), true);
    await this.#worker.terminate();
  }

  #send(message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer);
  }

  #receive(message: FromThread): void {
    if ("level" in message) {
      const { level, fields, message: text, id } = message;
      const log = this.#asked.get(id)?.log ?? this.#log;
      log[level](fields, text);
      return;
    }
    const asked = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (this.#asked.size === 0) this.#worker.unref();
    if ("error" in message) asked?.reject(message.error);
    else asked?.resolve(message.value);
  }

  #over(error: unknown, wanted = false): void {
    if (this.ended) return;
    // Handles the results and log lines that the thread sent before it ended.
    for (let sent = receiveMessageOnPort(this.#port); sent !== undefined; sent = receiveMessageOnPort(this.#port)) {
      this.#receive(sent.message as FromThread);
    }
    this.#error = error ?? new Error("the thread ended");
    this.#port.close();
    if (this.#asked.size === 0 && !wanted)
      this.#log.error({ err: error }, "an idle thread of the tool ended; a new one replaces it");
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
    this.#onEnd();
  }
}
