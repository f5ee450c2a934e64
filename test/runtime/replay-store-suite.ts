/** The rules for every replay store (protocol.md section 8), as test cases. */

import assert from "node:assert/strict";
import { MAX_RESULT_BYTES } from "#client/wire/protocol.js";
import type {
  CachedAnswer,
  Claim,
  ReplayCaller,
  ReplayLease,
  ReplayRequest,
  ReplayStore,
} from "#runtime/server/replay/store.js";

/** New store, with callbacks for the cases. */
export interface StoreUnderTest {
  readonly store: ReplayStore;
  /** Makes completed entries expire. */
  readonly expire: () => Promise<void> | void;
  /** Releases the store after the case. */
  readonly close?: () => Promise<void> | void;
}

/** One rule. `run` rejects with an AssertionError if the store breaks it. */
export interface ReplayStoreCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

const ALICE: ReplayCaller = { leaderId: "alice", leaderKeyId: 1n };
const OTHERS: readonly ReplayCaller[] = [
  { leaderId: "bob", leaderKeyId: 1n },
  { leaderId: "alice", leaderKeyId: 2n },
];
const RESULT = answerOf(200, 400);
const IN_FLIGHT: Claim = { state: "in-flight" };
const LOST: Claim = { state: "lost" };
/** Age, in milliseconds, that exceeds every lifetime. */
const AGES_AGO = 1e14;

/**
 * The cases for a store.
 *
 * @param make creates a separate store, or separate keys in one store, for each case
 */
export function replayStoreCases(make: () => Promise<StoreUnderTest> | StoreUnderTest): ReplayStoreCase[] {
  return Object.entries(CASES).map(([name, check]) => ({
    name,
    run: async () => {
      const under = await make();
      try {
        await check(new Subject(under));
      } finally {
        await under.close?.();
      }
    },
  }));
}

/** A store with requests that no other case uses. */
class Subject {
  readonly #id = crypto.getRandomValues(new Uint8Array(8));
  readonly store: ReplayStore;
  readonly expire: StoreUnderTest["expire"];

  constructor({ store, expire }: StoreUnderTest) {
    this.store = store;
    this.expire = expire;
  }

  request(nonce: number, hash: number, caller = ALICE, tool = "xyz.test.tool@1"): ReplayRequest {
    return { tool, nonce: this.#bytes(nonce), inputHash: this.#bytes(hash + 1000), caller, leaseMs: 40_000 };
  }

  async claim(...of: Parameters<Subject["request"]>): Promise<Claim> {
    return this.store.claim(this.request(...of));
  }

  /** Claims a repeated request that names a replay memory, by default that of the store. */
  async repeat(ageMs: number, memory = this.store.memoryName, ...of: Parameters<Subject["request"]>): Promise<Claim> {
    return this.store.claim({ ...this.request(...of), repeat: { memory: memory ?? "", ageMs } });
  }

  async run(...of: Parameters<Subject["request"]>): Promise<ReplayLease> {
    const claim = await this.claim(...of);
    assert.equal(claim.state, "run");
    return (claim as Claim & { readonly state: "run" }).lease;
  }

  async found(...of: Parameters<Subject["request"]>): Promise<Claim & { readonly state: "completed" }> {
    const claim = await this.claim(...of);
    assert.equal(claim.state, "completed");
    return claim as Claim & { readonly state: "completed" };
  }

  #bytes(number: number): Uint8Array {
    const bytes = new Uint8Array(32);
    bytes.set(this.#id);
    new DataView(bytes.buffer).setUint32(28, number);
    return bytes;
  }
}

function answerOf(status: number, length: number, seal?: Uint8Array): CachedAnswer {
  const body = Uint8Array.from({ length }, (_, i) => (i * 7) % 251);
  const code = status === 200 ? undefined : `code_${status}`;
  return { status, code, signable: status === 200, body, seal };
}

function assertAnswer(got: CachedAnswer, wanted: CachedAnswer): void {
  const parts = ({ status, code, signable, body }: CachedAnswer) => ({ status, code, signable, body: [...body] });
  assert.deepEqual(parts(got), parts(wanted));
}

const CASES: Readonly<Record<string, (subject: Subject) => Promise<void>>> = {
  "a nonce and input hash run once, and are in flight for every caller until the run ends": async (subject) => {
    const lease = await subject.run(1, 1);
    for (const caller of [ALICE, ...OTHERS]) assert.deepEqual(await subject.claim(1, 1, caller), IN_FLIGHT);
    assert.equal(await lease.complete(RESULT), true);
    const { answer, sameCaller } = await subject.found(1, 1);
    assertAnswer(answer, RESULT);
    assert.equal(sameCaller, true);
  },
  "another pair with the nonce of a run is in flight, and runs after its end": async (subject) => {
    const lease = await subject.run(1, 1);
    assert.deepEqual(await subject.claim(1, 2), IN_FLIGHT);
    await lease.complete(RESULT);
    await (await subject.run(1, 2)).complete(RESULT);
    await subject.found(1, 1);
    await subject.found(1, 2);
  },
  "entries of different tools are separate": async (subject) => {
    await (await subject.run(1, 1)).complete(RESULT);
    await (await subject.run(1, 1, ALICE, "xyz.test.other@1")).release();
    await subject.found(1, 1);
  },
  "another leader or key finds the answer and is reported as another caller": async (subject) => {
    await (await subject.run(1, 1)).complete(RESULT);
    for (const caller of OTHERS) assert.equal((await subject.found(1, 1, caller)).sameCaller, false);
  },
  "callers whose ids and keys concatenate to the same text are different": async (subject) => {
    for (const [nonce, leaderId] of ["1x", "x1"].entries()) {
      const [one, other]: ReplayCaller[] = [
        { leaderId, leaderKeyId: 1n },
        { leaderId: "x", leaderKeyId: 11n },
      ];
      await (await subject.run(nonce, 1, one)).complete(RESULT);
      await (await subject.run(nonce, 2, other)).complete(RESULT);
      assert.equal((await subject.found(nonce, 1, other)).sameCaller, false);
      assert.equal((await subject.found(nonce, 2, one)).sameCaller, false);
      assert.equal((await subject.found(nonce, 2, other)).sameCaller, true);
    }
  },
  "only its own caller finds a 403; another caller runs, and the end of that run replaces the 403": async (subject) => {
    await (await subject.run(1, 1)).complete(answerOf(403, 20));
    assert.equal((await subject.found(1, 1)).answer.status, 403);
    const [other] = OTHERS;
    const lease = await subject.run(1, 1, other);
    assert.deepEqual(await subject.claim(1, 1), IN_FLIGHT, "also for the caller of the 403");
    await lease.complete(RESULT);
    assert.equal((await subject.found(1, 1)).answer.status, 200);
  },
  "the release of a run keeps the 403 that the run would have replaced": async (subject) => {
    await (await subject.run(1, 1)).complete(answerOf(403, 20));
    assert.equal(await (await subject.run(1, 1, OTHERS[0])).release(), true);
    assert.equal((await subject.found(1, 1)).answer.status, 403);
  },
  "a released pair runs again": async (subject) => {
    await (await subject.run(1, 1)).release();
    await (await subject.run(1, 1)).complete(RESULT);
    await subject.found(1, 1);
  },
  "a timed out run answers 504, also after its tool has ended": async (subject) => {
    const lease = await subject.run(1, 1);
    const late = answerOf(504, 30);
    assert.equal(await lease.timeOut(late), true);
    assertAnswer((await subject.found(1, 1)).answer, late);
    await (await subject.run(1, 2)).release();
    assert.equal(await lease.complete(RESULT), false, "the late result is refused");
    assert.equal(await lease.settle(), true);
    assertAnswer((await subject.found(1, 1)).answer, late);
  },
  "a lease ends only once": async (subject) => {
    const ends = {
      complete: (lease: ReplayLease) => lease.complete(RESULT),
      release: (lease: ReplayLease) => lease.release(),
    };
    let nonce = 0;
    for (const first of Object.values(ends)) {
      const lease = await subject.run(++nonce, 1);
      assert.equal(await first(lease), true);
      for (const end of [...Object.values(ends), () => lease.timeOut(answerOf(504, 1)), () => lease.settle()]) {
        if (first === ends.complete && end === ends.complete) continue; // a store may report a repeated write as done
        assert.equal(await end(lease), false);
      }
    }
  },
  "an old lease does not touch a new run of its pair": async (subject) => {
    const old = await subject.run(1, 1);
    await old.release();
    const lease = await subject.run(1, 1);
    assert.equal(await old.complete(RESULT), false);
    assert.equal(await old.release(), false);
    assert.deepEqual(await subject.claim(1, 1), IN_FLIGHT);
    assert.equal(await lease.complete(RESULT), true);
  },
  "bodies of every size are returned complete, as copies": async (subject) => {
    for (const [nonce, length] of [0, 1, 63, 400, 65_535, MAX_RESULT_BYTES].entries()) {
      const answer = answerOf(200, length);
      const body = Uint8Array.from(answer.body);
      await (await subject.run(nonce, 1)).complete(answer);
      answer.body.fill(0);
      const first = (await subject.found(nonce, 1)).answer;
      assert.deepEqual([...first.body], [...body]);
      assert.equal(first.body.byteLength, first.body.buffer.byteLength, "exact size");
      first.body.fill(1);
      assert.deepEqual([...(await subject.found(nonce, 1)).answer.body], [...body]);
    }
  },
  "a seal is returned unchanged": async (subject) => {
    const seal = Uint8Array.from({ length: 144 }, (_, i) => i);
    await (await subject.run(1, 1)).complete(answerOf(200, 10, seal));
    const found = (await subject.found(1, 1)).answer.seal;
    if (found !== undefined || subject.store.scope === "shared") assert.deepEqual([...(found ?? [])], [...seal]);
  },
  "nonce and input hash of another length are refused": async (subject) => {
    for (const wrong of [{ nonce: new Uint8Array(31) }, { inputHash: new Uint8Array(33) }]) {
      await assert.rejects(async () => subject.store.claim({ ...subject.request(1, 1), ...wrong }), RangeError);
    }
  },
  "a completed entry expires after its lifetime, a run does not": async (subject) => {
    await (await subject.run(1, 1)).complete(RESULT);
    const running = await subject.run(2, 1);
    await subject.expire();
    await (await subject.run(1, 1)).release();
    assert.deepEqual(await subject.claim(2, 1), IN_FLIGHT);
    assert.equal(await running.complete(RESULT), true);
  },
  "the memory name is 16 bytes in base64url and does not change": async ({ store }) => {
    const { memoryName } = store;
    assert.match(memoryName ?? "", /^[A-Za-z0-9_-]{21}[AQgw]$/);
    assert.equal(store.memoryName, memoryName);
  },
  "a repeat of an unknown pair runs only if it names this memory and is younger than the lifetime": async (subject) => {
    for (const memory of ["A".repeat(22), "", `${subject.store.memoryName}A`]) {
      assert.deepEqual(await subject.repeat(0, memory, 1, 1), LOST);
    }
    assert.deepEqual(await subject.repeat(AGES_AGO, undefined, 1, 1), LOST);
    const claim = await subject.repeat(0, undefined, 1, 1);
    assert.equal(claim.state, "run");
    assert.deepEqual(await subject.repeat(AGES_AGO, "", 1, 2), LOST, "another input with the nonce of a run");
  },
  "a lost repeat stores nothing": async (subject) => {
    assert.deepEqual(await subject.repeat(0, "", 1, 1), LOST);
    await (await subject.run(1, 1)).complete(RESULT);
    await subject.found(1, 1);
  },
  "a repeat of a known pair is answered like any claim": async (subject) => {
    const lease = await subject.run(1, 1);
    assert.deepEqual(await subject.repeat(AGES_AGO, "", 1, 1), IN_FLIGHT);
    await lease.complete(RESULT);
    assert.equal((await subject.repeat(AGES_AGO, "", 1, 1)).state, "completed");
    const late = await subject.run(2, 1);
    await late.timeOut(answerOf(504, 30));
    assert.equal((await subject.repeat(AGES_AGO, "", 2, 1)).state, "completed");
    await late.settle();
  },
  "a repeat does not find a 403 of another leader": async (subject) => {
    await (await subject.run(1, 1)).complete(answerOf(403, 20));
    assert.deepEqual(await subject.repeat(0, "", 1, 1, OTHERS[0]), LOST);
    assert.equal((await subject.found(1, 1)).answer.status, 403);
  },
  "an interrupted pair is lost for a repeat, and runs again for a first attempt": async (subject) => {
    const interrupted = answerOf(503, 30);
    assert.equal(await (await subject.run(1, 1)).complete(interrupted), true);
    const repeatIsLost = async () => {
      for (const caller of [ALICE, ...OTHERS]) assert.deepEqual(await subject.repeat(0, undefined, 1, 1, caller), LOST);
    };
    await repeatIsLost();
    await (await subject.run(1, 1)).release();
    await repeatIsLost();
    const again = await subject.run(1, 1);
    assert.equal((await subject.repeat(0, undefined, 1, 1)).state, "in-flight");
    await again.complete(RESULT);
    assertAnswer((await subject.found(1, 1)).answer, RESULT);
    assert.equal((await subject.repeat(0, "", 1, 1)).state, "completed");
  },
  "a repeat does not run after the lifetime of its entry": async (subject) => {
    await (await subject.run(1, 1)).complete(RESULT);
    await subject.expire();
    assert.deepEqual(await subject.repeat(AGES_AGO, undefined, 1, 1), LOST);
  },
  "of many concurrent claims or repeats of a pair one runs": async (subject) => {
    for (const [nonce, claim] of [() => subject.claim(0, 1), () => subject.repeat(0, undefined, 1, 1)].entries()) {
      const claims = await Promise.all(Array.from({ length: 50 }, claim));
      assert.equal(claims.filter(({ state }) => state === "run").length, 1, `nonce ${nonce}`);
      assert.equal(claims.filter(({ state }) => state === "in-flight").length, 49, `nonce ${nonce}`);
    }
  },
};
