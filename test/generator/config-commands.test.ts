/** `svc-gen config init` and `svc-gen config check`, through the command line. */

import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { publicKeyOf } from "#client/wire/signature/ed25519.js";
import { ToolkitRuntimeConfig } from "#runtime/config/config.js";
import { scratchFolder } from "../scratch-folder.js";
import { svcGenIn } from "./run-cli.js";

const SUM = "xyz.demo.sum@1";
const POSIX = process.platform !== "win32";
const PUBLIC = Buffer.from(publicKeyOf(Buffer.alloc(32, 3))).toString("hex");
const SEED = "09".repeat(32);
const SEED_PUBLIC = Buffer.from(publicKeyOf(Buffer.from(SEED, "hex"))).toString("hex");
const LIST = { version: 1, leaders: [{ leader_id: "acme", keys: [{ kid: 0, public_key: PUBLIC }] }] };

/** A folder with a meta.json of these tools. */
const project = (...fqns: string[]) => scratchFolder({ "meta.json": JSON.stringify(fqns.map((fqn) => ({ fqn }))) });

function put(folder: string, name: string, content: unknown, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  chmodSync(path, mode);
  return name;
}

interface Found {
  severity: string;
  code: string;
  message: string;
  file?: string;
  line?: number;
  column?: number;
  pointer?: string;
}

async function check(folder: string, ...args: string[]): Promise<{ code: number; found: Found[] }> {
  const { code, out } = await svcGenIn(folder, ["config", "check", "--json", ...args]);
  return { code, found: JSON.parse(out).diagnostics };
}

describe("config init", () => {
  it("writes a configuration that a server accepts, for every tool, with new keys", async () => {
    const folder = project(SUM, "xyz.demo.mul@2");
    const { code, out, err } = await svcGenIn(folder, ["config", "init"]);
    assert.deepEqual([code, err], [0, ""]);
    const call =
      /\nthen call (.*): npx (svc-gen invoke) URL '\{…\}' (--signed --leader-key keys\/leader\.key --tool-key ([0-9a-f]{64}))\n$/;
    const [, called, , , toolPublicKey] = call.exec(out) ?? assert.fail(out);
    assert.equal(called, SUM);
    assert.ok(out.includes(`${SUM} signs its results; the public key is ${toolPublicKey}\n`));
    // Without keys, invoke names the file.
    const unsigned = await svcGenIn(folder, ["invoke", "http://127.0.0.1:9/sum", "{}", "--signed"]);
    assert.match(unsigned.err, /--signed expects --leader-key keys\/leader\.key, or/);
    const config = ToolkitRuntimeConfig.fromPath(join(folder, "config.json"));
    assert.ok(config.signedHttpIsRequired() && config.hasTool(SUM) && config.hasTool("xyz.demo.mul@2"));
    const leaderKey = Buffer.from(readFileSync(join(folder, "keys/leader.key"), "utf8").trim(), "hex");
    const listed = config.leaders.lookup("leader", 0n)?.bytes ?? assert.fail("no leader");
    assert.deepEqual(Buffer.from(listed), publicKeyOf(leaderKey));
    assert.equal(
      readFileSync(join(folder, "keys/leader.pub"), "utf8"),
      `${Buffer.from(publicKeyOf(leaderKey)).toString("hex")}\n`,
    );
    const toolKey = config.toolConfig(SUM)?.signingKey ?? assert.fail("no key");
    assert.ok(
      out.includes(`${SUM} signs its results; the public key is ${Buffer.from(toolKey.publicKey).toString("hex")}`),
      out,
    );
    const secrets = [
      leaderKey.toString("hex"),
      ...(readFileSync(join(folder, "config.json"), "utf8").match(/(?<=signing_key": ")\w+/g) ?? []),
    ];
    assert.equal(secrets.length, 3);
    for (const secret of secrets) assert.ok(!out.includes(secret));
    assert.equal((await check(folder, "config.json")).code, 0);
  });

  it("makes files with private keys readable only for their owner", { skip: !POSIX }, async () => {
    const folder = project(SUM);
    await svcGenIn(folder, ["config", "init", "server.json"]);
    const modes = ["server.json", "keys/leader.key", "keys/leader.pub"].map(
      (name) => statSync(join(folder, name)).mode & 0o777,
    );
    assert.deepEqual(modes.slice(0, 2), [0o600, 0o600]);
    assert.notEqual((modes[2] as number) & 0o044, 0);
  });

  for (const [form, keyFile] of [
    ["base64", `${Buffer.from(SEED, "hex").toString("base64")}\n`],
    ["nexus tool auth keygen", { private_key_hex: SEED, public_key_hex: SEED_PUBLIC }],
  ] as const)
    it(`accepts given keys and the leader's id: ${form}`, async () => {
      const folder = project(SUM);
      put(folder, "tool.key", keyFile);
      const args = [
        "--leader-id",
        "acme",
        "--leader-public-key",
        `0x${PUBLIC}`,
        "--tool-private-key",
        "tool.key",
        "--json",
      ];
      const { code, out } = await svcGenIn(folder, ["config", "init", ...args]);
      assert.equal(code, 0);
      assert.deepEqual(JSON.parse(out), {
        wrote: ["config.json"],
        public_keys: [{ tool: SUM, public_key: SEED_PUBLIC }],
      });
      const config = ToolkitRuntimeConfig.fromPath(join(folder, "config.json"));
      assert.notEqual(config.leaders.lookup("acme", 0n), undefined);
      assert.deepEqual(readdirSync(folder).sort(), ["config.json", "meta.json", "tool.key"]);
    });

  it("writes nothing if a file already exists", async () => {
    const folder = project(SUM);
    put(folder, "config.json", "{}");
    const { code, err } = await svcGenIn(folder, ["config", "init"]);
    assert.equal(code, 1);
    assert.equal(
      err,
      'svc-gen: "config.json" already exists; nothing was written (choose another file name, or move the existing file)\n',
    );
    assert.equal(readFileSync(join(folder, "config.json"), "utf8"), "{}");
    assert.deepEqual(readdirSync(folder).sort(), ["config.json", "meta.json"]);
    rmSync(join(folder, "config.json"));
    await svcGenIn(folder, ["config", "init"]);
    const key = readFileSync(join(folder, "keys/leader.key"), "utf8");
    const again = await svcGenIn(folder, ["config", "init", "other.json"]);
    assert.match(again.err, /"keys\/leader.key" already exists/);
    assert.equal(readFileSync(join(folder, "keys/leader.key"), "utf8"), key);
  });

  it("--unsigned", async () => {
    const folder = project(SUM);
    assert.equal((await svcGenIn(folder, ["config", "init", "--unsigned", "dev.json"])).code, 0);
    assert.equal(ToolkitRuntimeConfig.fromPath(join(folder, "dev.json")).signedHttpIsRequired(), false);
    assert.deepEqual(readdirSync(folder).sort(), ["dev.json", "meta.json"]);
  });

  it("refuses a key file that has no key or does not exist", async () => {
    const folder = project(SUM);
    put(folder, "short.key", "abcd\n");
    const run = (...args: string[]) => svcGenIn(folder, ["config", "init", ...args]);
    assert.equal(
      (await run("--tool-private-key", "short.key")).err,
      'svc-gen: "short.key" must contain a private key of 32 bytes: 64 hex digits, base64 or base64url; got 4 hex digits (create one with svc-gen keys new)\n',
    );
    assert.equal(
      (await run("--leader-public-key", "short.key")).err,
      "svc-gen: --leader-public-key: expected a public key of 64 hex digits, got the name of a file (pass the key itself: svc-gen keys show short.key prints the public key of a private key)\n",
    );
    assert.equal(
      (await run("--leader-public-key", "abcd")).err,
      "svc-gen: --leader-public-key: expected a public key of 64 hex digits, got 4 hex digits (svc-gen keys show FILE prints the public key of a private key)\n",
    );
    assert.match(
      (await run("--tool-private-key", "tool.pub")).err,
      /got "tool\.pub", which is named like a public key/,
    );
    const { code, err } = await run("--tool-private-key", "none");
    assert.equal(code, 1);
    assert.match(err, /^svc-gen: cannot read "none": the file does not exist /);
    assert.deepEqual(readdirSync(folder).sort(), ["meta.json", "short.key"]);
  });

  it("without meta.json it reads the sources, and says when there are none", async () => {
    const folder = scratchFolder();
    const { code, err } = await svcGenIn(folder, ["config", "init"]);
    assert.equal(code, 1);
    assert.match(err, /the project has errors; nothing was written/);
    assert.deepEqual(readdirSync(folder), []);
  });
});

describe("config check", () => {
  it("reports all errors at once with their positions, in document order", async () => {
    const folder = project(SUM);
    const text = `{
  "invoke_max_body_bytes": 1.0,
  "bogus": 1,
  "signed_http": {
    "allowed_leaders": {
      "verson": 1,
      "leaders": [
        { "leader_id": "a", "keys": [{ "kid": "0", "public_key": 5 }, { "kid": 1, "public_key": "ab" }] },
        { "keys": [] }
      ]
    },
    "tools": {
      "${SUM}": { "response_signing_key": "abc", "replay_cache_ttl_ms": 0, "extra": 1 },
      "x": 5
    }
  }
}`;
    const { code, found } = await check(folder, put(folder, "c.json", text));
    assert.equal(code, 1);
    const places = found
      .filter(({ severity }) => severity === "error")
      .map(({ line, column, pointer }) => `${line}:${column} ${pointer}`);
    assert.deepEqual(places, [
      "2:28 /invoke_max_body_bytes",
      "3:3 ",
      "5:24 /signed_http/allowed_leaders",
      "6:7 /signed_http/allowed_leaders",
      "8:47 /signed_http/allowed_leaders/leaders/0/keys/0/kid",
      "8:66 /signed_http/allowed_leaders/leaders/0/keys/0/public_key",
      "8:97 /signed_http/allowed_leaders/leaders/0/keys/1/public_key",
      "9:9 /signed_http/allowed_leaders/leaders/1",
      "13:51 /signed_http/tools/xyz.demo.sum@1/response_signing_key",
      "13:81 /signed_http/tools/xyz.demo.sum@1/replay_cache_ttl_ms",
      "13:84 /signed_http/tools/xyz.demo.sum@1",
      "14:12 /signed_http/tools/(entry 2)",
    ]);
    const first = found[0] as Found;
    assert.equal(first.code, "config");
    // What the server says is the first of them, in its own order.
    assert.throws(
      () => ToolkitRuntimeConfig.fromPath(join(folder, "c.json")),
      ({ message }: Error) =>
        found.some(
          (each) => each.message.slice(each.message.indexOf("line")) === message.slice(message.indexOf("line")),
        ),
    );
  });

  it("prints no secret, wherever it is in the file", async () => {
    const folder = project(SUM);
    const file = put(folder, "c.json", {
      [SEED]: 1,
      signed_http: {
        mode: SEED,
        allowed_leaders_path: SEED,
        tools: { [SEED]: { [SEED]: SEED, response_signing_key: `${SEED}ff` } },
      },
    });
    const { code, out, err } = await svcGenIn(folder, ["config", "check", file]);
    assert.equal(code, 1);
    assert.ok(err.length > 200 && !`${out}${err}`.includes("0909"), err);
    const text = readFileSync(join(folder, file), "utf8");
    for (const args of [["config", "check", text], ["doctor", "--config", text], [text]]) {
      assert.match(
        (await svcGenIn(folder, args)).err,
        /^svc-gen: [a-z ,-]+ (?:JSON text|a key; [a-z :,]+) \(see [a-z -]+\)\n$/,
      );
    }
    const doctor = await svcGenIn(folder, ["doctor"], { env: { SVC_TOOLKIT_CONFIG_PATH: text } });
    assert.match(
      doctor.out,
      /SVC_TOOLKIT_CONFIG_PATH must be the path of a readable file, got (?:JSON text|a key); write/,
    );
    assert.ok(!doctor.out.includes("0909"), doctor.out);
  });

  it("reports an entry for an unknown tool, with the most similar name", async () => {
    const folder = project(SUM, "xyz.demo.mul@1");
    const tools = { "xyz.demo.sun@1": {}, "xyz.demo.mul@1": {}, other: {} };
    const { code, found } = await check(
      folder,
      put(folder, "c.json", { signed_http: { allowed_leaders: LIST, tools } }),
    );
    assert.equal(code, 1);
    assert.deepEqual(
      found.map(({ severity, pointer, message }) => [severity, pointer, message.slice(message.indexOf("must"))]),
      [
        [
          "error",
          "/signed_http/tools",
          "must be an object with an entry for xyz.demo.sum@1, got none; add one, or rename the entry xyz.demo.sun@1 if it is meant",
        ],
        [
          "warning",
          "/signed_http/tools/xyz.demo.sun@1",
          "must be the entry of a tool of this project, got another name; did you mean xyz.demo.sum@1?",
        ],
        [
          "warning",
          "/signed_http/tools/(entry 3)",
          "must be the entry of a tool of this project, got another name; remove it, unless another server uses this file too",
        ],
      ],
    );
    // Without a project nothing is compared.
    rmSync(join(folder, "meta.json"));
    assert.deepEqual(await check(folder, "c.json"), { code: 0, found: [] });
  });

  it("checks the allow-list file: missing, invalid, world-writable; its path is relative to the folder", async () => {
    const folder = project(SUM);
    const file = put(folder, "c.json", { signed_http: { allowed_leaders_path: "leaders.json", tools: { [SUM]: {} } } });
    const missing = await check(folder, file);
    assert.equal(missing.code, 1);
    assert.match(missing.found[0]?.message ?? "", /^allow-list ".*leaders\.json" must be a readable file, got ENOENT/);
    put(folder, "leaders.json", {
      version: 2,
      leaders: [
        {
          leader_id: "a",
          keys: [
            { kid: -1, public_key: "ab" },
            { kid: 2, public_key: "cd" },
          ],
        },
      ],
    });
    const { found } = await check(folder, file);
    assert.deepEqual(
      found.map(({ pointer }) => pointer),
      ["/version", "/leaders/0/keys/0/kid", "/leaders/0/keys/1/public_key"],
    );
    const alone = await check(folder, "--allow-list", "leaders.json");
    assert.deepEqual(
      [alone.code, alone.found.map(({ pointer }) => pointer).sort()],
      [1, found.map(({ pointer }) => pointer).sort()],
    );
    put(folder, "leaders.json", LIST);
    assert.equal((await check(folder, file)).code, 0);
    assert.equal((await check(folder, "--allow-list", "leaders.json")).code, 0);
    // A file of one kind is refused as one of the other.
    assert.equal((await check(folder, "leaders.json")).code, 1);
    assert.equal((await check(folder, "--allow-list", file)).code, 1);
    if (!POSIX) return;
    chmodSync(join(folder, "leaders.json"), 0o602);
    assert.match(
      (await check(folder, file)).found[0]?.message ?? "",
      /must not be writable by every user of this machine/,
    );
  });

  it("warns of permissions, an empty list and a long TTL in valid files", { skip: !POSIX }, async () => {
    const folder = project(SUM);
    const section = {
      allowed_leaders: { version: 1, leaders: [] },
      tools: { [SUM]: { response_signing_key: SEED, replay_cache_ttl_ms: 1e9 } },
    };
    const { code, found } = await check(folder, put(folder, "c.json", { signed_http: section }, 0o644));
    assert.equal(code, 0);
    const texts = found.map(({ severity, message }) => `${severity}: ${message}`).join("\n");
    assert.match(
      texts,
      /warning: configuration "c.json": the allow-list contains no key: every call will be refused; add the key of a leader/,
    );
    assert.match(texts, /replay_cache_ttl_ms of "xyz.demo.sum@1" is 11 days or more/);
    assert.match(texts, /contains a private key and is readable by every user/);
  });

  it("explains a valid file, and finds it by the environment variable", async () => {
    const folder = project(SUM);
    put(folder, "c.json", { signed_http: { allowed_leaders: LIST, tools: { [SUM]: {} } } });
    const env = { SVC_TOOLKIT_CONFIG_PATH: "c.json" };
    const ran = await svcGenIn(folder, ["config", "check"], { env });
    assert.deepEqual(ran, { code: 0, out: "valid; signatures are required, 1 tool\n", err: "" });
    put(folder, "u.json", { signed_http: { mode: "disabled" } });
    assert.match((await svcGenIn(folder, ["config", "check", "u.json"])).out, /^valid; signatures are not required/);
    put(folder, "config.json", { signed_http: { mode: "off" } });
    const { code, err } = await svcGenIn(folder, ["config", "check"]);
    assert.equal(code, 1);
    assert.match(err, /configuration "config\.json", line 1, column \d+: \/signed_http/);
  });

  it("reports invalid JSON, a missing file, and more errors than fit on a page", async () => {
    const folder = project(SUM);
    const { code, found } = await check(folder, put(folder, "c.json", '{"signed_http": {,}}'));
    assert.deepEqual([code, found.length, found[0]?.line, found[0]?.column], [1, 1, 1, 18]);
    assert.match((await check(folder, "none.json")).found[0]?.message ?? "", /got ENOENT/);
    const many = { version: 1, leaders: Array.from({ length: 200 }, () => 5) };
    assert.equal((await check(folder, "--allow-list", put(folder, "l.json", many))).found.length, 50);
  });
});
