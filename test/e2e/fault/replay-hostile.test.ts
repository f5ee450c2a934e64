/** A Redis that lies, fails, or is written to by others: nothing runs for it, nothing is signed for it, nothing leaks. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { prepareVerifyKey, publicKeyOf, verifyToolSignature } from "#runtime/leader.js";
import { type Command, HostileRedis, type Reaction } from "../redis/hostile-redis.js";
import { withRedis } from "../redis/installed.js";
import { Leaders, makePair, type Pair } from "../redis/leaders.js";
import { RedisServer } from "../redis/redis-server.js";
import { Replica, RunLog, stopAll } from "../redis/replicas.js";
import { FULL, LEADER, MARKS, OTHER, until } from "./harness.js";

const PASSWORD = "CANARY-REDIS-PASSWORD-4f1a";
const OF_SERVER = "CANARY-REDIS-TEXT-c07d";
const TOOL_KEY = prepareVerifyKey(publicKeyOf(Buffer.from(MARKS.key, "hex")));
const FORGED = Buffer.from(`forged ${OF_SERVER}`);

/** The parts of a record, as docs/replay-store.md gives them. */
interface RecordParts {
  readonly version?: number;
  readonly flags?: number;
  readonly status?: number;
  readonly code?: string;
  readonly seal?: Uint8Array;
  /** In place of the true length. */
  readonly sealLength?: number;
  readonly body?: Uint8Array;
}

function recordOf(caller: Uint8Array, parts: RecordParts): Buffer {
  const { version = 1, flags = 1, status = 200, code = "", seal = Buffer.alloc(0), body = FORGED } = parts;
  const head = Buffer.alloc(39);
  head[0] = version;
  head[1] = flags;
  head.writeUInt16BE(status, 2);
  head.set(caller, 20);
  head[36] = code.length;
  head.writeUInt16BE(parts.sealLength ?? seal.length, 37);
  return Buffer.concat([head, Buffer.from(code), seal, body]);
}

const bulk = (bytes: Uint8Array) => Buffer.concat([Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n")]);
const keysOf = ([name, , keys]: Command) => (/^eval/i.test(name) ? Number(keys) : undefined);
const isClaim = (command: Command) => keysOf(command) === 5;
const isEnd = (command: Command) => keysOf(command) === 2 && command.length === 8;
/** With 16 random bytes after the keys. */
const isHello = (command: Command) => keysOf(command) === 2 && command[5]?.length === 16;
/** Token and caller of a claim: after the script and the number of keys, five keys and the hash. */
const claimOf = (command: Command) => ({ token: command[9] as Buffer, caller: command[10] as Buffer });

const RECORDS: Readonly<Record<string, RecordParts>> = {
  "a result without a seal": {},
  "a result with a seal of zeros": { seal: Buffer.alloc(144) },
  "a result with a long seal": { seal: Buffer.alloc(256, 7) },
  "version 0": { version: 0 },
  "version 2": { version: 2 },
  "version 255": { version: 255 },
  "a seal that is longer than the record": { sealLength: 60_000 },
  "flags of a later version": { flags: 3 },
  "a result with status 500": { status: 500 },
  "an error with status 200": { flags: 0 },
  "status 0": { flags: 0, status: 0 },
  "status 999": { flags: 0, status: 999 },
  "status 302": { flags: 0, status: 302 },
};

const NOISE: Readonly<Record<string, Reaction>> = {
  nothing: { bytes: "", after: "silence" },
  "an empty value": { bytes: "$0\r\n\r\n" },
  "random bytes": { bytes: bulk(Buffer.from(Array.from({ length: 200 }, (_, i) => (i * 71) & 255))) },
  "no value": { bytes: "$-1\r\n" },
  "another integer": { bytes: ":7\r\n" },
  "a large negative integer": { bytes: ":-9007199254740993\r\n" },
  "a status": { bytes: "+OK\r\n" },
  "an empty array": { bytes: "*0\r\n" },
  "an array of nonsense": { bytes: "*2\r\n:1\r\n$1\r\nx\r\n" },
  "an error": { bytes: `-ERR ${OF_SERVER} ${PASSWORD}\r\n` },
  "an error without words": { bytes: "-\r\n" },
  "a lack of rights": { bytes: `-NOPERM ${OF_SERVER}\r\n` },
  MISCONF: { bytes: `-MISCONF ${OF_SERVER}\r\n` },
  NOREPLICAS: { bytes: `-NOREPLICAS ${OF_SERVER}\r\n` },
  READONLY: { bytes: `-READONLY ${OF_SERVER}\r\n` },
  LOADING: { bytes: `-LOADING ${OF_SERVER}\r\n` },
  BUSY: { bytes: `-BUSY ${OF_SERVER}\r\n` },
  MOVED: { bytes: `-MOVED 7 127.0.0.1:1 ${OF_SERVER}\r\n` },
  "half an answer, then the end": { bytes: `$400\r\n${OF_SERVER}`, after: "close" },
  "half an answer, then nothing": { bytes: `$400\r\n${OF_SERVER}`, after: "silence" },
  "the end": { bytes: "", after: "close" },
  "another protocol": { bytes: `HTTP/1.1 400 ${OF_SERVER}\r\n\r\n` },
  zeros: { bytes: Buffer.alloc(64) },
  // The client then takes every further reply for a part of this one, until the watchdog replaces it.
  ...(FULL && {
    "an absurd length": { bytes: "$99999999999\r\n" },
    "an absurd array": { bytes: "*2000000000\r\n" },
  }),
};

describe("a hostile Redis", withRedis(), () => {
  let redis: RedisServer;
  let hostile: HostileRedis;
  let replica: Replica;
  let leaders: Leaders;
  const runs = new RunLog();
  before(async () => {
    redis = await RedisServer.start();
    hostile = await HostileRedis.start(redis.client);
    const url = hostile.url.replace("://", `://:${PASSWORD}@`);
    replica = await Replica.start("hostile", runs, { url, graceMs: 0, timeoutMs: 500, leaders: [LEADER, OTHER] });
    leaders = new Leaders([replica.url]);
  });
  after(async () => {
    leaders.close();
    await stopAll([replica]);
    assertNothingLeaked();
    await hostile.close();
    await redis.end();
  });

  let serial = 0;
  const nextPair = () => makePair(serial++, { waitMs: 0 });
  const ran = ({ id }: Pair) => runs.runs().get(id) ?? 0;

  /** Nothing of what a command carried is in a log, in any form that it might be written in. */
  function assertNothingLeaked(): void {
    replica.assertCleanLog([PASSWORD, OF_SERVER]);
    for (const command of hostile.seen.filter(isClaim)) {
      const { token } = claimOf(command);
      for (const text of [token.toString("hex"), token.toString("base64"), [...token].join(), [...token].join(", ")]) {
        assert.ok(!replica.log.includes(text), "a token is in the log");
      }
    }
  }

  /** The server is honest again, and calls run. */
  async function recovered(): Promise<void> {
    hostile.attack = undefined;
    await until(async () => (await leaders.once(nextPair())) === 200, "a call that runs");
  }

  for (const [name, parts] of Object.entries(RECORDS)) {
    it(`a claim is answered with ${name}: 409, no run`, async () => {
      hostile.attack = (command) =>
        isClaim(command) ? { bytes: bulk(recordOf(claimOf(command).caller, parts)) } : "pass";
      const pair = nextPair();
      assert.equal(await leaders.once(pair), 409);
      assert.equal(ran(pair), 0);
      hostile.attack = undefined;
    });
  }

  for (const [name, reaction] of Object.entries(NOISE)) {
    it(`a claim is answered with ${name}: an error, no run, and calls run afterwards`, async () => {
      hostile.attack = (command) => (isClaim(command) ? reaction : "pass");
      const pair = nextPair();
      // Any bytes may be a record that this version cannot read.
      assert.ok([409, 503].includes(await leaders.once(pair)));
      assert.equal(ran(pair), 0);
      await recovered();
    });

    it(`the end of a run is answered with ${name}: its result is delivered, once`, async () => {
      hostile.attack = (command) => (isEnd(command) ? reaction : "pass");
      const pair = nextPair();
      let status = await leaders.once(pair);
      // A machine that stands still may let a claim fail; a run that has begun has an answer.
      while (status === 503 && ran(pair) === 0) status = await leaders.once(pair);
      assert.equal(status, 200);
      await recovered();
      assert.ok(await leaders.call(pair), "an exact retry");
      assert.equal(ran(pair), 1);
      assert.equal(pair.results.size, 1);
      assert.equal(pair.signatures.size, 1);
    });
  }

  it("a record with a forged signature: the answer has no valid signature of the tool", async () => {
    const pair = nextPair();
    const seal = Buffer.concat([
      pair.signed.leaderSignature,
      Buffer.alloc(64, 9),
      publicKeyOf(Buffer.from(MARKS.key, "hex")).subarray(0, 16),
    ]);
    hostile.attack = (command) =>
      isClaim(command) ? { bytes: bulk(recordOf(claimOf(command).caller, { seal })) } : "pass";
    const { status, body, signature } = await raw(replica, pair);
    assert.equal(status === 200 && verifyToolSignature(TOOL_KEY, pair.signed, body, signature), false);
    assert.equal(ran(pair), 0);
    hostile.attack = undefined;
  });

  it("the record of another pair, of the same or another leader: 409", async () => {
    const [one, other] = [nextPair(), nextPair()];
    for (const pair of [one, other]) assert.equal(await leaders.once(pair), 200);
    await copyRecord(one, other);
    assert.equal(await leaders.once(other), 409);
    assert.equal(await leaders.once(ofLeader(other, OTHER)), 409);
  });

  it("the record of the same nonce and another input: not signed", async () => {
    const one = nextPair();
    const other = makePair(serial++, { waitMs: 0 }, LEADER, one.signed.nonce);
    for (const pair of [one, other]) assert.equal(await leaders.once(pair), 200);
    await copyRecord(one, other);
    for (const pair of [other, ofLeader(other, OTHER)]) {
      const { status, body, signature } = await raw(replica, pair);
      const isSigned = status === 200 && verifyToolSignature(TOOL_KEY, pair.signed, body, signature);
      assert.equal(isSigned, false, "the result of one input is signed for another");
    }
  });

  it("a record with a changed result: the answer has no valid signature of the tool", async () => {
    const pair = nextPair();
    assert.ok(await leaders.call(pair));
    const key = await recordKeyOf(pair);
    await redis.client.setrange(key, (await redis.client.strlen(key)) - 8, "altered!");
    for (const each of [pair, ofLeader(pair, OTHER)]) {
      const { status, body, signature } = await raw(replica, each);
      assert.equal(status === 200 && verifyToolSignature(TOOL_KEY, each.signed, body, signature), false);
    }
    assert.equal(ran(pair), 1);
  });

  it("a call whose record has a later version, as in a rolling upgrade, gets 409 and does not run again", async () => {
    const pair = nextPair();
    assert.ok(await leaders.call(pair));
    const key = await recordKeyOf(pair);
    await redis.client.setrange(key, 0, "\u0002");
    for (const each of [pair, ofLeader(pair, OTHER)]) assert.equal(await leaders.once(each), 409);
    await redis.client.setrange(key, 0, "\u0001");
    assert.ok(await leaders.call(pair));
    assert.equal(ran(pair), 1);
  });

  it("a stored result that another leader requests is signed again", async () => {
    const pair = nextPair();
    assert.equal(await leaders.once(pair), 200);
    const again = ofLeader(pair, OTHER);
    assert.equal(await leaders.once(again), 200);
    assert.deepEqual(again.results, pair.results);
    assert.equal(ran(pair), 1);
  });

  it("the text of an error in a record is in no log line and no metric", async () => {
    hostile.attack = (command) => {
      if (!isClaim(command)) return "pass";
      const parts = { flags: 0, status: 500, code: `${OF_SERVER}_code`, body: Buffer.from("{}") };
      return { bytes: bulk(recordOf(claimOf(command).caller, parts)) };
    };
    await leaders.once(nextPair());
    const metrics = await (await fetch(`http://127.0.0.1:${replica.admin}/metrics`)).text();
    assert.ok(!metrics.includes(OF_SERVER), "a name of a metric's label comes from Redis");
    await recovered();
  });

  for (const [name, bytes] of Object.entries({
    "an error": `-ERR ${OF_SERVER}\r\n`,
    "an integer": ":1\r\n",
    "an empty array": "*0\r\n",
    "a grace period of ages": `*2\r\n$60\r\n${"i".repeat(60)}\r\n:9007199254740991\r\n`,
    "a negative grace period": `*2\r\n$60\r\n${"j".repeat(60)}\r\n:-9\r\n`,
    "an empty incarnation": "*2\r\n$0\r\n\r\n:0\r\n",
  })) {
    it(`the incarnation is answered with ${name}: nothing runs twice, and calls run afterwards`, async () => {
      let seen = 0;
      hostile.attack = (command) => {
        if (!isHello(command)) return "pass";
        seen++;
        return { bytes };
      };
      await until(() => seen > 1, "a heartbeat");
      await recovered();
    });
  }

  async function recordKeyOf({ signed }: Pair): Promise<Buffer> {
    const keys = (await redis.client.keysBuffer("*")) as Buffer[];
    const found = keys.find((key) => [signed.nonce, signed.inputHash].every((part) => key.includes(Buffer.from(part))));
    assert.ok(found !== undefined);
    return found;
  }

  async function copyRecord(from: Pair, to: Pair): Promise<void> {
    await redis.client.copy(await recordKeyOf(from), await recordKeyOf(to), "REPLACE");
  }
});

/** The same invocation, signed by another leader. */
function ofLeader({ id, signed }: Pair, leader: typeof LEADER): Pair {
  return makePair(id, { waitMs: 0 }, leader, signed.nonce);
}

/** An answer as it is, without a look at its signature. */
async function raw({ url }: Replica, { signed }: Pair) {
  const response = await fetch(`${url}/invoke`, { method: "POST", headers: signed.headers, body: signed.body });
  const body = Buffer.from(await response.arrayBuffer());
  const signature = Buffer.from(response.headers.get("x-svc-tool-signature") ?? "", "base64url");
  return { status: response.status, body, signature };
}
