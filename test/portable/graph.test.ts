/** The modules that the client reaches in a page, and the size of what a user ships. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { REPOSITORY } from "../repository.js";
import { bundleForBrowsers, NODE_GLOBALS, WITHOUT_NODE_GLOBALS } from "./bundle.js";

/** The modules outside of `wire` and `leader`. */
const OUTSIDE = ["check-options", "checked-integer", "did-you-mean", "fqn", "index", "keys", "loopback"]
  .map((name) => `${name}.js`)
  .concat("runtime/dist/leader.js");
const CLIENT = 'export * from "svc-runtime/leader";';

test("the client in a page imports no module of Node and nothing of the server", async () => {
  const { modules, inputs } = await bundleForBrowsers(CLIENT);
  // esbuild fails on `node:` imports of this platform; it would keep one only where a setting allows it.
  const external = Object.values(inputs).flatMap(({ imports }) => imports.filter(({ external }) => external));
  assert.deepEqual(external, []);
  const packages = new Set(modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  assert.deepEqual([...packages].sort(), [
    "@mysten/bcs",
    "@mysten/utils",
    "@noble/ed25519",
    "@noble/hashes",
    "@scure/base",
    "base64-js",
    "buffer",
    "ieee754",
  ]);
  const own = modules
    .filter((path) => !path.includes("node_modules/"))
    .map((path) => path.replace("runtime/client/dist/", ""));
  const outside = own.filter((path) => !/^(?:wire|leader)\//.test(path));
  assert.deepEqual(outside.sort(), OUTSIDE);
  const nodes = [
    "wire/node-bytes.js",
    "wire/signature/hash.js",
    "wire/signature/ed25519.js",
    "wire/signature/sodium.js",
    "leader/transport/http-client.js",
  ];
  for (const path of nodes) assert.ok(existsSync(`${REPOSITORY}/runtime/client/dist/${path}`), path);
  assert.deepEqual(
    own.filter((path) => nodes.includes(path)),
    [],
  );
});

test("it uses no global of Node", async () => {
  const { code } = await bundleForBrowsers(CLIENT, undefined, { define: WITHOUT_NODE_GLOBALS });
  assert.deepEqual(
    NODE_GLOBALS.filter((name) => code.includes(`free_${name}`)),
    [],
  );
  // esbuild's text for a `require` that it cannot resolve.
  assert.ok(!code.includes("Dynamic require"));
  // The replacement shows a free name.
  const { code: free } = await bundleForBrowsers("export const used = Buffer.from(process.title);", undefined, {
    define: WITHOUT_NODE_GLOBALS,
  });
  assert.ok(free.includes("free_Buffer.from(free_process.title)"));
});

test("it is at most 60 KB compressed", async () => {
  const { code } = await bundleForBrowsers(CLIENT, undefined, { minify: true });
  const size = gzipSync(code).length;
  assert.ok(size <= 60_000, `${size} bytes`);
});

test("in Node it loads nothing of the server, and undici with the first request", async () => {
  const { metafile } = await build({
    stdin: { contents: CLIENT, resolveDir: `${REPOSITORY}/test/portable`, loader: "ts" },
    absWorkingDir: REPOSITORY,
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
    metafile: true,
    external: ["undici", "@mysten/*", "@noble/*", "sodium-native"],
  });
  const own = Object.keys(metafile.inputs).filter((path) => path.startsWith("runtime/"));
  const outside = own
    .map((path) => path.replace("runtime/client/dist/", ""))
    .filter((path) => !/^(?:wire|leader)\//.test(path));
  assert.deepEqual(outside.sort(), OUTSIDE);
  const packages = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.flatMap(({ path, external, kind }) =>
      external === true && !path.startsWith("node:") ? [`${kind} ${path}`] : [],
    ),
  );
  assert.ok(packages.includes("dynamic-import undici"), packages.join(", "));
  assert.ok(!packages.includes("import-statement undici"));
  assert.deepEqual(
    packages.filter((path) => /fastify|pino|prom-client|fs-native/.test(path)),
    [],
  );
});
