/** Signatures on threads: the verdicts and bytes of the engine itself, whatever becomes of the threads. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { CryptoThreads } from "#runtime/server/threads/crypto-threads.js";
import { loadSodiumEngine, prepareSigningKey, prepareVerifyKey, selectEngine } from "#runtime/wire/ed25519.js";
import type { EngineName } from "#runtime/wire/ed25519-keys.js";
import { expectError } from "./raw.js";
import { bob, countingTool, echoCall, echoed, expectResult, keptLog, type LogEntry, serveSigned } from "./tools.js";

interface VectorFile {
  cases: { id: string; public_key: string; message: string; signature: string; verify_strict: boolean }[];
}

const vectors = (JSON.parse(readFileSync("test/vectors/ed25519.json", "utf8")) as VectorFile).cases.filter(
  ({ public_key }) => public_key.length === 64,
);
const names: EngineName[] = [...(loadSodiumEngine() ? (["libsodium"] as const) : []), "node:crypto", "noble"];
const hex = (text: string) => Buffer.from(text, "hex");
const signingKey = prepareSigningKey(Buffer.alloc(32, 9));
const verifyKey = prepareVerifyKey(signingKey.publicKey);

async function withThreads<T>(
  work: (threads: CryptoThreads, log: readonly LogEntry[]) => Promise<T>,
  { count = 1, name = undefined as EngineName | undefined } = {},
): Promise<T> {
  const log = keptLog();
  const threads = new CryptoThreads(selectEngine(name).engine, count, log);
  // The threads keep no process alive, and here nothing else does.
  const alive = setInterval(() => {}, 1_000);
  try {
    return await work(threads, log.entries);
  } finally {
    threads.close();
    clearInterval(alive);
  }
}

describe("the same as without threads", () => {
  for (const name of names) {
    it(`${name}: verify_strict's verdict on all vectors, on two threads`, () =>
      withThreads(
        async (threads) => {
          const wrong: string[] = [];
          await Promise.all(
            vectors.map(async ({ id, public_key, message, signature, verify_strict }) => {
              const verdict = await threads.verify(prepareVerifyKey(hex(public_key)), hex(message), hex(signature));
              if (verdict !== verify_strict) wrong.push(id);
            }),
          );
          assert.deepEqual(wrong, []);
        },
        { count: 2, name },
      ));

    it(`${name}: the bytes of its signatures`, () =>
      withThreads(
        async (threads) => {
          const { engine } = selectEngine(name);
          for (const length of [0, 1, 32, 161, 192, 193, 5_000]) {
            const message = Buffer.alloc(length, length);
            assert.deepEqual(await threads.sign(signingKey, message), engine.sign(signingKey, message), `${length}`);
          }
        },
        { name },
      ));
  }
});

describe("many at once", () => {
  it("more than a thread takes: the main thread does the rest, each gets its own outcome", () =>
    withThreads(async (threads) => {
      const { engine } = selectEngine();
      const messages = Array.from({ length: 3_000 }, (_, i) => Buffer.from(`message ${i}`));
      const signatures = await Promise.all(messages.map((message) => threads.sign(signingKey, message)));
      for (const [i, signature] of signatures.entries()) {
        assert.deepEqual(signature, engine.sign(signingKey, messages[i] as Buffer));
      }
      const verdicts = await Promise.all(
        messages.map((message, i) =>
          threads.verify(verifyKey, message, signatures[i % 3 === 0 ? (i + 1) % 3_000 : i] as Buffer),
        ),
      );
      assert.deepEqual(
        verdicts,
        messages.map((_, i) => i % 3 !== 0),
      );
    }));

  it("bytes that change after the call do not count", () =>
    withThreads(async (threads) => {
      const message = Buffer.alloc(32, 1);
      const signature = Buffer.from(selectEngine().engine.sign(signingKey, message));
      const verdict = threads.verify(verifyKey, message, signature);
      message.fill(0);
      signature.fill(0);
      assert.equal(await verdict, true);
    }));
});

describe("threads that end", () => {
  it("closed with work under way: every outcome still comes", () =>
    withThreads(async (threads, log) => {
      const { engine } = selectEngine();
      const messages = Array.from({ length: 200 }, (_, i) => Buffer.alloc(32, i));
      const signatures = messages.map((message) => threads.sign(signingKey, message));
      threads.close();
      for (const [i, signature] of signatures.entries()) {
        assert.deepEqual(await signature, engine.sign(signingKey, messages[i] as Buffer));
      }
      assert.equal(
        await threads.verify(verifyKey, messages[0] as Buffer, await (signatures[0] as Promise<Buffer>)),
        true,
      );
      assert.deepEqual(log, []);
    }));

  it("a thread that fails is said once, and its work is done on the main thread", async () => {
    const { engine } = selectEngine();
    const log = keptLog();
    // An engine of a name that no thread can load: the thread ends as soon as it starts.
    const threads = new CryptoThreads({ ...engine, name: "none" as EngineName }, 1, log);
    const alive = setInterval(() => {}, 1_000);
    const message = Buffer.alloc(32, 5);
    const [first, second] = await Promise.all([threads.sign(signingKey, message), threads.sign(signingKey, message)]);
    clearInterval(alive);
    assert.deepEqual([first, second], [engine.sign(signingKey, message), engine.sign(signingKey, message)]);
    assert.equal(log.entries.length, 1);
    assert.match(log.entries[0]?.message ?? "", /a crypto thread ended; its work is done on the main thread/);
    assert.deepEqual(threads.sign(signingKey, message), engine.sign(signingKey, message));
  });
});

describe("a server with crypto threads", () => {
  it("answers signed calls, refuses forged ones, and runs each nonce once", async () => {
    const tool = countingTool();
    const server = await serveSigned([tool], { cryptoThreads: 2 });
    const calls = Array.from({ length: 40 }, (_, i) => echoCall(tool, `${i}`));
    const twice = await Promise.all([...calls, ...calls].map((call) => call.send(server.url)));
    for (const [i, call] of calls.entries()) {
      for (const answer of [twice[i], twice[i + calls.length]]) {
        if (answer?.status === 409) continue; // its twin was running
        expectResult(answer as never, echoed(`${i}`), call);
      }
    }
    assert.equal(tool.calls.invoked, calls.length);
    const call = echoCall(tool, '"forged"');
    const forged = echoCall(tool, '"forged"', { leader: { ...bob, id: "alice" } });
    assert.match(expectError(await forged.send(server.url), 401, "auth_failed") ?? "", /does not verify/);
    expectResult(await call.send(server.url), echoed('"forged"'), call);
  });

  for (const cryptoThreads of [-1, 1.5, 65, Number.NaN, "1" as unknown as number]) {
    it(`no start with ${typeof cryptoThreads} ${cryptoThreads}`, async () => {
      await assert.rejects(serveSigned([countingTool()], { cryptoThreads }), {
        name: "RangeError",
        message: /^cryptoThreads: expected an integer from 0 to 64, got /,
      });
    });
  }
});
