// The allow-list: faults at load, look-ups, and a file that changes under a running server.

import assert from "node:assert/strict";
import fs, { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { publicKeyOf } from "#client/wire/signature/ed25519.js";
import type { VerifyKey } from "#client/wire/signature/ed25519-keys.js";
import { ConfigError, ToolkitRuntimeConfig } from "#runtime/config/config.js";
import { SafeLogger } from "#runtime/server/log/safe-logger.js";
import { ServerReload } from "#runtime/server/reload.js";
import { proves, provesRow } from "../proves.js";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";
import { keptLog, until } from "./tools.js";

function hexOf(key: VerifyKey | undefined): string | undefined {
  return key && Buffer.from(key.bytes).toString("hex");
}

const directory = scratchFolder();

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

/** A resolver over a file with this content, followed as by a server, and the warnings about it. */
function watched(content: string, path = newPath()) {
  writeFileSync(path, content);
  const config = configWith({ allowed_leaders_path: path });
  const { leaders } = config;
  const log = keptLog();
  const reload = new ServerReload({ config, served: ["demo"], log: SafeLogger.of(log), intervalMs: 20 });
  atEnd(() => reload.close());
  const warnings = () => log.entries.splice(0).flatMap(({ level, message }) => (level === "warn" ? [message] : []));
  const found = (kid = 0n) => hexOf(leaders.lookup("leader", kid));
  return { path, leaders, reload, warnings, found };
}

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

    it(`${name}: an id that cannot be in a header never matches`, () => {
      for (const id of ["", "two words", "l\u00e9ader", "tab\t"]) assert.equal(leaders.lookup(id, 0n), undefined, id);
      proves("5.2");
    });
  }
});

describe("faults at load", () => {
  const entry = (text: string) => `{"version":1,"leaders":[{"leader_id":"l","keys":[${text}]}]}`;
  type Fault = [name: string, text: string, place: string, fault: string];
  const wrongKey = (name: string, publicKey: string, got: string): Fault => [
    name,
    entry(`{"kid":0,"public_key":"${publicKey}"}`),
    "1:72 /leaders/0/keys/0/public_key",
    `must be an Ed25519 public key as 64 hex digits, with or without 0x, got ${got}`,
  ];
  const faults: Fault[] = [
    ["a text", `"x"`, "1:1 the document", "must be an object, got a string"],
    ["no list", `{"version":1}`, "1:1 the document", "must be an object with the member leaders, got one without it"],
    ["version 2", `{"version":2,"leaders":[]}`, "1:12 /version", "must be 1, got another version"],
    wrongKey(
      "key PEM",
      "-----BEGIN PUBLIC KEY-----\\nMCowBQYDK2VwAyEA",
      `PEM; "openssl pkey -pubin -in FILE -outform DER | tail -c 32 | `,
    ),
    wrongKey("not a point", `02${"00".repeat(31)}`, "bytes that are not a valid public key"),
    wrongKey("not canonical", `f0${"ff".repeat(30)}7f`, "bytes that are not a valid public key"),
    wrongKey("small order", `01${"00".repeat(31)}`, "bytes that are not a valid public key"),
    [
      "a repeated kid",
      entry(`{"kid":1,"public_key":"${key(1)}"},\n{"kid":1,"public_key":"${key(2)}"}`),
      "2:8 /leaders/0/keys/1/kid",
      "must be an ID that no other key of the leader has, got a repeated one; give a new key of the leader another kid; if this entry is for another leader, correct its leader_id",
    ],
    [
      "a repeated kid in another entry of the leader",
      `{"version":1,"leaders":[{"leader_id":"l","keys":[{"kid":1,"public_key":"${key(1)}"}]},
{"leader_id":"\\u006c","keys":[{"kid":1,"public_key":"${key(1)}"}]}]}`,
      "2:38 /leaders/1/keys/0/kid",
      "must be an ID that no other key of the leader has, got a repeated one",
    ],
    [
      "an unknown member",
      entry(`{"kid":1,"x":1}`),
      "1:59 /leaders/0/keys/0",
      "must contain only kid, public_key, got another",
    ],
    ["the leaders alone", "[]", "1:1 the document", 'must be an object, got an array; write {"version": 1, "leaders"'],
    [
      "a whole configuration",
      `{"signed_http":{"allowed_leaders":${list()}}}`,
      "1:2 the document",
      "must contain only version, leaders, got another member, signed_http; it belongs in a configuration: write only",
    ],
    ["nothing", "", "1:1 the document", "must be JSON: "],
  ];

  for (const [name, text, place, fault] of faults) {
    it(`${name} is reported with its position`, () => {
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

  it("the error for a missing or unreadable file contains its path", () => {
    const missing = newPath();
    writeFileSync(newPath(), "");
    const loop = newPath();
    symlinkSync(loop, loop);
    for (const [path, got] of [
      [missing, "ENOENT"],
      [join(missing, "below"), "ENOENT"],
      [loop, "ELOOP"],
      [directory, "a directory or a special file"],
    ] as const) {
      assert.throws(() => configWith({ allowed_leaders_path: path }), {
        name: "ConfigError",
        message: `allow-list ${JSON.stringify(path)} must be a readable file, got ${got}; correct the path or create the file`,
      });
    }
    assert.throws(() => configWith({ allowed_leaders_path: "" }), ConfigError);
    assert.throws(() => configWith({ allowed_leaders_path: "a\0b" }), ConfigError);
    proves("10.12");
  });
});

describe("a file that changes", () => {
  it("is read at the next look-up, in place or replaced, and logged and counted by the follower", async () => {
    const { path, found, warnings, reload } = watched(list(key(1)));
    writeFileSync(path, list(key(2)));
    assert.equal(found(), key(2), "the second version");
    await until(() => reload.stats.allowList?.applied === 1, "it is counted");
    writeFileSync(`${path}.new`, list(key(4), key(5)));
    renameSync(`${path}.new`, path);
    await turn();
    assert.equal(found(1n), key(5), "the third version");
    // A large list is read in the same way.
    writeFileSync(path, list(...Array.from({ length: 4_000 }, (_, n) => key(n % 200))));
    await turn();
    assert.equal(found(3_999n), key(199), "the fourth version");
    writeFileSync(path, list(key(6)));
    await turn();
    assert.deepEqual([found(), found(1n)], [key(6), undefined], "the fifth version");
    await until(() => (reload.stats.allowList?.applied ?? 0) >= 2, "the last version is counted");
    assert.deepEqual(warnings(), []);
    proves("10.15");
  });

  it("is compared once in a turn of the event loop, and read only when its stats differ", async (t) => {
    const path = newPath();
    writeFileSync(path, list(key(1)));
    const { leaders } = configWith({ allowed_leaders_path: path });
    const looks = { statSync: 0, openSync: 0 };
    for (const name of ["statSync", "openSync"] as const) {
      const real = fs[name] as (...args: unknown[]) => unknown;
      t.mock.method(fs, name, ((...args: unknown[]) => {
        looks[name]++;
        return real(...args);
      }) as never);
    }
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    const found = () => hexOf(leaders.lookup("leader", 0n));
    for (let i = 0; i < 10; i++) assert.equal(found(), key(1));
    assert.deepEqual(looks, { statSync: 1, openSync: 0 });
    await turn();
    writeFileSync(path, list(key(2)));
    looks.openSync = 0;
    for (let i = 0; i < 10; i++) assert.equal(found(), key(2));
    assert.deepEqual(looks, { statSync: 2, openSync: 1 });
    await turn();
    writeFileSync(path, "{");
    looks.openSync = 0;
    for (let i = 0; i < 10; i++) {
      await turn();
      assert.equal(found(), key(2), "an invalid version is not used");
    }
    assert.equal(looks.openSync, 1);
  });

  it("keeps the prepared keys that the new version still lists", async () => {
    const { path, leaders, reload, found } = watched(list(key(1), key(2)));
    const before = leaders.lookup("leader", 1n);
    writeFileSync(path, list(key(3), key(2)));
    await reload.reload();
    assert.equal(found(), key(3));
    assert.equal(leaders.lookup("leader", 1n), before);
  });
});
