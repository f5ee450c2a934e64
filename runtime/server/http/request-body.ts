/**
 * Reads request bodies. Counts bytes as they arrive, so that a declared length reserves nothing, and rejects bodies
 * below the minimum rate.
 */

import type { IncomingMessage } from "node:http";
import type { InputHolder } from "../call/messages.js";
import { RequestError } from "../errors/request-error.js";
import type { Holding } from "../load/account.js";
import type { ConnectionLimits } from "./limits.js";

/** Initial size of a buffer, in bytes. It grows by a factor of four, up to the declared length. */
const FIRST_CAPACITY = 65_536;

/**
 * Reads a body of the declared length. Node's parser ends the stream at exactly that length.
 *
 * @param isAnswered whether the caller already has an answer, such as a timeout; then the call must not run
 * @throws {@link RequestError} `request_timeout`, `overloaded`, `payload_too_large`; `bad_request` after a disconnect
 */
export type ReadBody = (
  request: IncomingMessage,
  length: number,
  account: Holding,
  isAnswered: () => boolean,
) => Promise<InputHolder<Uint8Array>>;

export function bodyReader(
  bytesPerSecond: number,
  deadlines: Pick<ConnectionLimits, "bodyGraceMs" | "checkMs">,
): ReadBody {
  const pace = new BodyPace(bytesPerSecond, deadlines);
  const tooSlow = `the body: at least ${bytesPerSecond} bytes/s`;
  return (request, length, account, isAnswered) =>
    new Promise((resolve, reject) => {
      let body: Buffer | undefined;
      let filled = 0;
      // The listeners live as long as the request, so they must not refer to the body.
      const settle = (error?: RequestError) => {
        pace.end(paced);
        request.off("data", take);
        if (error === undefined) resolve({ input: body ?? Buffer.alloc(0) });
        else reject(error);
        body = undefined;
      };
      const paced = pace.begin(() => settle(new RequestError("request_timeout", tooSlow)));
      const take = (chunk: Buffer) => {
        try {
          account.charge(chunk.length);
          if (chunk.length === length) body = chunk;
          else {
            body = withRoom(body, filled, filled + chunk.length, length);
            body.set(chunk, filled);
          }
        } catch (error) {
          settle(error instanceof RequestError ? error : tooLarge());
          return;
        }
        filled += chunk.length;
        pace.arrived(paced, chunk.length);
      };
      request.on("data", take);
      request.on("end", () => settle(isAnswered() ? new RequestError("bad_request") : undefined));
      request.on("close", () => {
        if (filled < length) settle(new RequestError("bad_request"));
      });
    });
}

/** Error for a body within the configured limit that this process cannot allocate. */
const tooLarge = () => new RequestError("payload_too_large", "the body is larger than this server can hold");

/** Returns the buffer, or a larger one of at most `length` bytes with a copy of the first `filled` bytes. */
function withRoom(buffer: Buffer | undefined, filled: number, needed: number, length: number): Buffer {
  if (buffer !== undefined && needed <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.min(length, Math.max(FIRST_CAPACITY, needed * 4)));
  buffer?.copy(larger, 0, 0, filled);
  return larger;
}

interface PacedBody {
  /** Milliseconds until the body is too slow. Each byte that arrives adds time. */
  left: number;
  readonly tooSlow: () => void;
}

/**
 * Enforces the minimum rate of bodies. Each byte that arrives adds time, up to the grace period. A timer counts the
 * time in ticks instead of reading a clock: a stall of the event loop, during which nothing is read, costs a body only
 * one tick.
 */
export class BodyPace {
  readonly #msPerByte: number;
  readonly #graceMs: number;
  readonly #turnMs: number;
  readonly #bodies = new Set<PacedBody>();
  #timer: NodeJS.Timeout | undefined;

  constructor(bytesPerSecond: number, { bodyGraceMs, checkMs }: Pick<ConnectionLimits, "bodyGraceMs" | "checkMs">) {
    this.#msPerByte = 1_000 / bytesPerSecond;
    this.#graceMs = bodyGraceMs;
    this.#turnMs = checkMs;
  }

  /** @param tooSlow called at most once; afterwards the body is no longer checked */
  begin(tooSlow: () => void): PacedBody {
    const body = { left: this.#graceMs, tooSlow };
    this.#bodies.add(body);
    this.#timer ??= setInterval(() => this.#turn(), this.#turnMs).unref();
    return body;
  }

  arrived(body: PacedBody, bytes: number): void {
    body.left = Math.min(this.#graceMs, body.left + bytes * this.#msPerByte);
  }

  end(body: PacedBody): void {
    this.#bodies.delete(body);
  }

  #turn(): void {
    for (const body of this.#bodies) {
      body.left -= this.#turnMs;
      if (body.left >= 0) continue;
      this.#bodies.delete(body);
      body.tooSlow();
    }
    if (this.#bodies.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
