import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeEach, describe, test } from "node:test";
import { NexusValue } from "#client/wire/bcs/data.js";
import type { DevStore } from "#runtime/storage/dev/dev-store.js";
import {
  FileJournal,
  type Paid,
  type StorageFault,
  type UploadEntry,
  type UploadJournal,
  WalrusReader,
  WalrusStorage,
  type WalrusStorageOptions,
} from "#runtime/storage/index.js";
import { refusingUrl } from "../../runtime/raw.js";
import { fault, freshPath, reset, startStore } from "../../runtime/storage-scene.js";
import { failNext, type StoreFault } from "../../runtime/store-faults.js";
import { until } from "../../runtime/tools.js";
import { atEnd } from "../../teardown.js";

const SECRET = "Bearer canary-7f3a";
const MIB = 1_048_576;
/** More than anything takes on any machine: a deadline passes only in a test that is about it. */
const PATIENT = { connectMs: 60_000, progressMs: 60_000, totalMs: 120_000 };
/** The deadline that a fault is to meet is short, the others are not. */
const deadlinesFor = ({ kind }: StoreFault) => ({
  ...PATIENT,
  ...(kind === "stall" && { progressMs: 500 }),
  ...(kind === "slow" && { totalMs: 2_000 }),
});
const QUICK = { backoffMs: 10 };

const authorization = SECRET;
/** Real ids of a network of ten shards. */
const real = await startStore({ blobIds: "walrus", shards: 10, authorization });
/** Ids that no encoder knows. */
const substitute = await startStore({ authorization });
let journal: FileJournal;
beforeEach(async () => {
  for (const store of [real, substitute]) reset(store);
  journal = await FileJournal.open(freshPath());
});

let contents = 0;
/** Content that was not stored before. */
const fresh = () => Buffer.from(JSON.stringify(`${contents++}:`.padEnd(40, "x")));

const storageOf = (store: DevStore, options: Partial<WalrusStorageOptions> = {}) =>
  new WalrusStorage({
    ...store.connection(),
    epochs: 5,
    deletable: false,
    journal,
    deadlines: PATIENT,
    retries: QUICK,
    ...options,
  });

const readerOf = (store: DevStore) =>
  new WalrusReader({ aggregator: { url: store.url }, deadlines: PATIENT, retries: QUICK });

/** Asserts that exactly one upload is unreturned. */
async function listed(storage: WalrusStorage, content: Buffer, paid: Paid, state: UploadEntry["state"]) {
  const uploads = await storage.recover();
  assert.equal(uploads.length, 1);
  const [upload] = uploads;
  assert.ok(upload);
  assert.equal(upload.paid, paid);
  assert.equal(upload.state, state);
  assert.equal(upload.size, content.length);
  assert.equal(upload.sha256, createHash("sha256").update(content).digest("hex"));
  return upload;
}

/** A server that accepts connections and reads nothing. */
async function startSilent() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined).pause());
  });
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

describe("faults of the publisher, without the encoder of blob ids", () => {
  /** What happens; what is told; what may have been paid, whether it is listed, how many requests were made. */
  const cases: [string, StoreFault, StorageFault, RegExp, Paid, number][] = [
    [
      "slow",
      { kind: "slow", delayMs: 9_000 },
      "total_timeout",
      /^storage: the operation did not finish within 2000 ms$/,
      "maybe",
      1,
    ],
    ["stalled", { kind: "stall" }, "progress_timeout", /^publisher: no part of the answer arrived within/, "maybe", 1],
    ["500, stored", { kind: "status", status: 500, stored: true }, "refused", /^publisher: answered 500/, "maybe", 1],
    ["500, not stored", { kind: "status", status: 500 }, "refused", /answered 500, expected 200$/, "maybe", 1],
    ["503", { kind: "status", status: 503 }, "refused", /answered 503/, "maybe", 1],
    ["truncated", { kind: "truncated" }, "connection_failed", /^publisher: the connection failed or/, "maybe", 1],
    ["reset, stored", { kind: "reset", when: "after" }, "connection_failed", /complete \(ECONNRESET\)$/, "maybe", 1],
    ["403", { kind: "status", status: 403 }, "refused", /answered 403/, "no", 1],
    ["413", { kind: "status", status: 413 }, "refused", /answered 413/, "no", 1],
    ["429, always", { kind: "status", status: 429 }, "refused", /answered 429/, "no", 3],
  ];
  for (const [name, kind, code, message, paid, requests] of cases) {
    test(name, async () => {
      const content = fresh();
      const storage = storageOf(substitute, { deadlines: deadlinesFor(kind) });
      failNext(substitute, "PUT", kind, requests);
      const error = await fault(storage.upload(content), code, message);
      assert.equal(error.paid, paid);
      assert.equal(substitute.count("PUT"), requests);
      if (paid === "no") {
        assert.deepEqual(await storage.recover(), []);
        return;
      }
      const upload = await listed(storage, content, paid, "intent");
      assert.equal(upload.key, error.key);
      // The caller's retry: the publisher has it or not; either way it is paid once.
      const blob = await storage.upload(content);
      assert.equal(substitute.created, 1);
      assert.deepEqual(await substitute.content(blob.blobId), content);
      await listed(storage, content, blob.origin === "created" ? "yes" : "no", "verified");
      await storage.settle(blob);
      assert.deepEqual(await storage.recover(), []);
    });
  }

  test("the body of an error is not read", async () => {
    const body = "canary".repeat(MIB);
    failNext(substitute, "PUT", { kind: "answer", status: 500, body });
    await fault(storageOf(substitute).upload(fresh()), "refused", /answered 500/);
    failNext(substitute, "GET", { kind: "answer", status: 400, body });
    await fault(storageOf(substitute).upload(fresh()), "refused", /^aggregator: answered 400, expected 200$/);
  });

  test("if the headers cannot be created, nothing is sent and nothing is listed", async () => {
    for (const [headers, code, message] of [
      [
        () => Promise.reject(new Error("canary")),
        "invalid_option",
        /^publisher: headers: the function that returns them/,
      ],
      [() => new Promise<never>(() => undefined), "total_timeout", /^storage: the operation did not finish within/],
    ] as const) {
      const publisher = { url: substitute.url, headers };
      const storage = storageOf(substitute, { publisher, deadlines: { ...PATIENT, totalMs: 300 } });
      assert.equal((await fault(storage.upload(fresh()), code, message)).paid, "no");
      assert.deepEqual(await storage.recover(), []);
      assert.equal(substitute.requests.length, 0);
    }
  });

  test("a request that got 429 is repeated and counted, but not after the deadline", async () => {
    failNext(substitute, "PUT", { kind: "status", status: 429, retryAfter: 0 }, 2);
    await storageOf(substitute).upload(fresh());
    assert.equal(substitute.count("PUT"), 3);
    // The wait is longer than the deadline: what the publisher said is told.
    failNext(substitute, "PUT", { kind: "status", status: 429, retryAfter: 60 }, 2);
    const storage = storageOf(substitute, { deadlines: { ...PATIENT, totalMs: 2_000 } });
    await fault(storage.upload(fresh()), "refused", /answered 429/);
    assert.equal(substitute.count("PUT"), 4);
    // And at once, so that the caller still has the time.
    const long = storageOf(substitute, { deadlines: { ...PATIENT, totalMs: 50_000 } });
    const began = performance.now();
    await fault(long.upload(fresh()), "refused", /answered 429/);
    assert.ok(performance.now() - began < 40_000);
  });

  test("an upload is retried if no server listens, and nothing is paid", async () => {
    const storage = storageOf(substitute, { publisher: { url: await refusingUrl() } });
    const error = await fault(storage.upload(fresh()), "connection_failed", /\(ECONNREFUSED\)$/);
    assert.equal(error.paid, "no");
    assert.deepEqual(await storage.recover(), []);
  });

  test("a server that does not finish TLS", async () => {
    const { address } = await startSilent();
    const tls = storageOf(substitute, {
      publisher: { url: `https://${address}` },
      retries: { attempts: 1 },
      deadlines: { ...PATIENT, connectMs: 250 },
    });
    const late = await fault(tls.upload(fresh()), "connect_timeout", /^publisher: no connection within 250 ms$/);
    assert.equal(late.paid, "no");
  });

  test("a reset while a large content is being sent is repeated", async () => {
    const content = randomBytes(8 * MIB);
    failNext(substitute, "PUT", { kind: "reset", when: "before" });
    const blob = await storageOf(substitute).upload(content);
    assert.equal(blob.origin, "created");
    assert.equal(substitute.count("PUT"), 2);
    assert.equal(substitute.created, 1);
  });
});

describe("faults of the publisher, with the encoder of blob ids", () => {
  const lost: [string, StoreFault][] = [
    ["500, stored", { kind: "status", status: 500, stored: true }],
    ["truncated", { kind: "truncated" }],
    ["stalled", { kind: "stall" }],
    ["reset", { kind: "reset", when: "after" }],
    ["nonsense", { kind: "answer", status: 200, body: "canary" }],
  ];
  for (const [name, kind] of lost) {
    test(`${name}: the stored content is found and verified`, async () => {
      const content = fresh();
      failNext(real, "PUT", kind);
      const storage = storageOf(real, { deadlines: deadlinesFor(kind) });
      const blob = await storage.upload(content);
      assert.equal(blob.origin, "recovered");
      assert.equal(blob.encoderChecked, true);
      assert.equal(blob.endEpoch, undefined);
      assert.equal(real.count("PUT"), 1);
      assert.deepEqual(await real.content(blob.blobId), content);
      await listed(storage, content, "maybe", "verified");
    });
  }

  test("500 without storing: the upload fails, and a retry has the same id", async () => {
    const content = fresh();
    failNext(real, "PUT", { kind: "status", status: 500 });
    const storage = storageOf(real);
    const error = await fault(storage.upload(content), "refused", /answered 500/);
    assert.equal(error.paid, "maybe");
    assert.equal(real.count("PUT"), 1);
    const upload = await listed(storage, content, "maybe", "intent");
    const blob = await storage.upload(content);
    assert.equal(blob.blobId, upload.blobId);
    assert.equal(real.created, 1);
  });

  test("a wrong id from the publisher is an error, and the upload that may be stored stays listed", async () => {
    const content = fresh();
    failNext(real, "PUT", { kind: "wrong-id" });
    const storage = storageOf(real);
    const error = await fault(storage.upload(content), "blob_id_mismatch", /^publisher: the answered blob id/);
    assert.equal(error.paid, "yes");
    const upload = await listed(storage, content, "yes", "stored");
    assert.equal(upload.blobId, error.blobId);
    assert.notEqual(upload.computedBlobId, upload.blobId);
    // The content is there under its true id: found, not sent again, without the liar's facts.
    const blob = await storage.upload(content);
    assert.equal(blob.blobId, upload.computedBlobId);
    assert.equal(blob.objectId, undefined);
    assert.equal(real.count("PUT"), 1);
    // What the liar sold is not forgotten.
    const found = await listed(storage, content, "yes", "verified");
    assert.deepEqual(found.earlierObjectIds, [upload.objectId]);
    assert.match(upload.objectId ?? "", /^0x/);
  });

  test("a publisher that answers with the id of other stored content is detected", async () => {
    const other = await storageOf(real).upload(fresh());
    const body = JSON.stringify({ alreadyCertified: { blobId: other.blobId, endEpoch: 9 } });
    failNext(real, "PUT", { kind: "answer", status: 200, body }, 2);
    await fault(storageOf(real).upload(fresh()), "blob_id_mismatch", /^publisher: the answered blob id/);
    // Without the encoder the content tells.
    const unaware = storageOf(real, { encoder: "off" });
    await fault(unaware.upload(fresh()), "content_mismatch", /^aggregator: expected the/);
  });
});

describe("faults of the aggregator", () => {
  const gzip = { "Content-Encoding": "gzip" };
  const cases: [string, StoreFault, number, StorageFault | "passes", number][] = [
    ["slow, always", { kind: "slow", delayMs: 9_000 }, 3, "total_timeout", 1],
    ["stalled, once", { kind: "stall" }, 1, "passes", 2],
    ["stalled, always", { kind: "stall" }, 3, "progress_timeout", 3],
    ["500, once", { kind: "status", status: 500 }, 1, "passes", 2],
    ["500, always", { kind: "status", status: 500 }, 3, "refused", 3],
    ["403", { kind: "status", status: 403 }, 1, "refused", 1],
    ["truncated, twice", { kind: "truncated" }, 2, "passes", 3],
    ["truncated, always", { kind: "truncated" }, 3, "connection_failed", 3],
    ["reset, once", { kind: "reset", when: "before" }, 1, "passes", 2],
    ["reset, always", { kind: "reset", when: "before" }, 3, "connection_failed", 3],
    ["wrong bytes", { kind: "wrong-bytes" }, 1, "content_mismatch", 1],
    ["more bytes", { kind: "answer", status: 200, body: "x".repeat(500) }, 1, "content_mismatch", 1],
    ["fewer bytes", { kind: "answer", status: 200, body: "x" }, 1, "content_mismatch", 1],
    ["nothing", { kind: "answer", status: 200, body: "" }, 1, "content_mismatch", 1],
    ["compressed", { kind: "answer", status: 200, headers: gzip, body: "" }, 1, "answer_invalid", 1],
  ];
  for (const [name, kind, times, expected, requests] of cases) {
    test(`readback and reader: ${name}`, async () => {
      const content = fresh();
      const deadlines = deadlinesFor(kind);
      const storage = storageOf(substitute, { deadlines });
      failNext(substitute, "GET", kind, times);
      if (expected === "passes") {
        assert.equal((await storage.upload(content)).origin, "created");
        assert.equal(substitute.count("GET"), requests);
      } else {
        const error = await fault(storage.upload(content), expected, /^(aggregator|storage): /);
        assert.equal(error.paid, "yes");
        assert.equal(substitute.count("GET"), requests);
        const upload = await listed(storage, content, "yes", "stored");
        assert.equal(upload.blobId, error.blobId);
        assert.equal(upload.endEpoch, substitute.epoch + 5);
      }
      // The retry sends nothing again.
      substitute.clearFaults();
      const blob = await storage.upload(content);
      assert.equal(substitute.count("PUT"), 1);
      assert.equal(blob.endEpoch, substitute.epoch + 5);

      // The reader, knowing the digest only.
      substitute.requests.length = 0;
      failNext(substitute, "GET", kind, times);
      const reader = new WalrusReader({ aggregator: { url: substitute.url }, deadlines, retries: QUICK });
      const reading = reader.read(NexusValue.walrus(blob.blobId, blob.sha256));
      if (expected === "passes") assert.deepEqual(await reading, content);
      else await fault(reading, expected, /^(aggregator|storage): /);
      assert.equal(substitute.count("GET"), requests);
    });
  }

  test("a request that got 404 is repeated right after an upload, but not by a reader", async () => {
    const notFound = { kind: "status", status: 404 } as const;
    failNext(substitute, "GET", notFound, 2);
    const blob = await storageOf(substitute).upload(fresh());
    assert.equal(substitute.count("GET"), 3);
    failNext(substitute, "GET", notFound);
    await fault(readerOf(substitute).read(blob.nexusValue()), "not_found", /answered 404/);
    assert.equal(substitute.count("GET"), 4);
  });
});

describe("abort", () => {
  const reason = new Error("the invocation was aborted");

  test("ends an upload before sending, while sending, while waiting and while reading back", async () => {
    const storage = storageOf(substitute);
    const early = storage.upload(fresh(), { signal: AbortSignal.abort(reason) });
    assert.equal((await fault(early, "aborted", /^storage: the operation was aborted by its signal$/)).cause, reason);
    assert.equal(substitute.requests.length, 0);
    assert.deepEqual(await storage.recover(), []);

    const sending = new AbortController();
    const { address, sockets } = await startSilent();
    const stuck = storageOf(substitute, { publisher: { url: `http://${address}` } });
    const large = stuck.upload(randomBytes(8 * MIB), { signal: sending.signal });
    void until(() => sockets.size === 1, "a connection").then(() => sending.abort(reason));
    assert.equal((await fault(large, "aborted", /by its signal/)).paid, "no");
    assert.deepEqual(await storage.recover(), []);
    // A TLS handshake that never ends.
    const connecting = new AbortController();
    const tls = storageOf(substitute, { publisher: { url: `https://${address}` }, deadlines: { connectMs: 60_000 } });
    const stalled = tls.upload(fresh(), { signal: connecting.signal });
    void until(() => sockets.size === 2, "a second connection").then(() => connecting.abort(reason));
    assert.equal((await fault(stalled, "aborted", /by its signal/)).paid, "no");
    assert.deepEqual(await storage.recover(), []);

    const content = fresh();
    failNext(substitute, "PUT", { kind: "slow", delayMs: 9_000 });
    /** A signal that fires once a request of this kind is there. */
    const onRequest = (method: "GET" | "PUT") => {
      const controller = new AbortController();
      const before = substitute.count(method);
      void until(() => substitute.count(method) > before, `a ${method}`).then(() => controller.abort(reason));
      return controller.signal;
    };
    const unanswered = await fault(storage.upload(content, { signal: onRequest("PUT") }), "aborted", /by its signal/);
    assert.equal(unanswered.paid, "maybe");
    await storage.settle(await listed(storage, content, "maybe", "intent"));

    failNext(substitute, "GET", { kind: "slow", delayMs: 9_000 });
    const unread = await fault(storage.upload(fresh(), { signal: onRequest("GET") }), "aborted", /by its signal/);
    assert.equal(unread.paid, "yes");
    assert.equal((await storage.recover()).length, 1);
  });

  for (const joins of ["before", "after"]) {
    test(`aborting an upload that waits for an equal one does not affect a third one that starts ${joins} the abort`, async () => {
      const content = fresh();
      failNext(substitute, "PUT", { kind: "slow", delayMs: 1_500 });
      const storage = storageOf(substitute);
      const leaves = new AbortController();
      const first = storage.upload(content);
      const second = storage.upload(content, { signal: leaves.signal });
      const early = joins === "before" ? storage.upload(content) : undefined;
      await until(() => substitute.count("PUT") === 1, "the first is being stored");
      leaves.abort(reason);
      assert.equal((await fault(second, "aborted", /by its signal/)).paid, "no");
      assert.deepEqual(await storage.recover(), [], "what is under way is not listed");
      const third = early ?? storage.upload(content);
      assert.equal((await first).origin, "created");
      assert.equal((await third).origin, "recovered");
      assert.equal(substitute.count("PUT"), 1);
    });
  }
});

describe("journal", () => {
  /** A store of the caller's whose n-th write fails. */
  function failingAt(n: number): UploadJournal {
    let writes = 0;
    const put = (entry: UploadEntry) => (++writes === n ? Promise.reject(new Error("disk full")) : journal.put(entry));
    return { put, get: (key) => journal.get(key), remove: (key) => journal.remove(key), list: () => journal.list() };
  }

  test("nothing is sent and nothing is returned without a record in the journal", async () => {
    const first = storageOf(substitute, { journal: failingAt(1) });
    const error = await fault(
      first.upload(fresh()),
      "journal_failed",
      /^upload journal: reading or writing the journal failed$/,
    );
    assert.equal(substitute.count("PUT"), 0);
    assert.match(String(error.cause), /disk full/);
    for (const n of [2, 3]) {
      const content = fresh();
      const storage = storageOf(substitute, { journal: failingAt(n) });
      const late = await fault(storage.upload(content), "journal_failed", /reading or writing the journal failed/);
      assert.equal(late.paid, "yes");
      assert.ok(late.blobId !== undefined && (await substitute.content(late.blobId))?.equals(content));
    }
    const states = (await first.recover()).map(({ state }) => state);
    assert.deepEqual(states, ["intent", "stored"]);
  });

  test("an expired blob is stored again, and failed attempts delete no record of a paid blob", async () => {
    const content = fresh();
    const storage = storageOf(substitute);
    const first = await storage.upload(content);
    substitute.epoch += 5;
    failNext(substitute, "PUT", { kind: "status", status: 403 });
    assert.equal((await fault(storage.upload(content), "refused", /403/)).paid, "no");
    assert.equal((await listed(storage, content, "yes", "verified")).objectId, first.objectId);
    failNext(substitute, "PUT", { kind: "status", status: 500 });
    assert.equal((await fault(storage.upload(content), "refused", /500/)).paid, "maybe");
    assert.equal((await listed(storage, content, "yes", "intent")).objectId, first.objectId);
    const again = await storage.upload(content);
    assert.equal(again.origin, "created");
    assert.equal(again.endEpoch, substitute.epoch + 5);
    const upload = await listed(storage, content, "yes", "verified");
    assert.equal(upload.objectId, again.objectId);
    assert.deepEqual(upload.earlierObjectIds, [first.objectId]);
    substitute.epoch = 1;
  });
});

/** What the child says. */
interface Line {
  readonly event: string;
  readonly recovered: readonly Record<string, unknown>[];
  readonly blobId: string;
  readonly objectId: string;
  readonly endEpoch: number;
  readonly origin: string;
  readonly grown: number;
}

/** A child process that uploads; its lines are given one by one. */
class Uploader {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #exited: Promise<unknown>;

  constructor(options: object) {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, "storage-uploader.mjs")], {
      env: { ...process.env, UPLOAD: JSON.stringify(options) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    atEnd(() => this.#child.kill("SIGKILL"));
    this.#exited = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  async line(): Promise<Line> {
    const { value, done } = await this.#lines.next();
    assert.ok(!done, "the child ended");
    return JSON.parse(value as string) as Line;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  end(): Promise<unknown> {
    return this.#exited;
  }
}

describe("kill -9", () => {
  /** Uploads in a child that is killed once the store has the blob and has not answered. */
  async function killBetween(store: DevStore) {
    const path = freshPath();
    const content = `${contents++}: a report that is uploaded and lost`;
    const options = { path, content, connection: store.connection(), deadlines: PATIENT };
    failNext(store, "PUT", { kind: "slow", delayMs: 60_000 });
    const child = new Uploader(options);
    assert.equal((await child.line()).event, "begins");
    await until(() => store.created > 0, "the blob is stored");
    await child.kill();
    return options;
  }

  test("between the upload and its answer: the journal has the upload, and a retry does not upload twice", async () => {
    const options = await killBetween(real);
    const next = new Uploader(options);
    const { recovered } = await next.line();
    assert.equal(recovered.length, 1);
    assert.equal(recovered[0]?.paid, "maybe");
    assert.equal(recovered[0]?.state, "intent");
    const result = await next.line();
    assert.equal(result.event, "uploaded");
    assert.equal(result.origin, "recovered");
    assert.equal(real.count("PUT"), 1);
    assert.equal(real.created, 1);
    await next.kill();
  });

  test("between the upload and its answer, without the encoder: a retry finds the blob at the publisher, which is paid once", async () => {
    const options = await killBetween(substitute);
    const next = new Uploader(options);
    assert.equal((await next.line()).recovered[0]?.paid, "maybe");
    assert.equal((await next.line()).origin, "certified");
    assert.equal(substitute.count("PUT"), 2);
    assert.equal(substitute.created, 1);
    await next.kill();
  });

  test("between the upload and the answer of the tool: a retry gets the same reference, and nothing is sent", async () => {
    const path = freshPath();
    const options = { path, content: `${contents++}: verified and lost`, connection: substitute.connection() };
    const child = new Uploader(options);
    await child.line();
    const uploaded = await child.line();
    await child.kill();
    const next = new Uploader({ ...options, settle: true });
    const { recovered } = await next.line();
    assert.deepEqual(
      recovered.map(({ state, paid, blobId, objectId }) => ({ state, paid, blobId, objectId })),
      [{ state: "verified", paid: "yes", blobId: uploaded.blobId, objectId: uploaded.objectId }],
    );
    assert.deepEqual(await next.line(), { ...uploaded, origin: "recovered" });
    assert.equal(substitute.count("PUT"), 1);
    await next.end();
    // Settled: nothing is left to tell.
    const last = new Uploader({ ...options, settle: true });
    assert.deepEqual((await last.line()).recovered, []);
    await last.end();
  });
});

describe("memory", () => {
  const size = 8 * MIB;
  const cases = [
    ["without the encoder", {}, false],
    // Few shards that can hold 8 MiB.
    ["with the encoder", { blobIds: "walrus", shards: 100 }, false],
    // The real networks: seconds of one core, therefore not in every run.
    ["with the encoder, 1,000 shards, bytes shared with it", { blobIds: "walrus", shards: 1_000 }, true],
  ] as const;
  for (const [name, blobIds, shared] of cases) {
    const skip = shared && process.env.SVC_TEST_FULL !== "1";
    test(`8 MiB uploaded and downloaded, ${name}: memory stays below twice the data plus 64 MiB`, {
      skip,
    }, async () => {
      const dev = await startStore(blobIds);
      const path = freshPath();
      const child = new Uploader({ path, size, shared, connection: dev.connection(), read: true, settle: true });
      await child.line();
      assert.equal((await child.line()).origin, "created");
      const { grown } = await child.line();
      await child.end();
      assert.ok(grown < 2 * size + 64 * MIB, `${(grown / MIB).toFixed(1)} MiB`);
    });
  }
});
