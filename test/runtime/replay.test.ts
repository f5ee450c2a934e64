import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it, type TestContext } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { SEAL_BYTES } from "#runtime/server/replay/cached-signature.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import type { CachedAnswer, Claim, ReplayCaller } from "#runtime/server/replay/store.js";
import { proves } from "../proves.js";
import { holdTimers } from "./held-timers.js";
import { assertAgreesWithModel } from "./replay-model.js";

const TTL = 300_000;
const MIB = 1_048_576;
const LARGEST = 262_144;

const digest = (text: string) => new Uint8Array(createHash("sha256").update(text).digest());
const [n1, n2, h1] = [digest("n1"), digest("n2"), digest("h1")];
const alice: ReplayCaller = { leaderId: "alice", leaderKeyId: 1n };
const aliceKey2: ReplayCaller = { leaderId: "alice", leaderKeyId: 2n };
const bob: ReplayCaller = { leaderId: "bob", leaderKeyId: 1n };

function answer(status = 200, body: string | Uint8Array = `body of ${status}`): CachedAnswer {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const code = status === 200 ? undefined : `code_${status}`;
  return { status, code, signable: status === 200, body: bytes, seal: undefined };
}

const sealed = (answer: CachedAnswer, length = SEAL_BYTES): CachedAnswer =>
  length === 0 ? answer : { ...answer, seal: new Uint8Array(length).fill(length) };

/** A leader of its own for each number, so that shares do not matter. */
const leaderOf = (i: number): ReplayCaller => ({ leaderId: `leader ${i}`, leaderKeyId: 1n });

/** A store with a clock and a TTL that the test moves. */
function store(maxBytes?: number) {
  const time = { now: 1000, ttl: TTL };
  const memory = new ReplayMemory({
    now: () => time.now,
    ttlMs: () => time.ttl,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  const claim = (nonce: Uint8Array, hash: Uint8Array, caller = alice, tool = "tool") =>
    memory.claim({ tool, nonce, inputHash: hash, caller, leaseMs: 40_000 });
  const run = (nonce: Uint8Array, hash: Uint8Array, caller = alice, tool = "tool") =>
    lease(claim(nonce, hash, caller, tool));
  return { time, memory, claim, run };
}

function lease(claim: Claim) {
  assert.equal(claim.state, "run");
  assert.ok(claim.state === "run");
  const { lease } = claim;
  const now = (took: boolean | Promise<boolean>) => {
    assert.equal(typeof took, "boolean", "the memory store answers at once");
    return took;
  };
  return {
    complete: (a: CachedAnswer) => now(lease.complete(a)),
    timeOut: (a: CachedAnswer) => now(lease.timeOut(a)),
    settle: () => now(lease.settle()),
    release: () => now(lease.release()),
  };
}

const completed = (a: CachedAnswer, sameCaller = true) => ({ state: "completed", answer: a, sameCaller });
const empty = { entries: 0, inFlight: 0, bytes: 0 };

describe("look-up (protocol.md section 8)", () => {
  it("keys, bodies and seals are copies of exact size", () => {
    const { claim, run } = store();
    const [nonce, hash] = [n1.slice(), h1.slice()];
    const body = Buffer.from("a slice of a larger buffer").subarray(2, 7);
    const seal = Buffer.from("seal");
    run(nonce, hash).complete({ ...answer(200, body), seal });
    run(n2, hash).timeOut(answer(504, body));
    for (const bytes of [nonce, body, seal]) bytes.fill(0);
    for (const n of [n1, n2]) {
      for (let i = 0; i < 2; i++) {
        const found = claim(n, h1);
        assert.ok(found.state === "completed");
        const { body, seal } = found.answer;
        for (const [bytes, text] of [[body, "slice"], ...(n === n1 ? [[seal, "seal"] as const] : [])] as const) {
          assert.equal(bytes?.constructor, Uint8Array);
          assert.equal(bytes.buffer.byteLength, text.length);
          assert.equal(Buffer.from(bytes).toString(), text);
          bytes.fill(0);
        }
      }
    }
  });

  it("answers that differ in one member are stored separately", () => {
    const { claim, run } = store();
    const base = answer(500);
    const ends = [base, { ...base, code: "other" }, { ...base, signable: true }, { ...base, status: 422 }, base];
    for (const [i, end] of ends.entries()) run(digest(`${i}`), h1).complete(end);
    for (const [i, end] of ends.entries()) assert.deepEqual(claim(digest(`${i}`), h1), completed(end));
  });
});

describe("TTL", () => {
  it("a pair never has two entries, even if a longer TTL revives an expired one", () => {
    const { time, memory, claim, run } = store();
    const nonces = Array.from({ length: 100 }, (_, i) => digest(`${i}`));
    for (const nonce of nonces) run(nonce, h1).complete(answer(200, "old"));
    time.ttl = 0;
    for (const nonce of nonces.slice(95)) run(nonce, h1).release();
    time.ttl = TTL;
    for (const nonce of nonces.slice(95)) run(nonce, h1).complete(answer(200, "new"));
    for (let i = 0; i < 3000; i++) run(digest(`more ${i}`), h1).complete(answer());
    for (const nonce of nonces.slice(95)) assert.deepEqual(claim(nonce, h1), completed(answer(200, "new")));
    assert.equal(memory.stats().entries, 100 - 5 * 8 - 5 + 5 + 3000);
  });
});

describe("the bound", () => {
  for (const maxBytes of [0, -1, MIB - 1, 1.5 * MIB + 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    it(`refuses maxBytes ${maxBytes}`, () => {
      const message = `maxBytes of the replay memory: expected an integer from 1048576 to 9007199254740991 bytes, got ${maxBytes}`;
      assert.throws(() => new ReplayMemory({ maxBytes }), new RangeError(message));
    });
  }

  it("is 512 MiB by default; 1 MiB and the largest safe integer are accepted", () => {
    assert.equal(new ReplayMemory().maxBytes, 512 * MIB);
    assert.equal(new ReplayMemory({ maxBytes: MIB }).maxBytes, MIB);
    assert.equal(new ReplayMemory({ maxBytes: Number.MAX_SAFE_INTEGER }).maxBytes, Number.MAX_SAFE_INTEGER);
    proves("8.15");
  });

  it("full of live entries refuses new runs, keeps every entry, and recovers as they expire", () => {
    const { time, memory, claim, run } = store(2 * MIB);
    const body = new Uint8Array(400);
    let count = 0;
    const next = (i: number) => claim(digest(`${i}`), h1, leaderOf(i), `tool ${i % 2}`);
    for (let c = next(0); c.state !== "full"; c = next(count)) {
      lease(c).complete(answer(200, body));
      assert.ok(memory.stats().bytes <= 2 * MIB);
      time.now++;
      count++;
    }
    assert.ok(count > 2400, `${count} entries`);
    for (let i = 0; i < count; i++) assert.equal(next(i).state, "completed");
    assert.equal(memory.stats().entries, count);
    time.now = 1000 + TTL - 1;
    assert.equal(claim(n1, h1).state, "full");
    // Records are freed by segments of at most 64 KiB: some 130 entries of each tool.
    time.now += 300;
    run(n1, h1).release();
    time.now += TTL;
    for (let i = 0; i < count; i++) run(digest(`${i}`), h1, leaderOf(i)).complete(answer(200, body));
    time.now += TTL;
    // A turn removes some thousands.
    for (let left = count; left > 0; left -= 1_000) memory.stats();
    assert.deepEqual(memory.stats(), empty);
    proves("8.15", "8.16");
  });

  it("a rarely called tool holds little memory, also after a burst", () => {
    const { time, memory, run } = store();
    run(n1, h1).complete(answer());
    assert.ok(memory.stats().bytes < 10_000);
    for (let i = 0; i < 20_000; i++) run(digest(`${i}`), h1).complete(answer());
    assert.ok(memory.stats().bytes > 20_000 * 100);
    time.now += TTL - 1;
    for (let i = 0; i < 20; i++) run(digest(`late ${i}`), h1).complete(answer());
    time.now += 1;
    // Each removes some of the expired entries.
    for (let i = 0; i < 10; i++) memory.stats();
    assert.equal(memory.stats().entries, 20);
    assert.ok(memory.stats().bytes < 150_000, "two segments and two pages of the index");
    time.now += TTL;
    assert.deepEqual(memory.stats(), empty);
    run(n1, h1).complete(answer());
    assert.ok(memory.stats().bytes < 10_000);
  });
});

describe("the share of a leader", () => {
  /** Claims runs of a leader until one is refused. */
  const fill = ({ claim }: ReturnType<typeof store>, caller: ReplayCaller, name = caller.leaderId) => {
    const runs: ReturnType<typeof lease>[] = [];
    for (let i = 0; i < 1000; i++) {
      const c = claim(digest(`${name} ${i}`), h1, caller);
      if (c.state === "full") return runs;
      runs.push(lease(c));
    }
    return assert.fail("never full");
  };

  it("of runs is at most as much as remains for all others, over all its keys and tools", () => {
    const memory = store(16 * MIB);
    const ofAlice = fill(memory, alice);
    const { bytes } = memory.memory.stats();
    assert.ok(bytes <= 8 * MIB && bytes > 8 * MIB - LARGEST - 10_000, `${bytes} bytes`);
    assert.deepEqual(memory.claim(n1, h1, aliceKey2), { state: "full" });
    assert.deepEqual(memory.claim(n1, h1, alice, "other tool"), { state: "full" });
    assert.ok(fill(memory, bob).length >= ofAlice.length / 2 - 1, "half of what is left");
    assert.deepEqual(memory.claim(n1, h1, alice), { state: "full" });
    for (const caller of ["c", "d", "e"]) memory.run(digest(caller), h1, { leaderId: caller, leaderKeyId: 1n });
    proves("8.30");
  });

  it("is everything for the only leader of the allow-list, as long as it is the only one", () => {
    const memory = store(16 * MIB);
    let isOnly = true;
    const ttlMs = () => TTL;
    const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
    const start = (fqn: string) =>
      memory.memory.start({ tools: [{ fqn, timeoutMs: 1 }], ttlMs, log, hasOneLeader: () => isOnly });
    start("one");
    const runs = fill(memory, alice);
    const { bytes } = memory.memory.stats();
    assert.ok(bytes <= 16 * MIB && bytes > 16 * MIB - LARGEST - 10_000, `${bytes} bytes`);
    for (const each of runs.slice(0, runs.length / 4)) each.release();
    isOnly = false;
    assert.deepEqual(memory.claim(n1, h1, alice), { state: "full" });
    memory.run(n1, h1, bob).release();
    isOnly = true;
    memory.run(n1, h1, alice).release();
    // The leader of another registration may be another one.
    start("two");
    assert.deepEqual(memory.claim(n1, h1, alice), { state: "full" });
    // A server that starts after both have closed is alone again.
    memory.memory.close();
    memory.memory.close();
    start("three");
    memory.run(n1, h1, alice).release();
    proves("8.30");
  });

  it("also applies to live entries: none is evicted, retries are answered, other leaders continue, expiry frees memory", () => {
    const memory = store(4 * MIB);
    const { time, claim, run } = memory;
    let count = 0;
    const next = () => claim(digest(`${count}`), h1);
    for (let c = next(); c.state !== "full" && count < 10_000; c = next()) {
      lease(c).complete(answer(200, new Uint8Array(4000)));
      count++;
    }
    const { bytes } = memory.memory.stats();
    assert.ok(bytes < 2 * MIB && bytes > 1.7 * MIB, `${bytes} bytes`);
    for (let i = 0; i < count; i++) assert.equal(claim(digest(`${i}`), h1).state, "completed");
    run(n1, h1, bob).complete(answer());
    time.now += TTL - 1;
    assert.deepEqual(next(), { state: "full" });
    time.now += 1;
    // The segment of the other leader's entry, of at most 16 entries, is not used again.
    for (let i = 0; i < count - 16; i++) run(digest(`${i}`), h1).complete(answer(200, new Uint8Array(4000)));
    time.now += TTL;
    assert.deepEqual(memory.memory.stats(), empty);
    assert.ok(fill(memory, alice).length > 5, "nothing is counted of what is gone");
    proves("8.30");
  });
});

/** The timers of a second, which the test fires. */
function heldTimers(t: TestContext) {
  const timers = holdTimers(1_000);
  t.after(timers.restore);
  return { armed: () => timers.waiting.map(({ ms }) => ms), tick: () => timers.waiting[0]?.fire() };
}

describe("removal of expired entries", () => {
  it("uses one timer, only while there are entries", (t) => {
    const { armed, tick } = heldTimers(t);
    const { time, memory, run } = store();
    const first = run(n1, h1);
    assert.deepEqual(armed(), [], "runs in flight need none");
    first.complete(answer());
    run(n2, h1, alice, "other").complete(answer());
    assert.deepEqual(armed(), [1_000]);
    time.now += TTL - 1;
    tick();
    assert.deepEqual(armed(), [1_000]);
    time.now += 1;
    tick();
    assert.deepEqual([armed(), memory.stats()], [[], empty]);
    run(n1, h1).complete(answer());
    assert.deepEqual(armed(), [1_000]);
  });

  it("a replaced entry is removed even if there is no other entry", (t) => {
    const { armed, tick } = heldTimers(t);
    const { run } = store();
    run(n1, h1).complete(answer(403));
    run(n1, h1, bob).timeOut(answer(504));
    tick();
    assert.deepEqual(armed(), []);
  });
});

/** Bytes that count for the leader of an entry, by its state, as they are measured on an entry alone. */
const SIZES = (() => {
  const { memory, run } = store();
  const first = run(n1, h1);
  const running = memory.stats().bytes;
  first.timeOut(answer(504, ""));
  const held = memory.stats().bytes;
  return {
    running: () => running,
    held: (bytes: number) => held + bytes,
    // A header of 28 bytes, nonce, input hash, body and seal, in units of 8 bytes.
    complete: (bytes: number) => Math.ceil((28 + 64 + bytes) / 8) * 8,
  };
})();

it("every claim, end and count agrees with an independent slow model, and the limit always holds", async () => {
  await assertAgreesWithModel(
    () => {
      const { time, memory } = store(2 * MIB);
      return {
        store: memory,
        tool: (index) => `tool ${index}`,
        wait: (ms) => {
          time.now += ms;
        },
        setTtl: (ms) => {
          time.ttl = ms;
        },
        ttl: "now",
        leaseMs: 40_000,
        holds: ({ entries, inFlight }) => {
          const { bytes, ...counts } = memory.stats();
          assert.deepEqual(counts, { entries, inFlight });
          assert.ok(entries + inFlight === 0 ? bytes === 0 : bytes <= 2 * MIB, `${bytes} bytes`);
        },
        hasRoom: (held) => {
          const own = held.reduce((sum, { state, bytes }) => sum + SIZES[state](bytes), 0);
          return own + SIZES.running() <= 2 * MIB - memory.stats().bytes - SIZES.running();
        },
      };
    },
    process.env.SVC_TEST_FULL === "1" ? 20_000 : 500,
  );
  proves("8.12", "8.35");
});

describe("memory held", () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const held = () => {
    gc();
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };

  for (const [bodyBytes, count] of [
    [40, 20_000],
    [400, 20_000],
    ...(process.env.SVC_TEST_FULL === "1" ? ([[400, 300_000]] as const) : []),
    [5000, 6_000],
  ] as const) {
    it(`${count} entries with ${bodyBytes}-byte bodies: accounted within 10 % of what the process holds`, (t) => {
      const { time, memory, run } = store();
      const key = new Uint8Array(32);
      const view = new DataView(key.buffer);
      const fill = (entries: number) => {
        for (let i = 0; i < entries; i++) {
          view.setUint32(0, view.getUint32(0) + 1);
          run(key, h1).complete(sealed(answer(200, new Uint8Array(bodyBytes))));
        }
      };
      fill(2000);
      time.now += TTL;
      assert.deepEqual(memory.stats(), empty);
      const before = held();
      fill(count);
      const { bytes } = memory.stats();
      const really = held() - before;
      t.diagnostic(`held ${(really / count).toFixed(1)}, accounted ${(bytes / count).toFixed(1)} bytes an entry`);
      assert.ok(Math.abs(bytes / really - 1) < 0.1, `${bytes} accounted, ${really} held`);
      if (bodyBytes === 400) assert.ok(really / count <= 800, `${really / count} bytes an entry`);
      time.now += TTL;
      // Each removes some of the expired entries.
      for (let i = 0; i < 10; i++) memory.stats();
      assert.deepEqual(memory.stats(), empty);
      const after = held() - before;
      assert.ok(after < 1_000_000, `${after} bytes held by an empty store`);
    });
  }
});
