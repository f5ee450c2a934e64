/**
 * A local Walrus publisher and aggregator with blobs in files, for authors and tests. It has the HTTP interface of
 * Walrus, but nothing is paid, encoded or distributed. Not meant for production data.
 */

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { isBlobId } from "svc-client/internal/wire/bcs/data";
import { BlobIdEncoder, DEFAULT_SHARDS } from "../blob-id.js";
import type { WalrusStorageOptions } from "../walrus-storage.js";

/** Options of a store. */
export interface DevStoreOptions {
  /** Directory of the blobs; created if missing. Blobs of an earlier run are served again. */
  readonly directory: string;
  /** Port; the default 0 selects a free one. Only local clients can connect. */
  readonly port?: number;
  /**
   * `walrus` (the default if `@mysten/walrus-wasm` is installed): ids as on the real network. `substitute`: a SHA-256
   * hash, which is fast but not valid on any network.
   */
  readonly blobIds?: "walrus" | "substitute";
  /** Number of shards for computing ids: 1,000 by default, as on Mainnet and Testnet. Small numbers are faster. */
  readonly shards?: number;
  /** `Authorization` header that a PUT must have, if any. */
  readonly authorization?: string;
}

/** A simulated fault of one request. */
export type DevFault =
  /** An error answer. With `stored`, a PUT stores the blob anyway. */
  | { readonly kind: "status"; readonly status: number; readonly stored?: boolean; readonly retryAfter?: number }
  | DevAnswer;

/** An answer of your own, such as one that is late or breaks off. */
export interface DevAnswer {
  readonly kind: "answer";
  /** Whether to answer before the body of a PUT is read and its blob stored. */
  readonly unread?: boolean;
  /** @param content body of the answer that the store would send; empty with `unread` */
  send(response: ServerResponse, content: Buffer): void | Promise<void>;
}

export interface DevRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface DevBlob {
  readonly blobId: string;
  readonly size: number;
  readonly objectId: string;
  readonly registeredEpoch: number;
  endEpoch: number;
  readonly deletable: boolean;
}

/**
 * A running store.
 *
 * @example
 * ```ts run
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { WalrusStorage } from "svc-runtime-storage";
 * import { DevStore } from "svc-runtime-storage/dev";
 *
 * const store = await DevStore.start({ directory: mkdtempSync(join(tmpdir(), "blobs-")), blobIds: "substitute" });
 * const storage = new WalrusStorage({ ...store.connection(), epochs: 1 });
 * const blob = await storage.upload(Buffer.from("a long report"));
 * console.log(blob.blobId);
 * await store.stop();
 * ```
 */
export class DevStore {
  /** Current epoch. Increase it to expire blobs. */
  epoch = 1;
  /** Received requests, oldest first. */
  readonly requests: DevRequest[] = [];
  /** Number of blobs created in this run, for which a real publisher would have paid. */
  created = 0;
  readonly #faults: { on: "PUT" | "GET"; fault: DevAnswer; times: number }[] = [];
  readonly #blobs = new Map<string, DevBlob>();

  readonly #options: DevStoreOptions;
  readonly #server: Server;
  readonly #encoder: BlobIdEncoder | undefined;

  private constructor(options: DevStoreOptions, server: Server, encoder: BlobIdEncoder | undefined) {
    this.#options = options;
    this.#server = server;
    this.#encoder = encoder;
  }

  /**
   * Starts a store on 127.0.0.1.
   *
   * @throws TypeError if `blobIds` is `walrus` and the encoder is not installed; system errors of the port and the
   * directory
   */
  static async start(options: DevStoreOptions): Promise<DevStore> {
    const encoder = options.blobIds === "substitute" ? undefined : BlobIdEncoder.find(options.shards);
    if (options.blobIds === "walrus" && encoder === undefined) {
      throw new TypeError(
        "dev store: real blob ids need @mysten/walrus-wasm: install it, or set blobIds to `substitute`",
      );
    }
    await mkdir(options.directory, { recursive: true });
    const server = createServer();
    const store = new DevStore(options, server, encoder);
    for (const name of await readdir(options.directory)) {
      if (!name.endsWith(".json")) continue;
      const blob = JSON.parse(await readFile(join(options.directory, name), "utf8")) as DevBlob;
      store.#blobs.set(blob.blobId, blob);
    }
    server.on("request", (request, response) => {
      store.#handle(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(options.port ?? 0, "127.0.0.1", resolve);
    });
    return store;
  }

  /** The URL of publisher and aggregator. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Options for a `WalrusStorage` that uses this store. A `WalrusReader` needs only `aggregator`. */
  connection(): Pick<WalrusStorageOptions, "publisher" | "aggregator" | "encoder" | "shards"> {
    const { authorization, shards = DEFAULT_SHARDS } = this.#options;
    return {
      publisher: { url: this.url, ...(authorization !== undefined && { headers: { Authorization: authorization } }) },
      aggregator: { url: this.url },
      ...(this.#encoder === undefined ? { encoder: "off" as const } : { encoder: "required" as const, shards }),
    };
  }

  /** Queues a fault for the next requests of a method, after the faults queued before. */
  fail(on: "PUT" | "GET", fault: DevFault, times = 1): void {
    this.#faults.push({ on, fault: fault.kind === "status" ? errorAnswer(fault) : fault, times });
  }

  /** Removes all queued faults. */
  clearFaults(): void {
    this.#faults.length = 0;
  }

  /** Number of received requests of a method. */
  count(method: "PUT" | "GET"): number {
    return this.requests.filter((request) => request.method === method).length;
  }

  /** The bytes of a stored blob; undefined for an unknown id. */
  async content(blobId: string): Promise<Buffer | undefined> {
    return this.#blobs.has(blobId) ? await readFile(join(this.#options.directory, blobId)) : undefined;
  }

  /** Stops the store and closes its connections. The blobs stay on disk. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #nextFault(method: string): DevAnswer | undefined {
    const at = this.#faults.findIndex(({ on }) => on === method);
    const found = this.#faults[at];
    if (found === undefined) return undefined;
    if (--found.times === 0) this.#faults.splice(at, 1);
    return found.fault;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    this.requests.push({ method, target: url, headers });
    const { pathname, searchParams } = new URL(url, "http://dev");
    const [, blobId] = /^\/v1\/blobs\/([^/]+)$/.exec(pathname) ?? [];
    if (method === "PUT" && pathname === "/v1/blobs") {
      await this.#put(request, response, searchParams);
    } else if (method === "GET" && blobId !== undefined) {
      await this.#get(response, decodeURIComponent(blobId));
    } else {
      sendError(response, 404, "NOT_FOUND", "no such endpoint");
    }
  }

  async #put(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
    const fault = this.#nextFault("PUT");
    if (fault?.unread) return await fault.send(response, NOTHING);
    if (this.#options.authorization !== undefined && request.headers.authorization !== this.#options.authorization) {
      return sendError(response, 401, "UNAUTHENTICATED", "the authorization is missing or wrong");
    }
    const put = parseQuery(query);
    if (typeof put === "string") return sendError(response, 400, "INVALID_ARGUMENT", put);
    const content = await buffer(request);
    const { blob, created } = await this.#store(content, put);
    const body = created ? newlyCreated(blob) : alreadyCertified(blob);
    await send(response, "application/json", Buffer.from(JSON.stringify(body)), fault);
  }

  async #get(response: ServerResponse, blobId: string): Promise<void> {
    const fault = this.#nextFault("GET");
    if (fault?.unread) return await fault.send(response, NOTHING);
    if (!isBlobId(blobId)) return sendError(response, 400, "INVALID_ARGUMENT", "not a blob id");
    const blob = this.#blobs.get(blobId);
    if (blob === undefined || blob.endEpoch <= this.epoch) {
      return sendError(response, 404, "NOT_FOUND", "the requested blob is not stored");
    }
    const content = await readFile(join(this.#options.directory, blobId));
    await send(response, "application/octet-stream", content, fault);
  }

  async #store(content: Buffer, put: PutQuery): Promise<{ blob: DevBlob; created: boolean }> {
    const blobId = await this.#blobIdOf(content);
    const endEpoch = this.epoch + put.epochs;
    const existing = this.#blobs.get(blobId);
    if (existing !== undefined && existing.deletable === put.deletable && existing.endEpoch >= endEpoch) {
      return { blob: existing, created: false };
    }
    const blob: DevBlob = {
      blobId,
      size: content.length,
      objectId: `0x${randomBytes(32).toString("hex")}`,
      registeredEpoch: this.epoch,
      endEpoch,
      deletable: put.deletable,
    };
    const path = join(this.#options.directory, blobId);
    await writeFile(path, content);
    await writeFile(`${path}.json`, JSON.stringify(blob));
    this.#blobs.set(blobId, blob);
    this.created++;
    return { blob, created: true };
  }

  async #blobIdOf(content: Buffer): Promise<string> {
    if (this.#encoder !== undefined) return await this.#encoder.compute(content, new AbortController().signal);
    return substituteBlobId(content);
  }
}

/** Substitute for a blob id: SHA-256 of a fixed text and the content. Not valid on any Walrus network. */
export function substituteBlobId(content: Uint8Array): string {
  return createHash("sha256").update("svc-runtime dev store substitute blob id\n").update(content).digest("base64url");
}

interface PutQuery {
  readonly epochs: number;
  readonly deletable: boolean;
}

const QUERY = ["epochs", "deletable", "permanent", "send_object_to"];

function parseQuery(query: URLSearchParams): PutQuery | string {
  for (const name of query.keys()) if (!QUERY.includes(name)) return "an unknown query parameter";
  const epochs = Number(query.get("epochs") ?? "1");
  if (!Number.isInteger(epochs) || epochs < 1 || epochs > 53) return "epochs must be 1 to 53";
  const owner = query.get("send_object_to");
  if (owner !== null && !/^0x[0-9a-f]{64}$/.test(owner)) return "send_object_to must be an address";
  const permanent = query.get("permanent") === "true";
  if (permanent && query.get("deletable") === "true") return "deletable and permanent exclude each other";
  return { epochs, deletable: !permanent };
}

function newlyCreated({ objectId: id, registeredEpoch, blobId, size, endEpoch, deletable }: DevBlob) {
  const storage = { startEpoch: registeredEpoch, endEpoch };
  return { newlyCreated: { blobObject: { id, registeredEpoch, blobId, size, storage, deletable } } };
}

function alreadyCertified({ blobId, objectId, endEpoch, deletable }: DevBlob) {
  // A publisher names the object only of its own deletable blobs.
  return { alreadyCertified: { blobId, ...(deletable && { object: objectId }), endEpoch } };
}

const NOTHING = Buffer.alloc(0);

function errorAnswer({ status, stored, retryAfter }: Extract<DevFault, { kind: "status" }>): DevAnswer {
  return {
    kind: "answer",
    unread: stored !== true,
    send: (response) => {
      if (retryAfter !== undefined) response.setHeader("Retry-After", String(retryAfter));
      sendError(response, status, "INTERNAL", "a simulated fault");
    },
  };
}

/** Sends an error in the format of Walrus. */
function sendError(response: ServerResponse, code: number, name: string, message: string): void {
  const body = JSON.stringify({ error: { status: name, code, message, details: [] } });
  response.writeHead(code, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

async function send(
  response: ServerResponse,
  type: string,
  content: Buffer,
  fault: DevAnswer | undefined,
): Promise<void> {
  if (fault !== undefined) return await fault.send(response, content);
  response.writeHead(200, { "Content-Type": type, "Content-Length": content.length }).end(content);
}
