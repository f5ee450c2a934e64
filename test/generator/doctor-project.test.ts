/** `svc-gen doctor` in projects that are wrong in one thing. */

import assert from "node:assert/strict";
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { publicKeyOf } from "#client/wire/signature/ed25519.js";
import { REPOSITORY } from "../repository.js";
import { doctorIn } from "./doctor-run.js";
import { STRICT, ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

const POSIX = process.platform !== "win32";
const TOOL = { "src/sum.ts": toolSource("Sum", "{ a: number }") };
const FQN = "xyz.test.tool-sum@1";

function project(files: Readonly<Record<string, string>> = TOOL, options: object = STRICT): ToolProject {
  const made = new ToolProject(files, options);
  symlinkSync(join(REPOSITORY, "node_modules/typescript"), join(made.root, "node_modules/typescript"));
  return made;
}

const doctor = ({ root }: ToolProject, args: readonly string[] = [], env: Record<string, string> = {}) =>
  doctorIn(root, args, env);

it("doctor of a healthy project", async () => {
  const good = project();
  good.build();
  const { checks, failed } = await doctor(good);
  assert.deepEqual(failed, []);
  assert.deepEqual(
    checks.map(({ name }) => name),
    ["generated files", "configuration", "keys"],
  );
  const { code, out } = await svcGenIn(good.root, ["doctor"]);
  assert.equal(code, 0);
  good.write({ "config.json": "{}" });
  assert.match(
    (await svcGenIn(good.root, ["doctor"])).out,
    /\n- configuration: config\.json is not in use: .*\n {4}next: to use config\.json, set SVC_TOOLKIT_CONFIG_PATH or pass --config\n/,
  );
  assert.match(out, /^✓ generated files: up to date\n- configuration: no configuration/);
});

describe("doctor of a project", () => {
  it("reports generated files that are missing or out of date, and sources with errors", async () => {
    const made = project();
    const fresh = await doctor(made);
    assert.deepEqual(fresh.failed, ["generated files"]);
    assert.equal(
      fresh.of("generated files").next,
      "run svc-gen and commit the files (see docs/troubleshooting.md: run svc-gen again)",
    );
    await svcGenIn(made.root, []);
    assert.deepEqual((await doctor(made)).failed, []);
    made.write({ "src/sum.ts": toolSource("Sum", "{ a: number; b: string }") });
    assert.match(
      (await doctor(made)).of("generated files").detail,
      /^out of date: src\/generated\/contracts\.ts, .*meta\.json$/,
    );
    made.write({ "src/sum.ts": toolSource("Sum", "{ a: () => void }") });
    assert.equal((await doctor(made)).of("generated files").detail, "the project has errors");
  });
});

describe("doctor of a configuration and keys", () => {
  const seed = Buffer.alloc(32, 9);
  const leader = Buffer.alloc(32, 7);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
  const config = (key = leader) =>
    JSON.stringify({
      signed_http: {
        allowed_leaders: {
          version: 1,
          leaders: [{ leader_id: "acme", keys: [{ kid: 3, public_key: hex(publicKeyOf(key)) }] }],
        },
        tools: { [FQN]: { response_signing_key: hex(seed) } },
      },
    });

  const made = project();
  const generated = svcGenIn(made.root, ["--quiet"]);

  /** The project, generated and with its files as they should be. */
  async function served(): Promise<ToolProject> {
    assert.equal((await generated).code, 0);
    made.write({ "config.json": config(), "leader.key": hex(leader) });
    chmodSync(join(made.root, "config.json"), 0o600);
    chmodSync(join(made.root, "leader.key"), 0o600);
    return made;
  }

  it("checks the configuration named by an option or a variable", async () => {
    const made = await served();
    for (const { of, failed } of [
      await doctor(made, ["--config", "config.json"]),
      await doctor(made, [], { SVC_TOOLKIT_CONFIG_PATH: "config.json" }),
    ]) {
      assert.deepEqual(failed, []);
      assert.deepEqual(
        [of("configuration").detail, of("keys").detail],
        ["valid, signatures are required", "in the configuration"],
      );
    }
    made.write({ "config.json": '{"signed_http":{"tools":{}}, "x": 1}' });
    const { failed, of } = await doctor(made, ["--config", "config.json"]);
    assert.deepEqual(failed, ["configuration"]);
    assert.match(of("configuration").detail, /line 1, column .* \(and \d more\)$/);
    assert.equal(of("configuration").next, "svc-gen config check config.json shows all");
    made.write({ "config.json": "{" });
    assert.match(
      (await doctor(made, ["--config", "config.json"])).of("configuration").next,
      /\(see docs\/troubleshooting\.md: must be JSON: …\)$/,
    );
    assert.equal(
      (await doctor(made, [], { SVC_TOOLKIT_CONFIG_PATH: "" })).of("configuration").detail,
      "SVC_TOOLKIT_CONFIG_PATH is set, but empty",
    );
  });

  it("reports files that other users can read or write", { skip: !POSIX }, async () => {
    const made = await served();
    chmodSync(join(made.root, "config.json"), 0o644);
    assert.match(
      (await doctor(made, ["--config", "config.json"])).of("configuration").detail,
      /readable by every user/,
    );
    chmodSync(join(made.root, "config.json"), 0o602);
    assert.match(
      (await doctor(made, ["--config", "config.json"])).of("configuration").next,
      /\(see docs\/troubleshooting\.md: must not be writable by every user of this machine\)$/,
    );
    chmodSync(join(made.root, "leader.key"), 0o644);
    const { failed, of } = await doctor(made, ["--leader-key", "leader.key"]);
    assert.deepEqual([failed, of("keys").next], [["keys"], "chmod 600 leader.key"]);
  });

  it("compares the leader's key and the tool's key with the configuration", async () => {
    const made = await served();
    const run = (...args: string[]) => doctor(made, ["--config", "config.json", ...args]);
    const pair = ["--leader-key", "leader.key", "--leader-id", "acme", "--key-id", "3"];
    const good = await run(...pair, "--tool-key", `0x${hex(publicKeyOf(seed)).toUpperCase()}`);
    assert.deepEqual([good.failed, good.of("leader key").ok, good.of("tool key").ok], [[], true, true]);
    const other = await run("--leader-key", "leader.key", "--leader-id", "acme", "--key-id", "4");
    assert.equal(other.of("leader key").detail, 'leader "acme" with key 4 is not in the allow-list');
    const nameless = await run("--leader-key", "leader.key");
    assert.equal(nameless.of("leader key").detail, 'leader "leader" with key 0 is not in the allow-list');
    const wrong = await run("--tool-key", hex(publicKeyOf(leader)));
    const away = await run("http://127.0.0.1:1", "--tool-key", hex(publicKeyOf(leader)));
    assert.deepEqual(away.failed, ["tool key", "connection"], "also with a URL");
    assert.equal(wrong.of("tool key").next, `leaders must verify with ${hex(publicKeyOf(seed))}`);
    made.write({ "config.json": config(seed) });
    const listed = await run(...pair);
    assert.deepEqual(
      [listed.failed, listed.of("leader key").next],
      [["leader key"], `set the public key in the allow-list to ${hex(publicKeyOf(leader))} (error code: auth_failed)`],
    );
    for (const { out } of [good, other, wrong, listed])
      assert.ok(!out.includes(hex(seed)) && !out.includes(hex(leader)));
  });

  it("names the variables of .env that a built server does not read", async () => {
    const made = await served();
    made.write({ ".env": "BIND_ADDR=127.0.0.1:1\nSVC_LOG_LEVEL=debug\n" });
    const { failed, of } = await doctor(made, [], { SVC_LOG_LEVEL: "info" });
    assert.deepEqual([failed, of(".env").ok], [[], null]);
    assert.equal(of(".env").detail, "only svc-gen dev reads it; not set here: BIND_ADDR");
    assert.equal(of(".env").next, "start the built server with node --env-file=.env");
  });
});
