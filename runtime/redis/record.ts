/**
 * Keys and values of a call in Redis (docs/replay-store.md).
 *
 * Record: 0 version · 1 flags · 2 status, 2 bytes · 4 token, 16 · 20 caller, 16 · 36 code length · 37 seal length, 2
 * bytes · code · seal · body. Numbers are big-endian. The scripts read the first 36 bytes.
 */

import {
  type CachedAnswer,
  exactBytes,
  MAX_SEAL_BYTES,
  type ReplayCaller,
  type ReplayRequest,
  sha256,
} from "svc-runtime/internal/redis";

const VERSION = 1;
const SIGNABLE = 1;
const HEAD = 39;
const MAX_CODE_BYTES = 255;
const CALLER_BYTES = 16;

export interface CallKeys {
  readonly marker: Buffer;
  readonly record: Buffer;
  /** Key of the lifetimes of the tool's records. */
  readonly lifetimes: Buffer;
}

/** Builds the keys of a store. The hash tag `{00}` puts all of them into one slot of a cluster. */
export class RecordKeys {
  readonly incarnation: Buffer;
  readonly grace: Buffer;
  readonly #start: string;

  constructor(prefix: string) {
    this.#start = `${prefix}{00}`;
    this.incarnation = Buffer.from(`${this.#start}incarnation`);
    this.grace = Buffer.from(`${this.#start}grace`);
  }

  /** @throws RangeError unless nonce and input hash have 32 bytes */
  of({ tool, nonce, inputHash }: ReplayRequest): CallKeys {
    const key = (kind: string) => Buffer.from(`${this.#start}${kind}:${tool}`);
    return {
      marker: Buffer.concat([key("r"), COLON, exactBytes("nonce", nonce, 32)]),
      record: Buffer.concat([key("e"), COLON, nonce, COLON, exactBytes("input hash", inputHash, 32)]),
      lifetimes: key("l"),
    };
  }
}

const COLON = Buffer.from(":");

/** Creates a random token of 16 bytes, for a claim or an incarnation. */
export function newToken(): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16)));
}

/** Digest of a caller, which the scripts compare: 16 bytes of SHA-256 over key id ‖ 0 ‖ leader id. */
export function callerDigest({ leaderId, leaderKeyId }: ReplayCaller): Buffer {
  return sha256(Buffer.from(`${leaderKeyId}\0${leaderId}`)).subarray(0, CALLER_BYTES);
}

export function encodeRecord(answer: CachedAnswer, token: Buffer, caller: Buffer): Buffer {
  const code = Buffer.from(answer.code ?? "").subarray(0, MAX_CODE_BYTES);
  const seal = answer.seal !== undefined && answer.seal.length <= MAX_SEAL_BYTES ? answer.seal : new Uint8Array(0);
  const record = Buffer.allocUnsafe(HEAD + code.length + seal.length + answer.body.length);
  record[0] = VERSION;
  record[1] = answer.signable ? SIGNABLE : 0;
  record.writeUInt16BE(answer.status, 2);
  record.set(token, 4);
  record.set(caller, 20);
  record[36] = code.length;
  record.writeUInt16BE(seal.length, 37);
  record.set(code, HEAD);
  record.set(seal, HEAD + code.length);
  record.set(answer.body, HEAD + code.length + seal.length);
  return record;
}

/** Answer and digest of its caller; undefined for a record of another version or format. */
export function decodeRecord(record: Buffer): { readonly answer: CachedAnswer; readonly caller: Buffer } | undefined {
  if (record.length < HEAD || record[0] !== VERSION) return undefined;
  const flags = record[1] as number;
  const sealAt = HEAD + (record[36] as number);
  const sealLength = record.readUInt16BE(37);
  const bodyAt = sealAt + sealLength;
  if (flags > SIGNABLE || sealLength > MAX_SEAL_BYTES || record.length < bodyAt) return undefined;
  const [status, signable] = [record.readUInt16BE(2), flags === SIGNABLE];
  if (signable ? status !== 200 : status < 400 || status > 599) return undefined;
  const code = record.toString("utf8", HEAD, sealAt);
  const answer: CachedAnswer = {
    status,
    signable,
    ...(code !== "" && { code }),
    ...(sealLength > 0 && { seal: new Uint8Array(record.subarray(sealAt, bodyAt)) }),
    body: new Uint8Array(record.subarray(bodyAt)),
  };
  return { answer, caller: record.subarray(20, 36) };
}
