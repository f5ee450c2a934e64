/** Results that refer to stored data: from an upload in a tool to a leader that reads it, over signed HTTP. */

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import type { Codec } from "#client/wire/codec/contract.js";
import { type DataRef, NexusData, NexusValue, OffchainToolOutput, portJson, WireFault } from "#runtime/index.js";
import { JsonText, LeaderClient, type LeaderOptions, type Receipt, readReceipt } from "#runtime/leader.js";
import {
  ByteBudget,
  FileJournal,
  type UploadJournal,
  WalrusReader,
  WalrusStorage,
  type WalrusStorageOptions,
} from "#runtime/storage/index.js";
import { atEnd } from "../teardown.js";
import { failureOf } from "./leader-scene.js";
import { RawConnection } from "./raw.js";
import { freshPath, reset, startStore } from "./storage-scene.js";
import { failNext } from "./store-faults.js";
import {
  alice,
  type Behaviour,
  bytes,
  type CountingTool,
  countingTool,
  gate,
  many,
  one,
  serveFor,
  serveSigned,
  signedCall,
  signerOf,
  TOOL_KEY,
  until,
} from "./tools.js";

const MIB = 1_048_576;
const REPORT: Codec = {
  kind: "object",
  members: [
    { name: "title", codec: { kind: "string" } },
    { name: "size", codec: { kind: "bigint" } },
    { name: "note", optional: true, codec: { kind: "string" } },
  ],
};
const OUTPUT = [
  {
    name: "ok",
    ports: [
      one("summary", { kind: "string" }),
      { ...one("report", REPORT), held: true },
      { ...many("parts", { kind: "string" }), held: true },
    ],
  },
];

const store = await startStore();
const reader = new WalrusReader({ aggregator: { url: store.url } });
let journal: FileJournal;
let storage: WalrusStorage;

beforeEach(async () => {
  reset(store);
  journal = await FileJournal.open(freshPath());
  storage = storageOf({ journal });
});

function storageOf(options: Partial<WalrusStorageOptions>): WalrusStorage {
  const deadlines = { connectMs: 60_000, progressMs: 60_000, totalMs: 120_000 };
  const retries = { attempts: 2, backoffMs: 10 };
  return new WalrusStorage({ ...store.connection(), epochs: 2, deletable: false, deadlines, retries, ...options });
}

/** A tool class as the compiler sees it where it is written. */
interface Render {
  fqn(): string;
  readonly prototype: {
    readonly __io: { readonly output: { ok: { report: DataRef<{ title: string; size: bigint; note?: string }> } } };
  };
}
const asRender = ({ class: served }: CountingTool) => served as unknown as Render;

const tool = (invoke: Behaviour["invoke"], more: Behaviour = {}) =>
  countingTool({ output: OUTPUT, ...(invoke && { invoke }), ...more });

const keys = { leader: signerOf(alice), toolKey: TOOL_KEY };

async function connect(
  served: CountingTool,
  url: string,
  options: LeaderOptions = { ...keys, reader },
): Promise<LeaderClient> {
  const client = await LeaderClient.connect(`${url}${served.target.replace(/\/invoke$/, "")}`, options);
  atEnd(() => client.destroy());
  return client;
}

const nothingListed = async () => (await storage.recover()).length === 0;

let serial = 0;
/** A report that was not stored before. Its members stand in another order than in the schema. */
const fresh = () => ({ size: 2n ** 60n, title: `report ${serial++}` });

describe("a result that refers to stored data", () => {
  test("is signed with its references; the leader reads the stored data and passes it on", async () => {
    const report = fresh();
    const render: CountingTool = tool(async () => {
      const stored = await storage.upload(portJson(asRender(render), "ok", "report", report));
      const part = await storage.uploadJson("a stored part");
      return { ok: { summary: "short", report: stored, parts: ["inline", part, part] } };
    });
    const check = countingTool({
      path: "check",
      input: [one("report", REPORT), many("parts")],
      invoke: () => ({ ok: { value: 1 } }),
    });
    const { url } = await serveSigned([render, check]);
    const client = await connect(render, url);
    const result = await client.invoke({ value: 1 });
    assert.equal(result.signature, "verified");
    assert.equal(result.value.summary, "short");
    const puts = store.count("PUT");
    assert.equal(puts, 2);

    const { tag, value, texts } = await client.resolve(result);
    assert.equal(tag, "ok");
    assert.deepEqual(value, {
      summary: "short",
      report: { title: report.title, size: 2n ** 60n, note: null },
      parts: ["inline", "a stored part", "a stored part"],
    });
    // In schema order, whatever order the object had; absent is null.
    assert.equal(
      (texts.report as JsonText).bytes.toString(),
      `{"title":${JSON.stringify(report.title)},"size":${2n ** 60n},"note":null}`,
    );
    assert.deepEqual(
      (texts.parts as JsonText[]).map((text) => text.bytes.toString()),
      ['"inline"', '"a stored part"', '"a stored part"'],
    );

    const next = await connect(check, url);
    const { report: passed, parts } = texts;
    assert.equal((await next.invoke({ report: passed, parts })).signature, "verified");
    assert.deepEqual(check.calls.inputs[0], {
      report: { title: report.title, size: 2n ** 60n },
      parts: ["inline", "a stored part", "a stored part"],
    });
  });

  test("a value of 8 MiB reaches a tool as bytes; one byte more is refused", async () => {
    const read = countingTool({
      path: "read",
      input: [one("text", { kind: "string" })],
      invoke: ({ text }) => ({ ok: { value: (text as string).length } }),
    });
    const { url } = await serveSigned([read]);
    const next = await connect(read, url);
    const full = new JsonText(Buffer.from(`"${"x".repeat(8 * MIB - 2)}"`));
    assert.deepEqual((await next.invoke({ text: full })).value, { value: 8 * MIB - 2 });
    const over = new JsonText(Buffer.from(`"${"x".repeat(8 * MIB - 1)}"`));
    await assert.rejects(next.invoke({ text: over }), {
      status: 422,
      code: "input_deserialization_error",
      details: "ports[0].value.one: the input is over the budget of 8388608 bytes",
    });
  });

  test("a value that fits is returned inline instead of as a reference", async () => {
    const report: DataRef<object> = fresh();
    const render = tool(() => ({ ok: { summary: "short", report, parts: ["a"] } }));
    const { url } = await serveSigned([render]);
    const client = await connect(render, url);
    const result = await client.invoke({ value: 1 });
    assert.deepEqual((await client.resolve(result)).value, result.value);
    assert.equal(store.requests.length, 0);
    // Nothing to fetch: no reader is needed.
    const plain = await connect(render, url, {});
    assert.deepEqual((await plain.resolve(result)).value, result.value);
  });

  test("resolve: no reader, content that is not JSON, content that has changed", async () => {
    const blob = await storage.upload(Buffer.from("no JSON"));
    const render = tool(() => ({ ok: { summary: "", report: blob, parts: ["a"] } }));
    const { url } = await serveSigned([render]);
    const client = await connect(render, url);
    const result = await client.invoke({ value: 1 });
    const plain = await connect(render, url, {});
    await assert.rejects(plain.resolve(result), {
      name: "TypeError",
      message: /^resolve: the result refers to stored values: create the client with `reader/,
    });
    const { code, message } = await failureOf(client.resolve(result));
    assert.equal(code, "invalid_answer");
    assert.match(message, /"report": the stored value is not JSON: expected a value at byte 1$/);
    failNext(store, "GET", { kind: "wrong-bytes" });
    await assert.rejects(client.resolve(result), { name: "StorageError", code: "content_mismatch" });
    await assert.rejects(client.resolve(result, { budget: new ByteBudget(5) }), { code: "over_budget" });
  });
});

describe("the journal and the answer", () => {
  for (const [name, more] of [
    ["the reference itself", {}],
    [
      "explicit ports",
      {
        encodeOutput: (output: unknown) => {
          const { report } = (output as { ok: { report: { nexusData(): NexusData } } }).ok;
          return OffchainToolOutput.fromPorts("ok", [
            ["summary", NexusData.one(NexusValue.json('""'))],
            ["report", report.nexusData()],
            ["parts", NexusData.one(NexusValue.json('"a"'))],
          ]);
        },
      },
    ],
  ] as const) {
    test(`an upload is settled after the answer was sent: ${name}`, async () => {
      const render = tool(async () => {
        const report = await storage.uploadJson(fresh());
        assert.equal((await storage.recover()).length, 1, "not before");
        return { ok: { summary: "", report, parts: ["a"] } };
      }, more);
      const server = await serveSigned([render]);
      const client = await connect(render, server.url);
      await client.invoke({ value: 1 });
      await until(nothingListed, "the upload is settled");
    });
  }

  test("a caller that disconnected before: not settled, and the retry's answer is the same", async () => {
    const leaving = gate();
    let blobId = "";
    const render = tool(async () => {
      const report = await storage.uploadJson(fresh());
      blobId = report.blobId;
      await leaving.promise;
      return { ok: { summary: "", report, parts: ["a"] } };
    });
    const { url } = await serveSigned([render]);
    const call = signedCall(render, { value: bytes("1") });
    const connection = await RawConnection.open(url);
    connection.send(call.text());
    await until(() => blobId !== "", "an upload");
    connection.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    leaving.open();
    const retry = async () => {
      const { status } = await call.send(url);
      return status === 200;
    };
    await until(retry, "an answer to a retry");
    assert.equal(render.calls.invoked, 1);
    assert.deepEqual(
      (await storage.recover()).map((upload) => upload.blobId),
      [blobId],
    );
  });

  test("a result that cannot be encoded is not returned: an unsigned error, and the upload stays listed", async () => {
    const render = tool(async () => ({
      ok: { summary: 7, report: await storage.uploadJson(fresh()), parts: ["a"] },
    }));
    const { url } = await serveSigned([render]);
    const response = await signedCall(render, { value: bytes("1") }).send(url);
    assert.equal(response.status, 500);
    assert.match(response.body.toString(), /"ok\.summary: expected a string, got a number"/);
    assert.equal(response.headers.get("x-svc-tool-signature"), undefined);
    assert.equal((await storage.recover())[0]?.state, "verified");
  });

  test("after the deadline: 504, and the upload stays listed", async () => {
    const render = tool(
      async (_input, { signal }) => {
        const report = await storage.uploadJson(fresh());
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return { ok: { summary: "", report, parts: ["a"] } };
      },
      { timeout: 400 },
    );
    const { url } = await serveSigned([render]);
    assert.equal((await signedCall(render, { value: bytes("1") }).send(url)).status, 504);
    await until(async () => (await storage.recover())[0]?.state === "verified", "the upload is listed");
  });

  test("a journal that fails or hangs while settling is logged; the answer is sent and a shutdown continues", async () => {
    const failing: UploadJournal = {
      get: (key) => journal.get(key),
      put: (entry) => journal.put(entry),
      list: () => journal.list(),
      remove: () => Promise.reject(new Error("disk full")),
    };
    const render = tool(async () => ({
      ok: { summary: "", report: await storageOf({ journal: failing }).uploadJson(fresh()), parts: ["a"] },
    }));
    const server = await serveSigned([render]);
    assert.equal((await signedCall(render, { value: bytes("1") }).send(server.url)).status, 200);
    const warned = () =>
      server.log.some(({ message }) =>
        message.startsWith("removing an upload from the journal failed after the result was sent"),
      );
    await until(warned, "a warning");
    assert.equal((await storage.recover()).length, 1);
    await server.close();
  });

  test("the callback of a returned value gets the receipt that the leader gets", async () => {
    const got = gate<Receipt | undefined>();
    const reference = {
      nexusValue: () => NexusValue.walrus("A".repeat(43), Buffer.alloc(32, 1), 5, (receipt) => got.open(receipt)),
    };
    const render = tool(async () => ({ ok: { summary: "", report: reference, parts: ["a"] } }));
    const server = await serveSigned([render]);
    const client = await connect(render, server.url);
    const mine = (await client.invoke({ value: 1 })).receipt();
    const theirs = await got.promise;
    assert.deepEqual({ ...theirs, time: "" }, { ...mine, time: "" });
    assert.equal(readReceipt(JSON.stringify(theirs), { toolKey: TOOL_KEY }).leader.id, alice.id);
  });

  test("a shutdown waits until returned values are settled", async () => {
    let removed = false;
    const settling = gate();
    const slow: UploadJournal = {
      get: (key) => journal.get(key),
      put: (entry) => journal.put(entry),
      list: () => journal.list(),
      remove: async (key) => {
        await settling.promise;
        await journal.remove(key);
        removed = true;
      },
    };
    const render = tool(async () => ({
      ok: { summary: "", report: await storageOf({ journal: slow }).uploadJson(fresh()), parts: ["a"] },
    }));
    const server = await serveSigned([render]);
    assert.equal((await signedCall(render, { value: bytes("1") }).send(server.url)).status, 200);
    assert.equal(removed, false);
    const closed = server.close();
    assert.equal(removed, false);
    settling.open();
    await closed;
    assert.equal(removed, true);
  });
});

describe("portJson and uploadJson", () => {
  test("a value that does not fit its port is detected before anything is sent", async () => {
    const render = tool(() => undefined);
    assert.throws(
      () => portJson(asRender(render), "ok", "report", { title: "x", size: 1 as unknown as bigint }),
      (error: unknown) =>
        error instanceof WireFault && error.details === "ok.report.size: expected a bigint, got a number",
    );
    const stranger = { ...asRender(render), fqn: () => "xyz.test.stranger@1" };
    assert.throws(() => portJson(stranger, "ok", "report", fresh()), {
      name: "TypeError",
      message: "xyz.test.stranger@1 has no contract: run svc-gen and pass its contracts to provideContracts",
    });
    await assert.rejects(storage.uploadJson({ a: [1, () => 1] }), {
      name: "StorageError",
      code: "invalid_upload",
      message: "upload: a[1]: expected a JSON value, got a function",
    });
    await assert.rejects(storage.uploadJson(undefined), { code: "invalid_upload" });
    assert.equal(store.requests.length, 0);
    const blob = await storage.uploadJson({ n: 2n ** 63n, at: new Date(0), bytes: Uint8Array.of(1) });
    const content = '{"n":9223372036854775808,"at":"1970-01-01T00:00:00.000Z","bytes":"AQ=="}';
    assert.equal((await store.content(blob.blobId))?.toString(), content);
  });

  test("unsigned calls return references as BCS, even when the caller accepts JSON", async () => {
    const render = tool(async () => ({
      ok: { summary: "", report: await storage.uploadJson(fresh()), parts: ["a"] },
    }));
    const { url } = await serveFor([render]);
    const client = await connect(render, url, { reader });
    const result = await client.invokeUnsigned({ value: 1 });
    assert.match((await client.resolve(result)).value.summary as string, /^$/);
    await until(nothingListed, "the upload is settled");
    const answer = await fetch(`${url}/tool/invoke`, {
      method: "POST",
      headers: { accept: "application/json" },
      body: '{"value":1}',
    });
    assert.equal(answer.headers.get("content-type"), "application/vnd.nexus.canonical-tool-response+bcs");
  });
});
