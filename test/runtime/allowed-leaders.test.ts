// The allow-list: faults at load, look-ups, and a file that changes under a running server.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs, {
  appendFileSync,
  type BigIntStats,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError, ToolkitRuntimeConfig } from "#runtime/config/config.js";
import { publicKeyOf } from "#runtime/wire/ed25519.js";
import type { VerifyKey } from "#runtime/wire/ed25519-keys.js";
import { proves, provesRow } from "../proves.js";

function hexOf(key: VerifyKey | undefined): string | undefined {
  return key && Buffer.from(key.bytes).toString("hex");
}

const directory = mkdtempSync(join(tmpdir(), "allow-list-"));
after(() => rmSync(directory, { recursive: true }));

let files = 0;
const newPath = () => join(directory, `list-${files++}.json`);
const key = (n: number) => Buffer.from(publicKeyOf(Buffer.alloc(32, n))).toString("hex");

/** An allow-list in which `leader` has the given keys under 0, 1, … */
function list(...keys: string[]): string {
  return JSON.stringify({
    version: 1,
    leaders: [{ leader_id: "leader", keys: keys.map((public_key, kid) => ({ kid, public_key })) }],
  });
}

function configWith(source: object): ToolkitRuntimeConfig {
  return ToolkitRuntimeConfig.fromJsonStr(JSON.stringify({ signed_http: { ...source, tools: { demo: {} } } }));
}

function fromInline(text: string): ToolkitRuntimeConfig {
  return ToolkitRuntimeConfig.fromJsonStr(`{"signed_http":{"allowed_leaders":${text},"tools":{"demo":{}}}}`);
}

/** A resolver over a file with this content, and the warnings that it gave. */
function watched(content: string, path = newPath()) {
  writeFileSync(path, content);
  const { leaders } = configWith({ allowed_leaders_path: path });
  const warnings: string[] = [];
  leaders.onWarning = (message) => warnings.push(message);
  const found = (kid = 0n) => hexOf(leaders.lookup("leader", kid));
  return { path, leaders, warnings, found };
}

/** Lets a file's time stamp become old enough to be trusted. */
const settle = () => sleep(130);

describe("look-up", () => {
  const text = `{"version":1,"leaders":[
    {"leader_id":"leader","keys":[{"kid":0,"public_key":"${key(1)}"},{"kid":9007199254740993,"public_key":"${key(2)}"}]},
    {"leader_id":"other","keys":[{"kid":0,"public_key":"0x${key(3).toUpperCase()}"}]},
    {"leader_id":"leader","keys":[{"kid":18446744073709551615,"public_key":"${key(4)}"}]},
    {"leader_id":"","keys":[{"kid":0,"public_key":"${key(1)}"}]},
    {"leader_id":"two words","keys":[{"kid":0,"public_key":"${key(1)}"}]},
    {"leader_id":"l\\u00e9ader","keys":[{"kid":0,"public_key":"${key(1)}"}]},
    {"leader_id":"tab\\t","keys":[{"kid":0,"public_key":"${key(1)}"}]},
    {"leader_id":"__proto__","keys":[{"kid":7,"public_key":"${key(5)}"}]},
    {"leader_id":"nobody","keys":[]}]}`;

  for (const [name, leaders] of [
    ["inline", fromInline(text).leaders],
    ["from a file", watched(text).leaders],
  ] as const) {
    it(`${name}: finds exactly the listed ids and keys`, () => {
      const found = (leaderId: string, kid: bigint) => hexOf(leaders.lookup(leaderId, kid));
      assert.equal(found("leader", 0n), key(1));
      assert.equal(found("other", 0n), key(3));
      assert.equal(found("__proto__", 7n), key(5));
      assert.equal(found("leader", 9007199254740993n), key(2));
      assert.equal(found("leader", 18446744073709551615n), key(4));
      for (const kid of [1n, 9007199254740992n, 9007199254740994n, 18446744073709551614n, -1n]) {
        assert.equal(found("leader", kid), undefined);
      }
      for (const id of ["Leader", "leader ", "lead", "constructor", "toString", "nobody", "unknown"]) {
        assert.equal(found(id, 0n), undefined, id);
      }
      proves("10.7");
    });

    it(`${name}: an id that no header can carry never matches`, () => {
      for (const id of ["", "two words", "l\u00e9ader", "tab\t"]) assert.equal(leaders.lookup(id, 0n), undefined, id);
      proves("5.2");
    });
  }

  it("gives the same prepared key each time", () => {
    const { leaders } = watched(list(key(1)));
    assert.equal(leaders.lookup("leader", 0n), leaders.lookup("leader", 0n));
  });
});

describe("faults at load", () => {
  const entry = (text: string) => `{"version":1,"leaders":[{"leader_id":"l","keys":[${text}]}]}`;
  const keyed = (publicKey: string) => entry(`{"kid":0,"public_key":"${publicKey}"}`);
  const wantedKey = "must be an Ed25519 public key as 64 hex digits, with or without 0x, got ";
  const faults: [name: string, text: string, place: string, fault: string][] = [
    ["a text", `"x"`, "1:1 the document", "must be an object, got a text"],
    ["no list", `{"version":1}`, "1:1 the document", "must be an object with the member leaders, got one without it"],
    ["version 2", `{"version":2,"leaders":[]}`, "1:12 /version", "must be 1, got another version"],
    ["version 1.0", `{"version":1.0,"leaders":[]}`, "1:12 /version", "must be an integer from 0 to 255, got a number"],
    ["version text", `{"version":"1","leaders":[]}`, "1:12 /version", "must be an integer from 0 to 255, got a text"],
    ["leaders null", `{"version":1,"leaders":null}`, "1:24 /leaders", "must be an array, got null"],
    ["leaders object", `{"version":1,"leaders":{}}`, "1:24 /leaders", "must be an array, got an object"],
    ["a leader null", `{"version":1,"leaders":[null]}`, "1:25 /leaders/0", "must be an object, got null"],
    [
      "keys null",
      `{"version":1,"leaders":[{"leader_id":"l","keys":null}]}`,
      "1:49 /leaders/0/keys",
      "must be an array",
    ],
    [
      "id null",
      `{"version":1,"leaders":[{"leader_id":null,"keys":[]}]}`,
      "1:38 /leaders/0/leader_id",
      "must be a text",
    ],
    ["kid null", entry(`{"kid":null,"public_key":"x"}`), "1:57 /leaders/0/keys/0/kid", "must be an integer from 0 to"],
    ["key null", entry(`{"kid":1,"public_key":null}`), "1:72 /leaders/0/keys/0/public_key", "must be a text, got null"],
    ["key short", keyed("00"), "1:72 /leaders/0/keys/0/public_key", `${wantedKey}2 hex digits`],
    [
      "key 0X",
      keyed(`0X${key(1)}`),
      "1:72 /leaders/0/keys/0/public_key",
      `${wantedKey}a text of 66 characters, some of them no hex digits`,
    ],
    ["not a point", keyed(`02${"00".repeat(31)}`), "1:72 /leaders/0/keys/0/public_key", `${wantedKey}bytes that no`],
    [
      "not canonical",
      keyed(`f0${"ff".repeat(30)}7f`),
      "1:72 /leaders/0/keys/0/public_key",
      `${wantedKey}bytes that no`,
    ],
    ["small order", keyed(`01${"00".repeat(31)}`), "1:72 /leaders/0/keys/0/public_key", `${wantedKey}bytes that no`],
    [
      "a repeated kid",
      entry(`{"kid":1,"public_key":"${key(1)}"},\n{"kid":1,"public_key":"${key(2)}"}`),
      "2:8 /leaders/0/keys/1/kid",
      "must be given once for a leader, got a repeated one",
    ],
    [
      "a repeated kid in another entry of the leader",
      `{"version":1,"leaders":[{"leader_id":"l","keys":[{"kid":1,"public_key":"${key(1)}"}]},
{"leader_id":"\\u006c","keys":[{"kid":1,"public_key":"${key(1)}"}]}]}`,
      "2:38 /leaders/1/keys/0/kid",
      "must be given once for a leader, got a repeated one",
    ],
    [
      "an unknown member",
      entry(`{"kid":1,"x":1}`),
      "1:59 /leaders/0/keys/0",
      "must hold only kid, public_key, got another",
    ],
    [
      "a repeated member",
      `{"version":1,\n"leaders":[],\n "leaders":[]}`,
      "3:2 the document",
      "must hold each member once",
    ],
    ["a comment", `{"version":1, // one\n"leaders":[]}`, "1:15 the document", "must be JSON: "],
    ["a byte-order mark", `\ufeff${list()}`, "1:1 the document", "must be JSON: "],
    ["nothing", "", "1:1 the document", "must be JSON: "],
  ];

  for (const [name, text, place, fault] of faults) {
    it(`${name} is named with its place`, () => {
      const path = newPath();
      writeFileSync(path, text);
      const [position = "", ...pointer] = place.split(" ");
      const [line, column] = position.split(":");
      const start = `allow-list ${JSON.stringify(path)}, line ${line}, column ${column}: ${pointer.join(" ")} ${fault}`;
      assert.throws(
        () => configWith({ allowed_leaders_path: path }),
        (error: unknown) => {
          assert.ok(error instanceof ConfigError);
          assert.equal(error.message.slice(0, start.length), start);
          assert.match(error.message, /; [a-z]/);
          assert.deepEqual([error.file, error.line, error.column], [path, Number(line), Number(column)]);
          assert.equal(error.pointer, pointer.join(" ").replace("the document", ""));
          return true;
        },
      );
      if (text === "" || text.startsWith("\ufeff") || text.includes("//")) return;
      const inline = (error: Error) =>
        error.message.startsWith("configuration, line ") && error.message.includes(` /signed_http/allowed_leaders`);
      assert.throws(() => fromInline(text), inline);
      provesRow(name, {
        "10.7": ["a repeated kid", "version 2", "an unknown member"],
        "10.8": ["not a point", "not canonical", "small order"],
      });
      proves("10.12");
    });
  }

  it("a missing or unreadable file is named, whatever it is instead", () => {
    const missing = newPath();
    writeFileSync(newPath(), "");
    const loop = newPath();
    symlinkSync(loop, loop);
    const fifo = newPath();
    execFileSync("mkfifo", [fifo]);
    for (const [path, got] of [
      [missing, "ENOENT"],
      [join(missing, "below"), "ENOENT"],
      [loop, "ELOOP"],
      [directory, "something else"],
      [fifo, "something else"],
    ] as const) {
      assert.throws(() => configWith({ allowed_leaders_path: path }), {
        name: "ConfigError",
        message: `allow-list ${JSON.stringify(path)} must be a readable file, got ${got}; correct the path or put the file there`,
      });
    }
    assert.throws(() => configWith({ allowed_leaders_path: "" }), ConfigError);
    assert.throws(() => configWith({ allowed_leaders_path: "a\0b" }), ConfigError);
    proves("10.12");
  });

  it("a relative path is taken from the working directory", () => {
    const path = newPath();
    writeFileSync(path, list(key(1)));
    const { leaders } = configWith({ allowed_leaders_path: relative(process.cwd(), path) });
    assert.equal(hexOf(leaders.lookup("leader", 0n)), key(1));
  });
});

describe("a file that changes", () => {
  it("is read again at the next look-up, in place or replaced, whatever its size and times", async () => {
    const { path, found, warnings } = watched(list(key(1)));
    for (let round = 0; round < 3; round++) {
      writeFileSync(path, list(key(2)));
      assert.equal(found(), key(2));
      const times = statSync(path);
      writeFileSync(path, list(key(3)));
      utimesSync(path, times.atime, times.mtime);
      assert.equal(found(), key(3));
      writeFileSync(`${path}.new`, list(key(4), key(5)));
      renameSync(`${path}.new`, path);
      assert.equal(found(1n), key(5));
      writeFileSync(path, list(key(6)));
      assert.deepEqual([found(), found(1n)], [key(6), undefined]);
      if (round < 2) await settle();
      assert.equal(found(), key(6));
    }
    assert.deepEqual(warnings, []);
  });

  /** Files as `node:fs` shows them to the runtime: their stamp is the one given here, and their reads are counted. */
  function stamped(t: TestContext, stamp: Partial<BigIntStats>) {
    const counted = { reads: 0 };
    const { openSync } = fs;
    const change = <T extends object>(stats: T) => Object.assign(stats, stamp);
    t.mock.method(fs, "openSync", (...args: Parameters<typeof openSync>) => {
      counted.reads++;
      return openSync(...args);
    });
    for (const name of ["statSync", "fstatSync"] as const) {
      const real = fs[name] as (...args: unknown[]) => object;
      t.mock.method(fs, name, ((...args: unknown[]) => change(real(...args))) as never);
    }
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    return counted;
  }

  it("is compared at each look-up, by inode, size and time of change, and read again for any of them", (t) => {
    const { path, found } = watched(list(key(1)));
    const stats = statSync(path, { bigint: true });
    t.mock.method(Date, "now", () => Number(stats.ctimeMs) + 60_000);
    const { ino, size, mtimeNs, ctimeNs, dev } = stats;
    const stamp = { ino, size, mtimeNs, ctimeNs, dev };
    const counted = stamped(t, stamp);
    found();
    counted.reads = 0;
    writeFileSync(path, list(key(2)));
    for (let i = 0; i < 3; i++) assert.equal(found(), key(1));
    assert.equal(counted.reads, 0, "the same stamp, long after the change: not read");
    let n = 2;
    for (const member of ["ino", "size", "mtimeNs", "ctimeNs", "dev"] as const) {
      stamp[member]++;
      writeFileSync(path, list(key(++n)));
      counted.reads = 0;
      for (let i = 0; i < 2; i++) assert.equal(found(), key(n), member);
      assert.equal(counted.reads, 1, member);
    }
    proves("10.15");
  });

  it("is read again under the same stamp as long as it is young: a clock that ticks slowly hides no change", (t) => {
    const { path, found } = watched(list(key(1)));
    const { ino, size, mtimeNs, ctimeNs, ctimeMs, dev } = statSync(path, { bigint: true });
    const counted = stamped(t, { ino, size, mtimeNs, ctimeNs, ctimeMs, dev });
    let now = Number(ctimeMs);
    t.mock.method(Date, "now", () => now);
    for (const age of [0, 10, 50, 100]) {
      now = Number(ctimeMs) + age;
      writeFileSync(path, list(key(age + 1)));
      assert.equal(found(), key(age + 1), `${age} ms`);
    }
    now++;
    found();
    counted.reads = 0;
    found();
    assert.equal(counted.reads, 0);
  });

  it("is followed through symlink swaps", async () => {
    const root = mkdtempSync(join(directory, "mounted-"));
    const data = join(root, "..data");
    for (const version of ["a", "b"]) {
      mkdirSync(join(root, version));
      writeFileSync(join(root, version, "list.json"), list(key(version === "a" ? 1 : 2)));
    }
    symlinkSync("a", data);
    symlinkSync(join("..data", "list.json"), join(root, "list.json"));
    const { leaders } = configWith({ allowed_leaders_path: join(root, "list.json") });
    const found = () => hexOf(leaders.lookup("leader", 0n));
    await settle();
    for (const [version, expected] of [
      ["b", key(2)],
      ["a", key(1)],
      ["b", key(2)],
    ] as const) {
      symlinkSync(version, `${data}.new`);
      renameSync(`${data}.new`, data);
      assert.equal(found(), expected);
    }
  });

  it("keeps the previous list while it is gone or invalid, warns once of each failure, and comes back", async () => {
    const { path, leaders, found, warnings } = watched(list(key(1)));
    const look = () => {
      for (let i = 0; i < 5; i++) assert.equal(found(), key(1));
      return warnings.splice(0);
    };
    const quoted = JSON.stringify(path);
    const kept = "; the previous list stays in force";
    const gone = `allow-list ${quoted} must be a readable file, got ENOENT; correct the path or put the file there${kept}`;

    rmSync(path);
    assert.deepEqual(look(), [gone]);
    writeFileSync(path, `{"version":3,"leaders":[]}`);
    const version = `allow-list ${quoted}, line 1, column 12: /version must be 1, got another version; write the list in version 1${kept}`;
    assert.deepEqual(look(), [version]);
    await settle();
    assert.deepEqual(look(), []);
    appendFileSync(path, "\n"); // the same fault in another version of the file
    assert.deepEqual(look(), []);
    writeFileSync(path, list("00".repeat(32)));
    assert.equal(look().length, 1);
    rmSync(path);
    assert.deepEqual(look(), []); // reported already
    mkdirSync(path);
    assert.deepEqual(look(), [gone.replace("ENOENT", "something else")]);
    rmSync(path, { recursive: true });

    writeFileSync(path, list(key(1), key(2)));
    assert.equal(found(1n), key(2));
    assert.deepEqual(look(), []);
    rmSync(path); // a new failure after a good version is news again
    assert.deepEqual(look(), [gone]);
    assert.equal(hexOf(leaders.lookup("leader", 1n)), key(2));
    writeFileSync(path, list());
    assert.equal(found(), undefined);
    proves("10.15");
  });

  it("a file that comes back as it was is good again, and a bad one still bad", () => {
    const { path, found, warnings } = watched(list(key(1)));
    rmSync(path);
    found();
    writeFileSync(path, list(key(1)));
    found();
    rmSync(path);
    found();
    assert.equal(warnings.splice(0).length, 2);
    writeFileSync(path, "[]");
    found();
    rmSync(path);
    found();
    writeFileSync(path, "[]");
    assert.equal(found(), key(1));
    assert.equal(warnings.length, 1);
  });

  it("keeps the prepared keys that the new version still lists", () => {
    const { path, leaders } = watched(list(key(1), key(2)));
    const before = leaders.lookup("leader", 1n);
    writeFileSync(path, list(key(3), key(2)));
    assert.equal(leaders.lookup("leader", 1n), before);
  });

  it("never throws at look-up, not even with a log that does", () => {
    const { path, leaders, found } = watched(list(key(1)));
    leaders.onWarning = () => {
      throw new Error("log is full");
    };
    rmSync(path);
    assert.equal(found(), key(1));
  });

  it("warns through the process until a log is given", async () => {
    const path = newPath();
    writeFileSync(path, list(key(1)));
    const { leaders } = configWith({ allowed_leaders_path: path });
    rmSync(path);
    const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
    leaders.lookup("leader", 0n);
    assert.match((await warning).message, /ENOENT/);
  });

  it("no key text is in any warning", () => {
    const marked = key(77);
    const { path, found, warnings } = watched(list(marked));
    for (const text of [
      list(marked).slice(0, -1),
      list(`${marked}0`),
      list(`0X${marked}`),
      list(marked).replace('"kid"', `"${marked}":1,"kid"`),
      list(marked).replace("leader_id", marked),
      list(marked).replace(":0", `:"${marked}"`),
      `"${marked}"`,
      marked,
    ]) {
      writeFileSync(path, text);
      assert.equal(found(), marked);
    }
    assert.equal(warnings.length, 8);
    for (const warning of warnings) assert.ok(!warning.includes(marked.slice(0, 12)), warning);
  });
});
