/** Options, defaults and limits of the storage, against a store on this machine. */

import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { connect } from "node:net";
import { beforeEach, describe, it } from "node:test";
import { backOffMs } from "#client/leader/waiting.js";
import { NexusValue } from "#client/wire/bcs/data.js";
import { sha256 } from "#client/wire/signature/hash.js";
import { BlobIdEncoder } from "#runtime/storage/blob-id.js";
import { deadlinesOf, retriesOf } from "#runtime/storage/deadline.js";
import { DevStore, substituteBlobId } from "#runtime/storage/dev/dev-store.js";
import { Endpoint } from "#runtime/storage/http/endpoint.js";
import {
  ByteBudget,
  WalrusReader,
  type WalrusReaderOptions,
  WalrusStorage,
  type WalrusStorageOptions,
} from "#runtime/storage/index.js";
import { createdAnswer, freshPath, isFault, reset, startStore } from "./storage-scene.js";
import { failNext } from "./store-faults.js";

const CONTENT = Buffer.from('"a report"');
const REFERENCE = NexusValue.walrus(substituteBlobId(CONTENT), sha256(CONTENT));

const store = await startStore();
beforeEach(() => reset(store));

const storageOf = (options: Partial<WalrusStorageOptions> = {}) =>
  new WalrusStorage({ ...store.connection(), epochs: 1, ...options });
const readerOf = (options: Partial<WalrusReaderOptions> = {}) =>
  new WalrusReader({ aggregator: { url: store.url }, ...options });

describe("time limits and attempts", () => {
  it("have these defaults", () => {
    assert.deepEqual(deadlinesOf(), { connectMs: 5_000, progressMs: 10_000, totalMs: 60_000 });
    assert.deepEqual(retriesOf(), { attempts: 3, backoffMs: 200 });
  });

  for (const [of, name, least, most] of [
    [deadlinesOf, "connectMs", 1, 2_147_483_647],
    [deadlinesOf, "progressMs", 1, 2_147_483_647],
    [deadlinesOf, "totalMs", 1, 2_147_483_647],
    [retriesOf, "attempts", 1, 10],
    [retriesOf, "backoffMs", 0, 5_000],
  ] as const) {
    it(`${name} is ${least} to ${most}`, () => {
      for (const value of [least, most]) {
        assert.equal((of({ [name]: value }) as unknown as Readonly<Record<string, number>>)[name], value);
      }
      for (const value of [least - 1, most + 1, 1.5]) {
        assert.throws(() => of({ [name]: value }), isFault("invalid_option", new RegExp(`^${name}: `)));
      }
    });
  }

  it("a pause doubles with each attempt, up to 5 s, and is shortened randomly by up to half", (t) => {
    const pauses = (backoffMs: number) => [0, 1, 2, 8].map((earlier) => backOffMs(earlier, backoffMs));
    const random = t.mock.method(Math, "random", () => 0);
    assert.deepEqual(pauses(200), [200, 400, 800, 5_000]);
    random.mock.mockImplementation(() => 1);
    assert.deepEqual(pauses(200), [100, 200, 400, 2_500]);
    assert.deepEqual(pauses(0), [0, 0, 0, 0]);
  });

  it("totalMs ends an upload and a read", async () => {
    const deadlines = { totalMs: 1 };
    await assert.rejects(storageOf({ deadlines }).upload(CONTENT), isFault("total_timeout"));
    await assert.rejects(readerOf({ deadlines }).read(REFERENCE), isFault("total_timeout"));
  });

  it("requests have this number of attempts", async () => {
    for (const attempts of [1, 2, 4]) {
      const retries = { attempts, backoffMs: 0 };
      for (const run of [
        () => storageOf({ retries }).upload(Buffer.from(`"${attempts}"`)),
        () => readerOf({ retries }).read(REFERENCE),
      ]) {
        reset(store);
        failNext(store, "GET", { kind: "status", status: 503 }, 100);
        await assert.rejects(run(), isFault("refused"));
        assert.equal(store.count("GET"), attempts);
      }
    }
  });

  it("the signal of the caller ends a read", async () => {
    const signal = AbortSignal.abort();
    await assert.rejects(readerOf().read(REFERENCE, { signal }), isFault("aborted"));
    assert.equal(store.requests.length, 0);
  });
});

describe("a storage", () => {
  it("requests the configured terms, and omits the others", async () => {
    const asked = async (options: Partial<WalrusStorageOptions>) => {
      await storageOf(options).upload(CONTENT);
      return new URL(store.requests.findLast(({ method }) => method === "PUT")?.target ?? "", store.url).search;
    };
    assert.equal(await asked({}), "?epochs=1");
    assert.equal(await asked({ epochs: 53 }), "?epochs=53");
    assert.equal(await asked({ deletable: true }), "?epochs=1&deletable=true");
    assert.equal(await asked({ deletable: false }), "?epochs=1&permanent=true");
    assert.equal(await asked({ sendObjectTo: "0x1" }), `?epochs=1&send_object_to=0x${"1".padStart(64, "0")}`);
    for (const epochs of [0, 54]) assert.throws(() => storageOf({ epochs }), isFault("invalid_option", /^epochs/));
  });

  it("maxBytes: 1 byte to 8 MiB", async () => {
    await storageOf({ maxBytes: CONTENT.length }).upload(CONTENT);
    await assert.rejects(storageOf({ maxBytes: CONTENT.length - 1 }).upload(CONTENT), isFault("invalid_upload"));
    for (const maxBytes of [1, 8_388_608]) storageOf({ maxBytes });
    for (const maxBytes of [0, 8_388_609]) assert.throws(() => storageOf({ maxBytes }), isFault("invalid_option"));
  });

  it("encoder and shards: auto with 1,000 shards by default; off does not search for an encoder, required needs one", (t) => {
    const { publisher, aggregator } = store.connection();
    const asked = t.mock.method(BlobIdEncoder, "find", () => undefined).mock;
    const make = (more: Partial<WalrusStorageOptions>) => {
      new WalrusStorage({ publisher, aggregator, epochs: 1, ...more });
    };
    make({});
    make({ encoder: "auto", shards: 10 });
    make({ encoder: "off", shards: 20 });
    assert.throws(() => make({ encoder: "required", shards: 30 }), isFault("encoder_failed"));
    const shards = asked.calls.map(({ arguments: [first] }: { arguments: readonly unknown[] }) => first);
    assert.deepEqual(shards, [1_000, 10, 30]);
    asked.restore();
    for (const allowed of [1, 65_535]) make({ shards: allowed });
    for (const refused of [0, 65_536])
      assert.throws(() => make({ shards: refused }), isFault("invalid_option", /^shards/));
  });

  it("an answer of the publisher has at most 65,536 bytes", async () => {
    const answer = JSON.stringify(createdAnswer(CONTENT));
    const upload = (bytes: number) => {
      failNext(store, "PUT", { kind: "answer", status: 200, body: answer.padEnd(bytes) });
      return storageOf({ retries: { attempts: 1 } }).upload(CONTENT);
    };
    assert.equal((await upload(65_536)).origin, "created");
    await assert.rejects(upload(65_537), isFault("answer_invalid"));
  });
});

describe("a reader", () => {
  it("budgetBytes: for each resolve; 1 byte to 8 MiB", async () => {
    await storageOf().upload(CONTENT);
    const size = CONTENT.length;
    assert.deepEqual(await readerOf({ budgetBytes: size }).read(REFERENCE), CONTENT);
    await assert.rejects(readerOf({ budgetBytes: size - 1 }).read(REFERENCE), isFault("over_budget"));
    for (const budgetBytes of [1, 8_388_608]) readerOf({ budgetBytes });
    const outside = /^budget: expected an integer from 1 to 8388608, got /;
    for (const budgetBytes of [0, 8_388_609, 1.5])
      assert.throws(() => readerOf({ budgetBytes }), isFault("invalid_option", outside));
    assert.equal(new ByteBudget().left, 8_388_608);
  });
});

describe("a request", () => {
  it("requests unencoded bytes, and removes its listeners from the caller's signal", async () => {
    const { signal } = new AbortController();
    await storageOf().upload(CONTENT, { signal });
    await readerOf().read(REFERENCE, { signal });
    assert.deepEqual(getEventListeners(signal, "abort"), []);
    assert.ok(store.requests.length >= 3);
    for (const { headers } of store.requests) assert.equal(headers["accept-encoding"], "identity");
  });

  it("has the headers that were checked, even if the given object changes", async () => {
    const headers: Record<string, string> = { Authorization: "Bearer x" };
    const endpoint = new Endpoint("publisher", { url: "https://p", headers });
    headers.Host = "other.example";
    assert.deepEqual({ ...(await endpoint.headers()) }, { Authorization: "Bearer x" });
  });
});

describe("the store for development", () => {
  it("port: this one, and any free one by default", async () => {
    const { port } = new URL(store.url);
    await assert.rejects(startStore({ port: Number(port) }), { code: "EADDRINUSE" });
  });

  it("accepts connections only from this machine", { skip: process.platform !== "linux" }, async () => {
    // Linux has the whole of 127.0.0.0/8, so a listener on every address would answer here.
    const socket = connect({ host: "127.0.0.2", port: Number(new URL(store.url).port) });
    await assert.rejects(once(socket, "connect"), { code: "ECONNREFUSED" });
  });

  it("shards: 1,000 by default, for its ids and its connection options", async (t) => {
    let asked: unknown;
    t.mock.method(BlobIdEncoder, "find", (given: unknown) => {
      asked = given;
      return {};
    });
    for (const [options, shards] of [
      [{}, undefined],
      [{ shards: 10 }, 10],
    ] as const) {
      const made = await DevStore.start({ directory: freshPath(), ...options });
      const { shards: given } = made.connection();
      await made.stop();
      assert.deepEqual([asked, given], [shards, shards ?? 1_000]);
    }
  });
});
