/**
 * MCP messages on standard input and output, one per line. Keeps integers exact; the SDK's transport uses JSON.parse,
 * which rounds them.
 */

import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import { JsonError, readExact } from "svc-runtime/internal/generator";
import { MAX_MESSAGE_BYTES, NOT_A_MESSAGE, NOT_JSON } from "./json-rpc.js";

const NEWLINE = 0x0a;

export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  readonly #input: Readable;
  readonly #output: Writable;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isClosed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#input.once("end", () => this.close());
    this.#input.once("error", (error) => this.#fail(error));
    this.#output.on("error", (error) => this.#fail(error));
  }

  async send(message: object): Promise<void> {
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
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(readExact(line));
    } catch (error) {
      const isJson = !(error instanceof JsonError);
      this.onerror?.(new Error(isJson ? "a line is not a JSON-RPC message" : `a line is not JSON: ${error.message}`));
      void this.send(isJson ? NOT_A_MESSAGE : NOT_JSON);
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
