/** Reads a blob from an aggregator, as often as is worth it, and verifies what comes. */

import { createHash } from "node:crypto";
import { type Deadline, type Deadlines, type Retries, waitAfter } from "./deadline.js";
import type { Endpoint } from "./endpoint.js";
import { type Answer, exchange } from "./exchange.js";
import { StorageError } from "./storage-error.js";

/** Where and how a blob is read. */
export interface Source {
  readonly aggregator: Endpoint;
  readonly deadlines: Deadlines;
  readonly retries: Retries;
}

/** Failures that another try may not meet. A GET can always be repeated. */
export function isPassing({ code, status }: StorageError): boolean {
  if (code === "refused") return status === 429 || (status !== undefined && status >= 500);
  return code === "connection_failed" || code === "connect_timeout" || code === "progress_timeout";
}

/**
 * Runs one try after another while they fail in passing.
 *
 * @param isWorth whether this failure is worth another try; {@link isPassing} by default
 */
export async function repeat<T>(
  retries: Retries,
  deadline: Deadline,
  run: () => Promise<T>,
  isWorth: (error: StorageError) => boolean = isPassing,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof StorageError) || attempt >= retries.attempts || !isWorth(error)) throw error;
      try {
        await deadline.pause(Math.max(waitAfter(attempt, retries), error.retryAfterMs ?? 0));
      } catch (late) {
        // The deadline fired between two tries: what the last try met says more.
        throw deadline.signal.reason instanceof StorageError && deadline.signal.reason.code === "aborted"
          ? late
          : error;
      }
    }
  }
}

/** What a blob must be. */
export interface Expected {
  readonly blobId: string;
  /** 32 bytes. */
  readonly sha256: Uint8Array;
  readonly size: number;
  /** The content itself, to compare with byte for byte. */
  readonly content?: Uint8Array;
}

/**
 * Reads a blob and compares it with what it must be, without keeping it.
 *
 * @param fresh whether it was stored just now: a cache before the aggregator may then answer 404 for a while
 * @throws {@link StorageError} `content_mismatch`, and what {@link exchange} throws
 */
export function verifyStored(source: Source, deadline: Deadline, expected: Expected, fresh: boolean): Promise<void> {
  return repeat(
    source.retries,
    deadline,
    async () => {
      const { length, chunks } = await get(source, deadline, expected.blobId);
      const hash = createHash("sha256");
      let at = 0;
      const mismatch = (what: string) =>
        new StorageError(
          "content_mismatch",
          `aggregator: expected the ${expected.size} bytes of the content, got ${what}`,
        );
      if (length !== undefined && length !== expected.size) {
        await chunks.return();
        throw mismatch("another length");
      }
      for await (const chunk of chunks) {
        if (at + chunk.length > expected.size) throw mismatch("more");
        if (expected.content !== undefined && !chunk.equals(expected.content.subarray(at, at + chunk.length))) {
          throw mismatch("others");
        }
        hash.update(chunk);
        at += chunk.length;
      }
      if (at !== expected.size) throw mismatch("fewer");
      if (!hash.digest().equals(expected.sha256)) throw mismatch("others");
    },
    (error) => isPassing(error) || (fresh && error.code === "not_found"),
  );
}

/**
 * Reads a blob whole.
 *
 * @param limit the most bytes that it may have
 * @returns exactly its bytes, the digest verified
 * @throws {@link StorageError} `over_budget`, `content_mismatch`, and what {@link exchange} throws
 */
export function readStored(
  source: Source,
  deadline: Deadline,
  { blobId, sha256 }: { readonly blobId: string; readonly sha256: Uint8Array },
  limit: number,
): Promise<Uint8Array> {
  return repeat(source.retries, deadline, async () => {
    const { length, chunks } = await get(source, deadline, blobId);
    const over = () => new StorageError("over_budget", `aggregator: expected at most ${limit} bytes, got more`);
    if (length !== undefined && length > limit) {
      await chunks.return();
      throw over();
    }
    const content = length === undefined ? await collect(chunks, limit, over) : await fill(chunks, length);
    if (!createHash("sha256").update(content).digest().equals(sha256)) {
      throw new StorageError(
        "content_mismatch",
        "aggregator: expected the content of the reference's digest, got another",
      );
    }
    return content;
  });
}

function get({ aggregator, deadlines }: Source, deadline: Deadline, blobId: string): Promise<Answer> {
  // A blob id is base64url: nothing in it means anything in a path.
  return exchange({ endpoint: aggregator, method: "GET", path: `/v1/blobs/${blobId}`, deadlines, deadline });
}

/** Into one buffer of the declared length; node:http gives no more and fails on fewer. */
async function fill(chunks: Answer["chunks"], length: number): Promise<Buffer> {
  const content = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for await (const chunk of chunks) at += chunk.copy(content, at);
  return content.subarray(0, at);
}

async function collect(chunks: Answer["chunks"], limit: number, over: () => StorageError): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw over();
    parts.push(chunk);
  }
  return Buffer.concat(parts, size);
}
