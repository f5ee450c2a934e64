/** `svc-gen keys`: files with a private key, what is printed of them, and what never is. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { EXIT } from "#generator/cli/cli.js";
import { ToolkitRuntimeConfig } from "#runtime/index.js";
import { publicKeyOf } from "#runtime/leader.js";
import { REPOSITORY } from "../repository.js";
import { scratchFolder } from "../scratch-folder.js";
import { svcGenIn } from "./run-cli.js";

const KEY = Buffer.alloc(32, 7);
const HEX = KEY.toString("hex");
const PUBLIC = Buffer.from(publicKeyOf(KEY)).toString("hex");
const HAS_MODES = process.platform !== "win32";
const FQN = "xyz.demo.sum@1";

let folder: string;
beforeEach(() => {
  folder = scratchFolder();
});

const keys = (...args: string[]) => svcGenIn(folder, ["keys", ...args]);
const at = (name: string) => join(folder, name);
const modeOf = (name: string) => statSync(at(name)).mode & 0o7777;

function writeKey(name: string, text: string | Buffer, mode = 0o600): void {
  writeFileSync(at(name), text);
  chmodSync(at(name), mode);
}

/** A configuration of two entries, read as a server reads it. */
function load(leader: object, tools: object): ToolkitRuntimeConfig {
  const signed_http = { allowed_leaders: { version: 1, leaders: [leader] }, tools };
  return ToolkitRuntimeConfig.fromJsonStr(JSON.stringify({ signed_http }));
}

test("keys new writes a file that only its owner can read, and prints entries that a server accepts", async () => {
  const { code, out, err } = await keys(
    "new",
    "a.key",
    "--leader-id",
    "alice",
    "--key-id",
    "3",
    "--tool",
    "xyz.demo.sum@01",
  );
  assert.deepEqual([code, err], [EXIT.done, ""]);
  const text = readFileSync(at("a.key"), "utf8");
  assert.match(text, /^[0-9a-f]{64}\n$/);
  if (HAS_MODES) assert.equal(modeOf("a.key"), 0o600);
  assert.ok(!out.includes(text.trim()), "the private key is not printed");
  const publicKey = Buffer.from(publicKeyOf(Buffer.from(text, "hex"))).toString("hex");
  assert.match(out, new RegExp(`^public key: ${publicKey}$`, "m"));
  const [, leader = ""] = /^ {2}(\{"leader_id".*\})$/m.exec(out) ?? assert.fail(out);
  assert.deepEqual(JSON.parse(leader), { leader_id: "alice", keys: [{ kid: 3, public_key: publicKey }] });
  const [, tool = ""] = /^ {2}("xyz\.demo\.sum@1":.*)$/m.exec(out) ?? assert.fail(out);
  assert.match(tool, /the text in a\.key/);
  const config = load(JSON.parse(leader), JSON.parse(`{${tool.replace("the text in a.key", text.trim())}}`));
  assert.equal(Buffer.from(config.toolConfig(FQN)?.signingKey?.publicKey ?? []).toString("hex"), publicKey);
});

test("keys new: a default name, another key each time, the tool of ./meta.json, --json, --reveal", async () => {
  writeFileSync(at("meta.json"), JSON.stringify([{ fqn: "xyz.demo.other@2" }]));
  const first = await keys("new", "--json");
  assert.equal(first.code, EXIT.done);
  const document = JSON.parse(first.out);
  const text = readFileSync(at("signing.key"), "utf8").trim();
  assert.deepEqual(document, {
    file: "signing.key",
    public_key: Buffer.from(publicKeyOf(Buffer.from(text, "hex"))).toString("hex"),
    allowed_leaders: { leader_id: "leader", keys: [{ kid: 0, public_key: document.public_key }] },
    tools: { "xyz.demo.other@2": { response_signing_key: "the text in signing.key" } },
  });
  const second = JSON.parse((await keys("new", "b.key", "--json", "--reveal")).out);
  const other = readFileSync(at("b.key"), "utf8").trim();
  assert.notEqual(other, text);
  assert.equal(second.private_key, other);
  const config = load(second.allowed_leaders, second.tools);
  assert.equal(
    Buffer.from(config.toolConfig("xyz.demo.other@2")?.signingKey?.publicKey ?? []).toString("hex"),
    second.public_key,
  );
  assert.match((await keys("new", "c.key", "--reveal")).out, /^private key: [0-9a-f]{64}$/m);
  const widest = await keys("new", "d.key", "--key-id", "18446744073709551615", "--json");
  assert.match(widest.out, /"kid":18446744073709551615,/);
});

test("the mode does not depend on the umask", { skip: !HAS_MODES }, () => {
  for (const [name, umask] of [
    ["open.key", "000"],
    ["closed.key", "777"],
  ] as const) {
    const { status, stderr } = spawnSync(
      "sh",
      ["-c", `umask ${umask}; exec "$0" "$1" keys new ${name}`, process.execPath, join(REPOSITORY, "generator/bin.js")],
      { cwd: folder, encoding: "utf8" },
    );
    assert.equal(status, EXIT.done, stderr);
    assert.equal(modeOf(name), 0o600);
  }
});

test("keys commands replace no file, link or folder", async () => {
  writeKey("taken.key", "mine");
  symlinkSync(at("target"), at("dangling.key"));
  symlinkSync(at("taken.key"), at("link.key"));
  mkdirSync(at("folder.key"));
  const before = readdirSync(folder);
  for (const [args, what] of [
    [["new", "taken.key"], '"taken.key" already exists'],
    [["new", "dangling.key"], '"dangling.key" is a symbolic link'],
    [["new", "link.key"], '"link.key" is a symbolic link'],
    [["new", "folder.key"], '"folder.key" already exists'],
  ] as const) {
    const { code, out, err } = await keys(...args);
    assert.deepEqual(
      [code, out, err],
      [
        EXIT.failure,
        "",
        `svc-gen: ${what.replace(/; .*/, "")}; keys are written to new files only (choose another name)\n`,
      ],
    );
  }
  assert.deepEqual(readdirSync(folder), before);
  assert.equal(readFileSync(at("taken.key"), "utf8"), "mine");
  assert.ok(lstatSync(at("dangling.key")).isSymbolicLink());
  assert.equal(existsSync(at("target")), false);
  assert.equal((await keys("new", "nowhere/a.key")).code, EXIT.done, "makes the folder");
  if (HAS_MODES) assert.equal(modeOf("nowhere/a.key"), 0o600);
});

test("a full disk leaves no part of a key", { skip: process.platform !== "linux" }, () => {
  // Simulates a full disk, by a limit on the size of files.
  const bin = join(REPOSITORY, "generator/bin.js");
  const line = `ulimit -f 0; trap '' XFSZ; exec "$0" "$1" keys new a.key 2>&1`;
  const { status, stdout } = spawnSync("sh", ["-c", line, process.execPath, bin], { cwd: folder, encoding: "utf8" });
  assert.match(
    stdout,
    /cannot write ".*a\.key": the file is larger than the system allows \(nothing was replaced\)\n$/,
  );
  assert.equal(status, EXIT.failure);
  assert.deepEqual(readdirSync(folder), []);
});

test("keys show: public key and permissions; the private key only with --reveal", async () => {
  writeKey("a.key", `  0x${HEX.toUpperCase()}\r\n`);
  const shown = await keys("show", "a.key", "--leader-id", "alice", "--key-id", "2");
  const entry = `{"leader_id":"alice","keys":[{"kid":2,"public_key":"${PUBLIC}"}]}`;
  const mode = HAS_MODES ? "mode: 0600\n" : "";
  assert.deepEqual(shown, {
    code: EXIT.done,
    out: `public key: ${PUBLIC}\n${mode}in an allow-list: ${entry}\n`,
    err: "",
  });
  assert.match((await keys("show", "a.key", "--reveal")).out, new RegExp(`^private key: 0x${HEX}$`, "m"));
  const json = await keys("show", "a.key", "--json");
  assert.deepEqual(JSON.parse(json.out), {
    file: "a.key",
    public_key: PUBLIC,
    ...(HAS_MODES && { mode: "0600" }),
    allowed_leaders: { leader_id: "leader", keys: [{ kid: 0, public_key: PUBLIC }] },
    diagnostics: [],
  });
  assert.equal(JSON.parse((await keys("show", "a.key", "--json", "--reveal")).out).private_key, `0x${HEX}`);
});

test("a public key file is not accepted as a private key, and is not overwritten", async () => {
  writeFileSync(join(folder, "leader.pub"), HEX);
  for (const command of ["show", "new"]) {
    const { code, err } = await keys(command, "leader.pub");
    assert.equal(code, EXIT.failure);
    assert.match(err, /expected the file of a private key, got "leader\.pub", which is named like a public key/);
  }
});

test("keys show reports every excessive permission and the command that removes it", {
  skip: !HAS_MODES,
}, async () => {
  for (const [mode, rights] of [
    [0o640, "its group can read it"],
    [0o604, "every user of this machine can read it"],
    [
      0o666,
      "its group can read it, every user of this machine can read it, its group can change it, every user of this machine can change it",
    ],
    [0o620, "its group can change it"],
  ] as const) {
    writeKey("it's.key", HEX, mode);
    const { code, err } = await keys("show", "it's.key");
    assert.deepEqual([code, err], [EXIT.done, `warning: "it's.key": ${rights}: chmod 600 'it'\\''s.key'\n`]);
  }
  const { diagnostics } = JSON.parse((await keys("show", "it's.key", "--json")).out);
  assert.deepEqual(
    diagnostics.map(({ severity }: { severity: string }) => severity),
    ["warning"],
  );
});

test("keys show: every key format of a configuration", async () => {
  const flagged = (key: Buffer) => Buffer.concat([Buffer.of(0), key]);
  // A key whose base64 has characters that differ in base64url, and one whose text has none of them.
  for (const key of [KEY, Buffer.alloc(32, 0xfb)]) {
    for (const [form, text] of [
      ["hex", key.toString("hex")],
      ["0x-hex", `0x${key.toString("hex")}`],
      ["base64", key.toString("base64")],
      ["base64url", key.toString("base64url")],
      ["flagged-hex", flagged(key).toString("hex")],
      ["flagged-0x-hex", `0x${flagged(key).toString("hex")}`],
      ["flagged-base64", flagged(key).toString("base64")],
      ["flagged-base64url", flagged(key).toString("base64url")],
    ] as const) {
      writeKey("a.key", `${text}\n`);
      const shown = JSON.parse((await keys("show", "a.key", "--json", "--reveal")).out);
      const publicKey = Buffer.from(publicKeyOf(key)).toString("hex");
      assert.deepEqual([shown.public_key, shown.private_key], [publicKey, text], form);
      const config = load({ leader_id: "leader", keys: [] }, { [FQN]: { response_signing_key: text } });
      assert.deepEqual(Buffer.from(config.toolConfig(FQN)?.signingKey?.publicKey ?? []), publicKeyOf(key), form);
    }
  }
});

test("a file of `nexus tool auth keygen` is accepted as a key file", async () => {
  const keygen = (privateKey: string) => `{\n  "private_key_hex": "${privateKey}",\n  "public_key_hex": "${PUBLIC}"\n}`;
  writeKey("tool.json", keygen(HEX));
  const { public_key, private_key } = JSON.parse((await keys("show", "tool.json", "--json", "--reveal")).out);
  assert.deepEqual([public_key, private_key], [PUBLIC, HEX]);
  writeKey("mixed.json", keygen("08".repeat(32)));
  const mixed = await keys("show", "mixed.json");
  assert.equal(mixed.code, EXIT.failure);
  assert.match(mixed.err, /got JSON whose private and public key do not match/);
});

test("errors of key files name the file, the expected form and the actual length, but no byte of a key", async () => {
  const wanted = "a private key of 32 bytes: 64 hex digits, base64 or base64url";
  const secret = HEX.slice(0, 62);
  const pem = (type: string, content: string) => `-----BEGIN ${type}-----\n${content}\n-----END ${type}-----\n`;
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), KEY]).toString("base64");
  for (const [text, got] of [
    [secret, "62 hex digits"],
    [`${HEX}0`, "65 hex digits"],
    [`0x${secret}`, "62 hex digits"],
    ["", "an empty string"],
    ["\n", "an empty string"],
    [KEY.subarray(1).toString("base64"), "31 bytes"],
    [Buffer.concat([Buffer.of(1), KEY]).toString("base64"), "33 bytes whose first byte is not zero"],
    [`"${HEX}"`, "a text in quotes"],
    [`\ufeff${HEX}`, "text with a byte order mark; save the file without it"],
    [`{"key":"${HEX}"}`, "JSON"],
    [
      pem("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjE="),
      "PEM that is not an unencrypted Ed25519 key in PKCS #8 or SPKI",
    ],
    [pem("PUBLIC KEY", pkcs8), "a public key in PEM"],
    [
      pem("PRIVATE KEY", pkcs8),
      `PEM; "openssl pkey -in FILE -outform DER | tail -c 32 | od -An -vtx1 | tr -d ' \\n'" prints the key in hex`,
    ],
    [`ssh-ed25519 ${KEY.toString("base64")}`, "an SSH key"],
    [`${HEX}\n${HEX}\n`, "129 characters in none of these formats"],
    [Buffer.alloc(32, 0xff), "32 characters in none of these formats"],
  ] as const) {
    writeKey("bad.key", text);
    assert.deepEqual(await keys("show", "bad.key", "--reveal"), {
      code: EXIT.failure,
      out: "",
      err: `svc-gen: "bad.key" must contain ${wanted}; got ${got} (create one with svc-gen keys new)\n`,
    });
  }
  assert.deepEqual(readdirSync(folder), ["bad.key"]);
  const json = await keys("show", "bad.key", "--json");
  assert.equal(JSON.parse(json.out).diagnostics[0].code, "failed");
});

test("unreadable files are named, and a pipe does not block", async () => {
  mkdirSync(at("folder"));
  const said = async (...args: string[]) => {
    const { code, err } = await keys(...args);
    return [code, err];
  };
  assert.deepEqual(await said("show", "none.key"), [
    EXIT.failure,
    'svc-gen: cannot read "none.key": the file does not exist (create one with svc-gen keys new)\n',
  ]);
  writeKey("large.key", Buffer.alloc(5000, 0x30));
  assert.match(String(await said("show", "large.key")), /large\.key" is larger than 4096 bytes/);
  assert.match(String(await said("show", "folder")), /^1,svc-gen: cannot read "folder": it is a folder/);
  if (HAS_MODES && spawnSync("mkfifo", [at("pipe")]).status === 0) {
    assert.match(String(await said("show", "pipe")), /pipe" is not a regular file \(create one/);
  }
});
