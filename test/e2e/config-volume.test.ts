/** docs/deploy/kubernetes.yaml: its configuration volume, changed as the kubelet changes one, under a running server. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { parseAllDocuments } from "yaml";
import { LeaderClient, LeaderError, publicKeyOf } from "#runtime/leader.js";
import { until } from "../runtime/tools.js";
import { atEnd } from "../teardown.js";
import { scratchFolder } from "./packages.js";
import { startExample } from "./process.js";

const FQN = "xyz.demo.sum@1";
const [ACME, OTHER, TOOL, NEXT_TOOL] = [1, 2, 3, 4].map((byte) => Buffer.alloc(32, byte)) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
];
const documents = parseAllDocuments(readFileSync("docs/deploy/kubernetes.yaml", "utf8"));
const LEADERS = documents.map((document) => document.toJS()).find(({ kind }) => kind === "ConfigMap").data[
  "leaders.json"
];

/** A volume of the kubelet, which replaces all of its files in one step: AtomicWriter of Kubernetes' pkg/volume/util. */
class Volume {
  readonly path = scratchFolder("svc-volume-");
  #version = 0;

  write(files: Readonly<Record<string, string>>): void {
    const [previous, next] = [`..2026_11_23.${this.#version}`, `..2026_11_23.${++this.#version}`];
    mkdirSync(join(this.path, next));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.path, next, name), text, { mode: 0o440 });
    symlinkSync(next, join(this.path, "..data_tmp"));
    renameSync(join(this.path, "..data_tmp"), join(this.path, "..data"));
    if (this.#version === 1)
      for (const name of Object.keys(files)) symlinkSync(`..data/${name}`, join(this.path, name));
    else rmSync(join(this.path, previous), { recursive: true });
  }
}

const leaders = (id: string, seed: Buffer) =>
  JSON.stringify({
    version: 1,
    leaders: [{ leader_id: id, keys: [{ kid: 0, public_key: Buffer.from(publicKeyOf(seed)).toString("hex") }] }],
  });

it("after the volume was replaced, new leaders and tool keys take effect without a restart", async () => {
  const volume = new Volume();
  const config = (tool: Buffer) =>
    JSON.stringify({
      signed_http: {
        allowed_leaders_path: join(volume.path, "leaders.json"),
        tools: { [FQN]: { response_signing_key: tool.toString("hex") } },
      },
    });
  volume.write({ "config.json": config(TOOL), "leaders.json": LEADERS });
  const server = await startExample(
    "sum",
    {},
    {
      SVC_TOOLKIT_CONFIG_PATH: join(volume.path, "config.json"),
      SVC_ADMIN_ADDR: "127.0.0.1:0",
    },
  );
  const connect = async (id: string, key: Buffer, toolKey: Buffer) => {
    const leader = { id, keyId: 0, key };
    const client = await LeaderClient.connect(`${server.url}/sum`, { leader, toolKey: publicKeyOf(toolKey) });
    atEnd(() => client.close());
    return client;
  };
  /** The outcome of a call: its signature's state, or the code of its refusal. */
  const call = (client: LeaderClient) =>
    client.invoke({ a: 1n, b: 2n, label: "x", tags: ["x", "y"] }).then(
      ({ signature }) => signature,
      (error) => {
        assert.ok(error instanceof LeaderError, String(error));
        return error.code;
      },
    );
  const becomes = async (client: LeaderClient, outcome: string) => {
    await until(async () => (await call(client)) === outcome, `a call is ${outcome}`);
  };
  const acme = await connect("acme", ACME, TOOL);
  assert.equal(await call(acme), "auth_failed");

  volume.write({ "config.json": config(TOOL), "leaders.json": leaders("acme", ACME) });
  await becomes(acme, "verified");

  // Both files in one step: another leader in place of the first, another key of the tool.
  const other = await connect("other", OTHER, NEXT_TOOL);
  assert.equal(await call(other), "auth_failed");
  volume.write({ "config.json": config(NEXT_TOOL), "leaders.json": leaders("other", OTHER) });
  await becomes(other, "verified");
  await becomes(acme, "auth_failed");

  // A look-up may read the list before the poll that counts its version.
  for (const [file, count] of [
    ["allow_list", 2],
    ["config", 1],
  ] as const) {
    await until(async () => {
      const metrics = await (await fetch(`${server.admin}/metrics`)).text();
      return metrics.includes(`\nsvc_reloads_total{file="${file}",outcome="applied"} ${count}\n`);
    }, `${count} versions of ${file} are counted`);
  }
  for (const path of ["/livez", "/readyz"]) assert.equal((await fetch(`${server.admin}${path}`)).status, 200);
  assert.equal(server.process.exitCode, null);
  assert.equal(await server.stop(), 0);
});
