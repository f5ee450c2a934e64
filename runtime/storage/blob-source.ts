import { sha256 } from "svc-client/internal/wire/signature/hash";
import { type Deadline, type Deadlines, deadlinesOf, type Retries, type RetryOptions, retriesOf } from "./deadline.js";
import { Endpoint, type EndpointOptions } from "./http/endpoint.js";
import { exchange, type ResponseStream, readBody } from "./http/http-exchange.js";
import { isTransient, retry } from "./retry.js";
import { StorageError } from "./storage-error.js";

/** Aggregator of blobs, with the limits of a read. */
export interface BlobSource {
  readonly aggregator: Endpoint;
  readonly deadlines: Deadlines;
  readonly retries: Retries;
}

interface BlobSourceOptions {
  readonly aggregator: EndpointOptions;
  readonly deadlines?: Partial<Deadlines> | undefined;
  readonly retries?: RetryOptions | undefined;
}

/** @throws {@link StorageError} `invalid_option` */
export function blobSourceOf({ aggregator, deadlines, retries }: BlobSourceOptions): BlobSource {
  return {
    aggregator: new Endpoint("aggregator", aggregator),
    deadlines: deadlinesOf(deadlines),
    retries: retriesOf(retries),
  };
}

export interface ExpectedBlob {
  readonly blobId: string;
  /** 32 bytes. */
  readonly sha256: Uint8Array;
  readonly size: number;
}

/**
 * Reads a blob and compares it with the expected content.
 *
 * @param fresh whether the blob was just stored, so that a cache in front of the aggregator may still answer 404
 * @throws {@link StorageError} `content_mismatch`, and the errors of {@link exchange}
 */
export function verifyStored(
  source: BlobSource,
  deadline: Deadline,
  { blobId, sha256: digest, size }: ExpectedBlob,
  fresh: boolean,
): Promise<void> {
  const mismatch = (what: string) =>
    new StorageError("content_mismatch", `aggregator: expected the ${size} bytes of the content, got ${what}`);
  return retry(
    source.retries,
    deadline,
    async () => {
      const { length, chunks } = await requestBlob(source, deadline, blobId);
      if (length !== undefined && length !== size) throw mismatch("another length");
      const content = await readBody(chunks, size, () => mismatch("more"));
      if (content.length < size) throw mismatch("fewer");
      if (!sha256(content).equals(digest)) throw mismatch("others");
    },
    (error) => isTransient(error) || (fresh && error.code === "not_found"),
  );
}

/**
 * Reads a blob into memory and verifies its digest.
 *
 * @param limit maximum size in bytes
 * @throws {@link StorageError} `over_budget`, `content_mismatch`, and the errors of {@link exchange}
 */
export function readStored(
  source: BlobSource,
  deadline: Deadline,
  { blobId, sha256: digest }: { readonly blobId: string; readonly sha256: Uint8Array },
  limit: number,
): Promise<Uint8Array> {
  return retry(source.retries, deadline, async () => {
    const { length, chunks } = await requestBlob(source, deadline, blobId);
    const over = () => new StorageError("over_budget", `aggregator: expected at most ${limit} bytes, got more`);
    if (length !== undefined && length > limit) throw over();
    const content = await readBody(chunks, limit, over);
    if (!sha256(content).equals(digest)) {
      throw new StorageError(
        "content_mismatch",
        "aggregator: expected content with the digest of the reference, got other content",
      );
    }
    return content;
  });
}

function requestBlob(
  { aggregator, deadlines }: BlobSource,
  deadline: Deadline,
  blobId: string,
): Promise<ResponseStream> {
  // A blob id is base64url, so it has no characters that are special in paths.
  return exchange({ endpoint: aggregator, method: "GET", path: `/v1/blobs/${blobId}`, deadlines, deadline });
}
