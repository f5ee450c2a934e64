/** Parses a publisher's response to a PUT: `{"newlyCreated":…}` or `{"alreadyCertified":…}` (Walrus HTTP API). */

import { isBlobId } from "svc-client/internal/wire/bcs/data";
import { type Paid, StorageError } from "./storage-error.js";

/** Maximum size of a response, in bytes. */
export const MAX_RESPONSE_BYTES = 65_536;

export interface PublisherResponse {
  /** Whether this request created, and paid for, a new blob object. */
  readonly newlyCreated: boolean;
  readonly blobId: string;
  /** First epoch in which the blob is no longer stored. */
  readonly endEpoch: number;
  /** Sui object of the blob: `0x` and 64 hex digits. */
  readonly objectId?: string;
  readonly size?: number;
  readonly deletable?: boolean;
}

/** @throws {@link StorageError} `answer_invalid` */
export function parsePublisherResponse(body: Buffer): PublisherResponse {
  let place = "";
  let paid: Paid = "maybe";
  try {
    const answer = recordOf(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)), "the answer");
    const [name, ...more] = Object.keys(answer);
    if (more.length > 0 || (name !== "newlyCreated" && name !== "alreadyCertified")) {
      throw new ShapeError("expected exactly one of `newlyCreated` and `alreadyCertified`");
    }
    place = `${name}: `;
    paid = name === "newlyCreated" ? "yes" : "no";
    const content = recordOf(answer[name], "its value");
    return name === "newlyCreated" ? created(content) : certified(content);
  } catch (error) {
    const reason = error instanceof ShapeError ? error.message : "expected the answer as JSON";
    throw new StorageError("answer_invalid", `publisher: the answer cannot be used: ${place}${reason}`, { paid });
  }
}

function created(answer: JsonRecord): PublisherResponse {
  const blob = recordOf(answer.blobObject, "blobObject");
  const { deletable } = blob;
  if (typeof deletable !== "boolean") throw new ShapeError("expected `deletable` as true or false");
  return {
    newlyCreated: true,
    blobId: blobId(blob.blobId),
    endEpoch: integer("endEpoch", recordOf(blob.storage, "storage").endEpoch),
    objectId: objectId(blob.id),
    size: integer("size", blob.size),
    deletable,
  };
}

function certified(answer: JsonRecord): PublisherResponse {
  return {
    newlyCreated: false,
    blobId: blobId(answer.blobId),
    endEpoch: integer("endEpoch", answer.endEpoch),
    ...(answer.object !== undefined && { objectId: objectId(answer.object) }),
  };
}

type JsonRecord = Readonly<Record<string, unknown>>;

class ShapeError extends Error {}

function recordOf(value: unknown, name: string): JsonRecord {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new ShapeError(`expected ${name} as an object`);
  }
  return value as JsonRecord;
}

function integer(name: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new ShapeError(`expected \`${name}\` as an integer`);
  return value as number;
}

function blobId(value: unknown): string {
  if (typeof value !== "string" || !isBlobId(value)) {
    throw new ShapeError("expected `blobId` as base64url of 32 bytes without padding");
  }
  return value;
}

function objectId(value: unknown): string {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{64}$/.test(value)) {
    throw new ShapeError("expected the object's id as `0x` and 64 hex digits");
  }
  return value.toLowerCase();
}
