/**
 * MCP messages on standard input and output, one per line. Keeps integers exact; the SDK's transport uses JSON.parse,
 * which rounds them.
 */

import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { JsonError, readExact } from "svc-runtime/internal/generator";
import { MAX_MESSAGE_BYTES, NOT_A_MESSAGE, NOT_JSON } from "./json-rpc.js";

const NEWLINE = 0x0a;

export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #check: (value: unknown) => JSONRPCMessage;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isClosed = false;

  /** @param check validates a message; throws for any other value */
  constructor(input: Readable, output: Writable, check: (value: unknown) => JSONRPCMessage) {
    this.#input = input;
    this.#output = output;
    this.#check = check;
  }

  async start(): Promise<void> {
    this.#input.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#input.once("end", () => this.close());
    this.#input.once("error", (error) => this.#fail(error));
    this.#output.on("error", (error) => this.#fail(error));
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#write(message);
  }

  async #write(message: object): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((done) => this.#output.write(`${JSON.stringify(message)}\n`, () => done()));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.pause();
    this.onclose?.();
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const line = Buffer.concat([...this.#parts, rest.subarray(0, end)]);
      [this.#parts, this.#bytes] = [[], 0];
      rest = rest.subarray(end + 1);
      if (!this.#isClosed) this.#read(line);
    }
    this.#parts.push(rest);
    this.#bytes += rest.length;
    if (this.#bytes > MAX_MESSAGE_BYTES) this.#fail(new Error(`a message is larger than ${MAX_MESSAGE_BYTES} bytes`));
  }

  #read(line: Buffer): void {
    if (line.every((byte) => byte <= 0x20)) return;
    let value: unknown;
    try {
      value = readExact(line);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      this.onerror?.(new Error(`a line is not JSON: ${error.message}`));
      void this.#write(NOT_JSON);
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = this.#check(value);
    } catch {
      this.onerror?.(new Error("a line is not a JSON-RPC message"));
      void this.#write(NOT_A_MESSAGE);
      return;
    }
    this.onmessage?.(message);
  }

  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.onerror?.(error);
    void this.close();
  }
}
