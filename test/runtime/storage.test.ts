import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import { join } from "node:path";
import { before, beforeEach, describe, test } from "node:test";
import { inspect } from "node:util";
import type { Worker } from "node:worker_threads";
import { decodeOutput } from "#client/wire/bcs/bcs.js";
import { encodeOutput } from "#client/wire/bcs/bcs-writer.js";
import { NexusData, NexusDataError, NexusValue } from "#client/wire/bcs/data.js";
import { DevStore, substituteBlobId } from "#runtime/storage/dev/dev-store.js";
import {
  BlobIdEncoder,
  ByteBudget,
  type EndpointOptions,
  FileJournal,
  MAX_UPLOAD_BYTES,
  WalrusReader,
  WalrusStorage,
  type WalrusStorageOptions,
} from "#runtime/storage/index.js";
import { proves } from "../proves.js";
import { makeCertificate } from "./certificate.js";
import { createdAnswer, fault, freshPath, isFault, reset, startStore } from "./storage-scene.js";
import { failNext } from "./store-faults.js";

const SECRET = "Bearer canary-7f3a";
/** Few shards: real ids of a small network, in milliseconds. */
const SHARDS = 10;

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
const text = (content: string) => Buffer.from(JSON.stringify(content));
const freshJournal = () => FileJournal.open(freshPath());
/** Makes the publisher answer the next upload. */
const answerNext = (body: object) =>
  failNext(store, "PUT", { kind: "answer", status: 200, body: JSON.stringify(body) });

/** With real ids, for which three threads are started for each upload. */
const real = await startStore({ blobIds: "walrus", shards: SHARDS });
const store = await startStore();

function storageOf(dev: DevStore, options: Partial<WalrusStorageOptions> = {}): WalrusStorage {
  return new WalrusStorage({ ...dev.connection(), epochs: 5, ...options });
}

beforeEach(() => reset(store));

describe("upload", () => {
  test("stores, verifies and returns the reference", async () => {
    const content = text("a report");
    const blob = await storageOf(real, { sendObjectTo: "0xabc", deletable: false }).upload(content);
    assert.equal(blob.size, content.length);
    assert.deepEqual(Buffer.from(blob.sha256), sha256(content));
    assert.equal(blob.endEpoch, 6);
    assert.equal(blob.deletable, false);
    assert.equal(blob.owner, `0x${"abc".padStart(64, "0")}`);
    assert.match(blob.objectId ?? "", /^0x[0-9a-f]{64}$/);
    assert.equal(blob.origin, "created");
    assert.equal(blob.encoderChecked, true);
    assert.deepEqual(await real.content(blob.blobId), content);
    assert.equal(
      real.requests.find(({ method }) => method === "PUT")?.target,
      `/v1/blobs?epochs=5&send_object_to=${blob.owner}&permanent=true`,
    );

    assert.deepEqual(blob.nexusData().toBcs(), NexusData.one(NexusValue.walrus(blob.blobId, sha256(content))).toBcs());
    assert.equal(blob.nexusValue().size, content.length);
    proves("3.10");
  });

  test("content that is already stored is not paid for again", async () => {
    const content = text("twice");
    const storage = storageOf(store, { deletable: false });
    const first = await storage.upload(content);
    const { created } = store;
    const second = await storage.upload(content);
    assert.equal(second.origin, "certified");
    assert.equal(second.blobId, first.blobId);
    assert.equal(second.endEpoch, first.endEpoch);
    assert.equal(store.created, created);
    // An alreadyCertified that names an object: the publisher's own deletable blob.
    const deletable = storageOf(store, { deletable: true });
    const made = await deletable.upload(text("deletable"));
    assert.equal((await deletable.upload(text("deletable"))).objectId, made.objectId);
  });

  test("sizes and epochs: exactly at the limit and one over", async () => {
    const substitute = await startStore();
    const storage = storageOf(substitute);
    const content = randomBytes(MAX_UPLOAD_BYTES + 1);
    const blob = await storage.upload(content.subarray(1));
    assert.equal(blob.size, 8_388_608);
    assert.equal(blob.blobId, substituteBlobId(content.subarray(1)));
    assert.equal(blob.encoderChecked, false);
    await fault(storage.upload(content), "invalid_upload", /^upload: expected 1 to 8388608 bytes, got 8388609$/);
    await fault(storage.upload(Buffer.alloc(0)), "invalid_upload", /got 0$/);
    await fault(storage.upload("text" as unknown as Uint8Array), "invalid_upload", /^upload: expected bytes$/);
    assert.equal(substitute.count("PUT"), 1);
    assert.throws(() => storageOf(substitute, { sendObjectTo: "alice" }), isFault("invalid_option", /^sendObjectTo/));
  });

  test("equal content uploaded at the same time is sent once", async () => {
    const journal = await freshJournal();
    const storage = storageOf(store, { journal });
    const blobs = await Promise.all(Array.from({ length: 4 }, () => storage.upload(text("same"))));
    assert.equal(store.count("PUT"), 1);
    assert.deepEqual(blobs.map(({ origin }) => origin).sort(), ["created", "recovered", "recovered", "recovered"]);
  });

  test("the journal entry of an upload with other terms is not returned", async () => {
    const journal = await freshJournal();
    const content = text("terms");
    const terms = [{ deletable: true }, { deletable: false }, {}, { epochs: 6 }, { sendObjectTo: "0xabc" }];
    const keys = new Set<string>();
    for (const options of terms) {
      const { origin, key } = await storageOf(store, { journal, ...options }).upload(content);
      assert.notEqual(origin, "recovered", JSON.stringify(options));
      keys.add(key);
    }
    assert.equal(keys.size, terms.length);
  });

  test("a deletable blob is not returned for a permanent upload, even after retries", async () => {
    const journal = await freshJournal();
    const content = text("permanent");
    const blobId = substituteBlobId(content);
    await storageOf(store, { deletable: true }).upload(content);
    answerNext(createdAnswer(content));
    const permanent = storageOf(store, { deletable: false, journal });
    for (const attempt of ["first", "second"]) {
      const error = await fault(permanent.upload(content), "answer_invalid", /expected the requested kind of blob/);
      assert.deepEqual([error.paid, error.blobId], ["yes", blobId], attempt);
    }
    const [left] = await permanent.recover();
    assert.ok(left !== undefined);
    await permanent.settle(left);
    assert.equal((await permanent.upload(content)).origin, "certified", "asked for anew");
  });

  test("every object bought for the same content stays listed", async () => {
    const journal = await freshJournal();
    const storage = storageOf(store, { journal, retries: { attempts: 1 } });
    const content = text("bought");
    const objects = ["1", "2", "3"].map((digit) => `0x${digit.repeat(64)}`);
    for (const [bought, id] of objects.entries()) {
      answerNext(createdAnswer(content, { id }));
      // The blob is not found at the aggregator: after the upload, and at the next one before it.
      failNext(store, "GET", { kind: "status", status: 404 }, bought === 0 ? 1 : 2);
      await fault(storage.upload(content), "not_found");
    }
    const [left] = await storage.recover();
    assert.deepEqual([left?.earlierObjectIds, left?.objectId], [objects.slice(0, 2), objects[2]]);
  });

  test("an answer that violates the publisher's interface is refused", async () => {
    const id = randomBytes(32).toString("base64url");
    const created = (change: object) => createdAnswer(Buffer.from("1234"), change);
    const answers: [unknown, RegExp][] = [
      ["nonsense", /expected the answer as JSON/],
      [[], /expected the answer as an object/],
      [{}, /exactly one of `newlyCreated` and `alreadyCertified`/],
      [{ ...created({}), alreadyCertified: { blobId: id, endEpoch: 9 } }, /exactly one of/],
      [{ markedInvalid: { blobId: id } }, /exactly one of/],
      [{ error: { blobId: id, errorMsg: "canary" } }, /exactly one of/],
      [{ newlyCreated: {} }, /newlyCreated: expected blobObject as an object/],
      [created({ blobId: `${id}=` }), /newlyCreated: expected `blobId` as base64url of 32 bytes/],
      [created({ blobId: 7 }), /`blobId`/],
      [created({ id: "0x12" }), /the object's id as `0x` and 64 hex digits/],
      [created({ size: -1 }), /`size` as an integer/],
      [created({ size: 5 }), /expected the answer to name 4 bytes, got another size/],
      [created({ storage: { endEpoch: "6" } }), /`endEpoch` as an integer/],
      [created({ deletable: "yes" }), /`deletable` as true or false/],
      [{ alreadyCertified: { blobId: id } }, /alreadyCertified: expected `endEpoch`/],
    ];
    const storage = storageOf(store);
    for (const [answer, message] of answers) {
      const body = typeof answer === "string" ? answer : JSON.stringify(answer);
      failNext(store, "PUT", { kind: "answer", status: 200, body });
      await fault(storage.upload(Buffer.from("1234")), "answer_invalid", message);
    }
    failNext(store, "PUT", { kind: "answer", status: 200, body: Buffer.of(0xff) });
    await fault(storage.upload(Buffer.from("1234")), "answer_invalid");
  });
});

describe("endpoints", () => {
  const good = { epochs: 1, publisher: { url: "https://p" }, aggregator: { url: "https://a" } };
  test("accept only plausible configurations", () => {
    const refused: [EndpointOptions, RegExp][] = [
      [{ url: "nonsense" }, /url: expected an absolute URL/],
      [{ url: "ftp://p" }, /expected the scheme https or http/],
      [{ url: "file:///etc/passwd" }, /expected the scheme https or http/],
      [{ url: "https://canary:canary@p" }, /no user name and no password/],
      [{ url: "https://canary@p" }, /no user name and no password/],
      [{ url: "https://p?token=canary" }, /no query and no fragment/],
      [{ url: "https://p?" }, /no query and no fragment/],
      [{ url: "https://p#canary" }, /no query and no fragment/],
      ...["p", "127.example.org", "127.0.0.1.example.org", "localhost.example.org"].map(
        (host): [EndpointOptions, RegExp] => [
          { url: `http://${host}`, headers: { Authorization: "canary" } },
          /expected https, because `headers` would be sent/,
        ],
      ),
      [
        { url: "https://p", headers: { Authorization: "canary\r\nX: y" } },
        /headers: expected valid HTTP names and values/,
      ],
      [{ url: "https://p", headers: { "Content-Length": "canary" } }, /headers: expected valid HTTP names and values/],
      [{ url: "https://p", headers: { Host: "canary" } }, /without headers that the storage sets itself/],
    ];
    for (const [options, message] of refused) {
      assert.throws(() => new WalrusStorage({ ...good, publisher: options }), isFault("invalid_option", message));
      assert.throws(() => new WalrusStorage({ ...good, aggregator: options }), isFault("invalid_option", message));
      assert.throws(() => new WalrusReader({ aggregator: options }), isFault("invalid_option", message));
    }
    for (const url of ["http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1", "https://p/prefix/"]) {
      new WalrusReader({ aggregator: { url, headers: { Authorization: "x" } } });
    }
    new WalrusReader({ aggregator: { url: "http://mesh", headers: { Authorization: "x" }, plaintextHeaders: true } });
  });

  test("the publisher's credentials are sent only to the publisher, and never printed", async () => {
    const guarded = await startStore({ authorization: SECRET });
    const publisher = { url: `${guarded.url}/`, headers: { Authorization: SECRET } };
    const aggregator = { url: guarded.url, headers: { "X-Api-Key": "canary-key" } };
    const storage = storageOf(guarded, { publisher, aggregator });
    await storage.upload(text("guarded"));
    const [put, ...gets] = guarded.requests;
    assert.equal(put?.headers.authorization, SECRET);
    assert.equal(put?.headers["x-api-key"], undefined);
    assert.ok(gets.length > 0);
    for (const get of gets) {
      assert.equal(get.headers.authorization, undefined);
      assert.equal(get.headers["x-api-key"], "canary-key");
    }
    for (const value of [storage, new WalrusReader({ aggregator })]) {
      assert.doesNotMatch(inspect(value, { depth: 9, showHidden: true }), /canary/);
      assert.doesNotMatch(JSON.stringify(value), /canary/);
    }
    const wrong = storageOf(guarded, { publisher: { url: guarded.url, headers: { Authorization: "canary-wrong" } } });
    const error = await fault(wrong.upload(text("no")), "refused", /^publisher: answered 401, expected 200$/);
    assert.equal(error.paid, "no");
    assert.equal(error.status, 401);
  });

  test("credentials may be created for each request", async () => {
    const guarded = await startStore({ authorization: SECRET });
    let made = 0;
    const headers = async () => {
      made++;
      return { Authorization: SECRET };
    };
    failNext(guarded, "PUT", { kind: "status", status: 429 });
    await storageOf(guarded, { publisher: { url: guarded.url, headers } }).upload(text("made"));
    assert.equal(made, 2);
    const bad = storageOf(guarded, { publisher: { url: guarded.url, headers: () => ({ Authorization: "canary\n" }) } });
    await fault(bad.upload(text("bad")), "invalid_option");
  });

  test("no redirect is followed", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const body = "canary";
      const headers = { Location: "http://127.0.0.1:1/canary" };
      failNext(store, "PUT", { kind: "answer", status, headers, body });
      const error = await fault(storageOf(store).upload(text("there")), "redirected", /redirects are not followed/);
      assert.equal(error.paid, "no");
    }
    assert.equal(store.count("PUT"), 5);
    const blob = await storageOf(store).upload(text("here"));
    failNext(store, "GET", { kind: "answer", status: 302, headers: { Location: store.url }, body: "canary" });
    await fault(new WalrusReader({ aggregator: { url: store.url } }).read(blob.nexusValue()), "redirected");
    assert.equal(store.count("GET"), 2);
  });

  test("https: the certificate is verified, against the operator's `ca` if set", async () => {
    const content = text("over tls");
    const { cert: ca, key } = makeCertificate();
    const server = createServer({ key, cert: ca }, (_, response) => response.end(content));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(server.address() as { port: number }).port}`;
    const value = NexusValue.walrus(randomBytes(32).toString("base64url"), sha256(content));
    try {
      const headers = { Authorization: SECRET };
      assert.deepEqual(await new WalrusReader({ aggregator: { url, ca, headers } }).read(value), content);
      const trusting = new WalrusReader({ aggregator: { url, headers }, retries: { attempts: 1 } });
      await fault(trusting.read(value), "connection_failed", /\(DEPTH_ZERO_SELF_SIGNED_CERT\)$/);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  test("a path prefix is kept", async () => {
    const storage = storageOf(store, { publisher: { url: `${store.url}/walrus/` }, retries: { attempts: 1 } });
    await fault(storage.upload(text("prefix")), "refused");
    assert.equal(store.requests[0]?.target, "/walrus/v1/blobs?epochs=5");
  });
});

describe("reader", () => {
  let storage: WalrusStorage;
  let reader: WalrusReader;
  before(() => {
    storage = storageOf(store);
    reader = new WalrusReader({ aggregator: { url: store.url } });
  });

  test("resolves values in their order, verified", async () => {
    const one = await storage.upload(text("one"));
    const two = await storage.upload(text("two"));
    const object = NexusValue.object("0x7");
    const values = [NexusValue.json('"here"'), two.nexusValue(), one.nexusValue()];
    assert.deepEqual(await reader.resolve([object]), [{ kind: "object", id: object.id }]);
    const resolved = await reader.resolve(values);
    assert.deepEqual(
      resolved.map((value) => value.kind === "data" && [Buffer.from(value.bytes).toString(), value.stored]),
      [
        ['"here"', false],
        ['"two"', true],
        ['"one"', true],
      ],
    );
    // As a leader has them: decoded from the bytes of a result, sizes unknown.
    const output = encodeOutput({ tag: "ok", ports: [{ name: "report", values: [one.nexusValue()] }] });
    const [port] = decodeOutput(output).ports;
    const [value] = await reader.resolve(port?.values ?? []);
    assert.deepEqual(value, { kind: "data", bytes: text("one"), stored: true });
    assert.deepEqual(await reader.read(one.nexusValue()), text("one"));
  });

  test("one budget for all values: exactly at and one over", async () => {
    const blob = await storage.upload(text("12345678")); // 10 bytes
    const { blobId, sha256: digest } = blob;
    const unknownSize = NexusValue.walrus(blobId, digest);
    const object = NexusValue.object("1");
    const inline = NexusValue.json('"ab"'); // 4 bytes
    const values = [object, inline, unknownSize, unknownSize]; // 32 + 4 + 10 + 10
    await reader.resolve(values, { budget: new ByteBudget(56) });
    await fault(reader.resolve(values, { budget: new ByteBudget(55) }), "over_budget", /at most 9 bytes, got more/);
    // Known to be too much: nothing is fetched.
    store.requests.length = 0;
    const known = [object, inline, blob.nexusValue(), blob.nexusValue()];
    await fault(
      reader.resolve(known, { budget: new ByteBudget(55) }),
      "over_budget",
      /at most 55 bytes over all ports$/,
    );
    assert.equal(store.requests.length, 0);
    // Shared by several calls.
    const budget = new ByteBudget(56);
    await reader.resolve([object, inline], { budget });
    await reader.resolve([unknownSize], { budget });
    await reader.resolve([unknownSize], { budget });
    assert.equal(budget.left, 0);
    await fault(
      reader.resolve([NexusValue.json("1")], { budget }),
      "over_budget",
      /at most 56 bytes.*, of which 0 are left/,
    );
  });

  test("8 MiB over all ports: at and one over; an object counts 32 bytes", async () => {
    const substitute = await startStore();
    const content = randomBytes(MAX_UPLOAD_BYTES - 32);
    const blob = await storageOf(substitute).upload(content);
    const large = new WalrusReader({ aggregator: { url: substitute.url } });
    const stored = NexusValue.walrus(blob.blobId, blob.sha256);
    const resolved = await large.resolve([NexusValue.object("1"), stored]);
    assert.equal(resolved[1]?.kind === "data" && resolved[1].bytes.length, 8_388_576);
    await fault(large.resolve([NexusValue.object("1"), NexusValue.json("1"), stored]), "over_budget");
    await fault(large.resolve([stored], { budget: new ByteBudget(8_388_575) }), "over_budget");
    proves("1.13");
  });

  test("only content with the digest is accepted, and no id names another path", async () => {
    const content = text("digest");
    const { blobId, sha256: digest } = await storage.upload(content);
    await fault(
      reader.read(NexusValue.walrus(blobId, sha256(text("other")))),
      "content_mismatch",
      /with this digest, got other content/,
    );
    await assert.rejects(
      reader.resolve([{ kind: "walrus", blobId: Buffer.from(`../../${"x".repeat(37)}`), contentDigest: digest }]),
      NexusDataError,
    );
    assert.ok(!store.requests.some(({ target }) => target.includes("..")));
  });
});

describe("encoder", () => {
  test("returns the recorded ids, for few shards", async () => {
    const id = await BlobIdEncoder.find(SHARDS)?.compute(
      Buffer.from("some other string"),
      new AbortController().signal,
    );
    assert.equal(id, "SOXf9RHkBueSe_TPBBL-o3dzbxBNhDNzf1W5zplXmdc");
  });

  // Seconds of one core, therefore not in every run.
  test("returns the id in Walrus's documentation for its example", {
    skip: process.env.SVC_TEST_FULL !== "1",
  }, async () => {
    const encoder = BlobIdEncoder.find();
    assert.ok(encoder, "@mysten/walrus-wasm is installed here");
    const id = await encoder.compute(Buffer.from("some other string"), new AbortController().signal);
    assert.equal(id, "M4hsZGQ1oCktdzegB6HnI6Mi28S2nqOPHxK-W7_4BUk");
  });

  // Node 20 crashes when a thread ends while V8 compiles its WebAssembly in the background.
  test("uses no threads: neither for an id, a failure nor an abort", async (t) => {
    const threads: Worker[] = [];
    const onWorker = (worker: Worker) => threads.push(worker);
    process.on("worker", onWorker);
    t.after(() => process.off("worker", onWorker));
    const encoder = BlobIdEncoder.find(SHARDS) ?? assert.fail("@mysten/walrus-wasm is not installed");
    await encoder.check();
    await encoder.compute(Buffer.from("x"), new AbortController().signal);
    await assert.rejects(encoder.compute(new Uint8Array(8_388_608), new AbortController().signal));
    await assert.rejects(encoder.compute(Buffer.from("x"), AbortSignal.timeout(1)));
    assert.equal(threads.length, 0);
  });

  test("ends at its signal, and refuses content that it cannot encode", async () => {
    const encoder = BlobIdEncoder.find();
    const controller = new AbortController();
    const computing = encoder?.compute(Buffer.from("x"), controller.signal) ?? Promise.resolve();
    setTimeout(() => controller.abort(new Error("enough")), 50);
    await assert.rejects(computing, /enough/);
    const tiny = BlobIdEncoder.find(7)?.compute(new Uint8Array(8_388_608), new AbortController().signal);
    await fault(tiny ?? Promise.resolve(), "encoder_failed", /no blob id for 8388608 bytes/);
  });
});

describe("dev store", () => {
  test("keeps its blobs across a restart, and expires them", async () => {
    const options = { directory: freshPath(), blobIds: "substitute" } as const;
    const first = await DevStore.start(options);
    const blob = await storageOf(first, { epochs: 1 }).upload(text("kept"));
    await first.stop();
    const second = await DevStore.start(options);
    const reader = new WalrusReader({ aggregator: { url: second.url } });
    assert.deepEqual(await reader.read(blob.nexusValue()), text("kept"));
    second.epoch = 2;
    await fault(reader.read(blob.nexusValue()), "not_found");
    await second.stop();
    assert.deepEqual(await readFile(join(options.directory, blob.blobId)), text("kept"));
  });

  test("answers like the real interface", async () => {
    const put = (query: string) => fetch(`${real.url}/v1/blobs${query}`, { method: "PUT", body: "x" });
    assert.equal((await put("?epochs=54")).status, 400);
    assert.equal((await put("?epochs=1&unknown=1")).status, 400);
    assert.equal((await put("?deletable=true&permanent=true")).status, 400);
    const missing = await fetch(`${real.url}/v1/blobs/${randomBytes(32).toString("base64url")}`);
    assert.equal(missing.status, 404);
    assert.equal(((await missing.json()) as { error: { code: number } }).error.code, 404);
    assert.equal((await fetch(`${real.url}/v1/blobs/nonsense`)).status, 400);
  });
});
