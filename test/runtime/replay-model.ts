/** The sentences of protocol.md section 8 over a plain list: an independent, slow model that every replay store must equal. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { SEAL_BYTES } from "#runtime/server/replay/cached-signature.js";
import type { CachedAnswer, Claim, ReplayCaller, ReplayLease, ReplayStore } from "#runtime/server/replay/store.js";

/** A store under the model's commands. Time and lifetimes are in milliseconds of the model. */
export interface ModelledStore {
  readonly store: ReplayStore;
  /** Name of a tool that no other case uses. */
  tool(index: number): string;
  /** Lets time pass. */
  wait(ms: number): unknown;
  setTtl(ms: number): void;
  /** Whether the lifetime of an entry is the one in force when it begins, or always the one in force now. */
  readonly ttl: "at completion" | "now";
  /** Length of a lease. */
  readonly leaseMs: number;
  /** Checks what the store holds, after each command. */
  holds(counts: { readonly entries: number; readonly inFlight: number }): unknown;
  /** Age passed to the store for an age of the model; the same by default. */
  ageOf?(ms: number): number;
  /** Whether a new run of a leader has room, given what that leader holds; without it there is always room. */
  hasRoom?(held: readonly Held[]): boolean;
}

/** An entry, as far as its size depends on it. */
export interface Held {
  readonly state: "running" | "held" | "complete";
  /** Bytes of body and seal. */
  readonly bytes: number;
}

interface Entry {
  readonly tool: number;
  readonly nonce: number;
  readonly hash: number;
  readonly caller: number;
  state: "running" | "held" | "complete";
  answer?: CachedAnswer;
  /** When its lifetime began, and how long it was then. */
  since?: number;
  ttl?: number;
}

class Model {
  entries: Entry[] = [];
  /** When each run was claimed; those that were released are not among them. */
  readonly runs = new Map<Entry, number>();

  purge(now: number, ttl: number | undefined) {
    this.entries = this.entries.filter((e) => e.state !== "complete" || now - e.since! < (ttl ?? e.ttl!));
  }

  claim(tool: number, nonce: number, hash: number, caller: number): Claim["state"] | Entry {
    const ofNonce = this.entries.filter((e) => e.tool === tool && e.nonce === nonce);
    const ofPair = ofNonce.filter((e) => e.hash === hash);
    if (ofPair.some((e) => e.state === "running")) return "in-flight";
    const [done, ...more] = ofPair;
    assert.equal(more.length, 0);
    const status = done?.answer?.status;
    if (done !== undefined && status !== 503 && (status !== 403 || done.caller === caller)) return done;
    if (ofNonce.some((e) => e.state === "running")) return "in-flight";
    return "run";
  }

  /** Whether the tool has run for this request at that time or later. A run that ended in a 403 was refused by `authorize`. */
  hasRunSince({ tool, nonce, hash, caller }: Omit<Entry, "state">, since: number): boolean {
    const isSame = (e: Entry) => e.tool === tool && e.nonce === nonce && e.hash === hash && e.caller === caller;
    return [...this.runs].some(([entry, at]) => isSame(entry) && at >= since && entry.answer?.status !== 403);
  }

  /** What the leader of a caller holds. */
  heldBy(caller: number): Held[] {
    const { leaderId } = CALLERS[caller]!;
    const own = this.entries.filter((e) => CALLERS[e.caller]!.leaderId === leaderId);
    return own.map(({ state, answer }) => ({
      state,
      bytes: (answer?.body.length ?? 0) + (answer?.seal?.length ?? 0),
    }));
  }

  end(entry: Entry, state: "held" | "complete", answer: CachedAnswer) {
    const { tool, nonce, hash } = entry;
    this.entries = this.entries.filter((e) => e === entry || e.tool !== tool || e.nonce !== nonce || e.hash !== hash);
    Object.assign(entry, { state, answer });
  }
}

const CALLERS: readonly ReplayCaller[] = [
  { leaderId: "alice", leaderKeyId: 1n },
  { leaderId: "alice", leaderKeyId: 2n },
  { leaderId: "bob", leaderKeyId: 1n },
];

const small = fc.nat({ max: 2 });
const size = fc.oneof(
  { weight: 8, arbitrary: fc.nat({ max: 500 }) },
  { weight: 1, arbitrary: fc.constantFrom(8000, 8100, 8101, 70_000, 262_144) },
);
const status = fc.constantFrom(200, 200, 403, 403, 422, 500, 503, 503, 504);
const leaseIndex = fc.nat({ max: 8 });
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant("claim" as const),
      tool: fc.nat({ max: 1 }),
      n: small,
      h: small,
      c: small,
      // A repeat: its age, and whether it knows the name of the store.
      age: fc.option(fc.nat({ max: 250 })),
      named: fc.boolean(),
    }),
  },
  // The caller of a run repeats it, with its true age.
  { weight: 2, arbitrary: fc.record({ op: fc.constant("repeat" as const), of: leaseIndex }) },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constantFrom("complete" as const, "complete" as const, "timeOut" as const),
      of: leaseIndex,
      status,
      size,
      seal: fc.constantFrom(0, SEAL_BYTES, 256),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constantFrom("settle" as const, "release" as const), of: leaseIndex }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("wait" as const), ms: fc.nat({ max: 120 }) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("ttl" as const), ms: fc.constantFrom(1, 2, 50, 100, 200) }) },
);

/** A run that shutdown interrupts, then the 403 of another caller for the same pair; the first caller repeats. */
const REPLACED_MARK: (typeof command extends fc.Arbitrary<infer T> ? T : never)[] = [
  { op: "claim", tool: 1, n: 2, h: 0, c: 1, age: null, named: false },
  { op: "complete", of: 0, status: 503, size: 0, seal: 0 },
  { op: "claim", tool: 1, n: 2, h: 0, c: 0, age: null, named: false },
  { op: "complete", of: 0, status: 403, size: 0, seal: 0 },
  { op: "repeat", of: 1 },
];

/** Milliseconds that no case reaches by its waits. */
export const LONGEST_CASE_MS = 20_000;

/** Runs random commands on stores and on the model: every claim, end and count agrees. */
export async function assertAgreesWithModel(make: () => ModelledStore, runs: number): Promise<void> {
  let serial = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 120, size: "max" }), async (commands) => {
      const under = make();
      const { store, leaseMs } = under;
      const model = new Model();
      const leases: Claimed[] = [];
      let [now, ttl] = [1000, 100];
      /** Lifetimes that were in force, each with its end. */
      const lifetimes: { ttl: number; until: number }[] = [];
      under.setTtl(ttl);
      const purge = () => model.purge(now, under.ttl === "now" ? ttl : undefined);
      for (const command of commands) {
        if (command.op === "wait") {
          now += command.ms;
          await under.wait(command.ms);
        } else if (command.op === "ttl") {
          lifetimes.push({ ttl, until: now });
          ttl = command.ms;
          under.setTtl(ttl);
        }
        purge();
        const repeated =
          command.op === "repeat" ? leases.at(-1 - (command.of % Math.max(1, leases.length))) : undefined;
        if (command.op === "claim" || repeated !== undefined) {
          const { tool, n, h, c, age, named } = command.op === "claim" ? command : repeatOf(repeated!, now);
          const claimed = model.claim(tool, n, h, c);
          const isFull = claimed === "run" && under.hasRoom?.(model.heldBy(c)) === false;
          let expected = isFull ? "full" : claimed;
          const got = await store.claim({
            tool: under.tool(tool),
            nonce: digest(`n${n}`),
            inputHash: digest(`h${h}`),
            caller: CALLERS[c]!,
            leaseMs,
            repeat:
              age === null
                ? undefined
                : { memory: named ? store.memoryName! : "A".repeat(22), ageMs: under.ageOf?.(age) ?? age },
          });
          const ofPair = model.entries.filter((e) => e.tool === tool && e.nonce === n && e.hash === h);
          const isRunning = ofPair.some(({ state }) => state === "running");
          if (age !== null && typeof expected === "string" && !isRunning) {
            const since = now - age;
            const shortest = Math.min(ttl, ...lifetimes.filter(({ until }) => until >= since).map((each) => each.ttl));
            // What is left of the pair is a mark, or the 403 of another caller, which may have replaced one.
            if (!named || ofPair.length > 0 || model.hasRunSince({ tool, nonce: n, hash: h, caller: c }, since))
              expected = "lost";
            // A lifetime that no entry has had may be passed over.
            else if (age >= shortest && got.state === "lost") expected = "lost";
          }
          if (typeof expected !== "string") {
            assert.equal(got.state, "completed");
            assert.ok(got.state === "completed");
            assert.deepEqual(comparable(got.answer), comparable(expected.answer!));
            assert.equal(got.sameCaller, expected.caller === c);
          } else assert.equal(got.state, expected);
          if (got.state === "run") {
            const entry: Entry = { tool, nonce: n, hash: h, caller: c, state: "running" };
            model.entries.push(entry);
            model.runs.set(entry, now);
            leases.push({ lease: got.lease, entry, at: now });
          }
        } else if ("of" in command && command.op !== "repeat" && leases.length > 0) {
          // Mostly the youngest leases, but also ones long past their end.
          const { lease, entry } = leases.at(-1 - (command.of % leases.length))!;
          const known = model.entries.includes(entry);
          const running = known && entry.state === "running";
          if (command.op === "settle") {
            assert.equal(await lease.settle(), known && entry.state === "held");
            if (known && entry.state === "held") Object.assign(entry, { state: "complete", since: now, ttl });
          } else if (command.op === "release") {
            assert.equal(await lease.release(), running);
            if (running) model.entries = model.entries.filter((e) => e !== entry);
            if (running) model.runs.delete(entry);
          } else if ("size" in command) {
            const seal = command.op === "complete" && command.status === 200 ? command.seal : 0;
            const end = answerOf(command.status, new Uint8Array(command.size).fill(serial++), seal);
            assert.equal(await lease[command.op](end), running);
            if (running) {
              model.end(entry, command.op === "timeOut" ? "held" : "complete", end);
              if (command.op === "complete") Object.assign(entry, { since: now, ttl });
            }
          }
        }
        purge();
        const inFlight = model.entries.filter((e) => e.state === "running").length;
        await under.holds({ entries: model.entries.length - inFlight, inFlight });
      }
      for (const { lease } of leases) {
        await lease.release();
        await lease.settle();
      }
      await under.wait(LONGEST_CASE_MS);
      await under.holds({ entries: 0, inFlight: 0 });
    }),
    { numRuns: runs, examples: [[REPLACED_MARK]] },
  );
}

/** A run that a store has claimed. */
interface Claimed {
  readonly lease: ReplayLease;
  readonly entry: Entry;
  readonly at: number;
}

const repeatOf = ({ entry: { tool, nonce, hash, caller }, at }: Claimed, now: number) => ({
  ...{ tool, n: nonce, h: hash, c: caller },
  age: now - at,
  named: true,
});

function digest(text: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(text).digest());
}

function answerOf(status: number, body: Uint8Array, sealBytes: number): CachedAnswer {
  const seal = sealBytes === 0 ? undefined : new Uint8Array(sealBytes).fill(sealBytes);
  return { status, code: status === 200 ? undefined : `code_${status}`, signable: status === 200, body, seal };
}

const comparable = ({ status, code, signable, body, seal }: CachedAnswer) => ({
  status,
  code,
  signable,
  body: Buffer.from(body).toString("latin1"),
  seal: seal && Buffer.from(seal).toString("latin1"),
});
