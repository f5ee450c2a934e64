/** The server of `svc-gen new --bundle`, built as in its Dockerfile and started from what the image has of it. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { LeaderClient } from "#runtime/leader.js";
import { REPOSITORY } from "../repository.js";
import { until } from "../runtime/tools.js";
import { scratchFolder } from "../scratch-folder.js";
import { ONLY_POSIX, shell } from "./packages.js";
import { startServer } from "./process.js";

const GENERATOR = join(REPOSITORY, "generator/bin.js");
test("--bundle: the server is one file with libsodium, in a folder without other files", ONLY_POSIX, async () => {
  const made = join(scratchFolder(), "one-file");
  shell(`"${process.execPath}" "${GENERATOR}" new "${made}" --bundle --yes`, REPOSITORY);
  // The lines of the Dockerfile that make what its last stage copies.
  const dockerfile = readFileSync(join(made, "Dockerfile"), "utf8");
  const [, command = ""] =
    /^RUN (npm run build && npm run bundle) && chmod/m.exec(dockerfile) ?? assert.fail(dockerfile);
  shell(command, made);
  const copied = [...dockerfile.matchAll(/^COPY --from=build \S+ \/tool\/(\S+) \.\/(\S+)$/gm)];
  assert.deepEqual(
    copied.map(([, from, to]) => [from, to]),
    [["dist/bundle", "dist/bundle"]],
  );
  const image = scratchFolder();
  cpSync(join(made, "dist/bundle"), join(image, "dist/bundle"), { recursive: true });
  rmSync(join(made, "dist"), { recursive: true });
  const [, file = ""] = /^CMD \["node", "(\S+)"\]$/m.exec(dockerfile) ?? assert.fail(dockerfile);
  const server = join(image, file);
  assert.deepEqual(readdirSync(dirname(server)), ["node_modules", "server.mjs"]);
  const binaries = shell("find . -name '*.node' -o -name '*.bare'", image).trim().split("\n");
  assert.equal(binaries.length, 1, binaries.join());
  assert.equal(JSON.parse(shell(`node ${file} --meta`, image))[0].fqn, "xyz.demo.one-file@1");

  const [leader, tool] = ["leader.key", "tool.key"].map((name) =>
    JSON.parse(shell(`npx svc-gen keys new ${name} --json --reveal`, made)),
  );
  const config = JSON.parse(readFileSync(join(made, "config.example.json"), "utf8"));
  config.signed_http.allowed_leaders.leaders.push(leader.allowed_leaders);
  Object.assign(config.signed_http.tools, tool.tools);
  const path = join(scratchFolder(), "config.json");
  const write = () => writeFileSync(path, JSON.stringify(config));
  write();
  const signed = await startServer(server, {}, { SVC_TOOLKIT_CONFIG_PATH: path });
  assert.match(signed.log(), /"ed25519":"libsodium /);
  const client = await LeaderClient.connect(`${signed.url}/one-file`, {
    leader: { id: "leader", keyId: 0, key: readFileSync(join(made, "leader.key"), "utf8") },
    toolKey: tool.public_key,
  });
  const { value, signature } = await client.invoke({ name: "Ada" });
  assert.deepEqual([value, signature], [{ greeting: "Hello, Ada!" }, "verified"]);
  // A revoked key: the reload needs no file that is not in the bundle.
  config.signed_http.allowed_leaders.leaders[0].leader_id = "another";
  write();
  signed.process.kill("SIGHUP");
  await until(() => signed.log().includes("loaded a new version of"), "the new allow-list");
  await assert.rejects(client.invoke({ name: "Ada" }), { code: "auth_failed" });
  client.close();
  assert.equal(await signed.stop(), 0);
  // A bundle without the addon says so.
  rmSync(join(dirname(server), "node_modules"), { recursive: true });
  const without = await startServer(server, config);
  assert.match(without.log(), /"ed25519":"node:crypto \(sodium-native cannot be loaded\)"/);
  assert.equal(await without.stop(), 0);
});

test("a bundle of svc-runtime-storage without its other file fails at the start, and says what to do", async () => {
  const folder = scratchFolder();
  mkdirSync(join(folder, "node_modules/@mysten"), { recursive: true });
  symlinkSync(join(REPOSITORY, "node_modules/@mysten/walrus-wasm"), join(folder, "node_modules/@mysten/walrus-wasm"));
  const contents = `import { WalrusStorage } from "svc-runtime-storage";
try {
  new WalrusStorage({ publisher: { url: "http://127.0.0.1:1" }, aggregator: { url: "http://127.0.0.1:1" }, epochs: 1 });
} catch ({ code, message }) {
  console.log(code, message);
}`;
  await build({
    stdin: { contents, resolveDir: join(REPOSITORY, "examples/report") },
    outfile: join(folder, "server.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    banner: { js: "const require = (await import('node:module')).createRequire(import.meta.url);" },
    logLevel: "silent",
  });
  assert.match(shell("node server.mjs", folder), /^encoder_failed .*exclude svc-runtime-storage from the bundle/);
});
