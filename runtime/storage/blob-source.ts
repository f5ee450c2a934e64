import { sha256 } from "svc-client/internal/wire/signature/hash";
import { type Deadline, type Deadlines, deadlinesOf, type Retries, type RetryOptions, retriesOf } from "./deadline.js";
import { Endpoint, type EndpointOptions } from "./http/endpoint.js";
import { exchange } from "./http/http-exchange.js";
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
  /** Size of the content, in bytes, if it is known. */
  readonly size?: number | undefined;
}

/**
 * Reads a blob into memory and verifies its digest.
 *
 * @param limit maximum size in bytes, for a blob of unknown size
 * @param isFresh whether the blob was just stored, so that a cache in front of the aggregator may still answer 404
 * @throws {@link StorageError} `content_mismatch`, `over_budget`, and the errors of {@link exchange}
 */
export function readStored(
  { aggregator, deadlines, retries }: BlobSource,
  deadline: Deadline,
  { blobId, sha256: digest, size }: ExpectedBlob,
  limit: number,
  isFresh = false,
): Promise<Uint8Array> {
  const mismatch = () =>
    new StorageError("content_mismatch", "aggregator: expected the content with this digest, got other content");
  const over = () => new StorageError("over_budget", `aggregator: expected at most ${limit} bytes, got more`);
  return retry(
    retries,
    deadline,
    async () => {
      const content = await exchange({
        endpoint: aggregator,
        method: "GET",
        // A blob id is base64url, so it has no characters that are special in paths.
        path: `/v1/blobs/${blobId}`,
        maxBytes: size ?? limit,
        tooLarge: size === undefined ? over : mismatch,
        deadlines,
        deadline,
      });
      if (!sha256(content).equals(digest)) throw mismatch();
      return content;
    },
    (error) => isTransient(error) || (isFresh && error.code === "not_found"),
  );
}
