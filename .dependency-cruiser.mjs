import { readFileSync } from "node:fs";

/**
 * Layers of the source, lowest first, and the packages and Node modules that each may import. Enforced by
 * test/boundaries.test.ts.
 *
 * - `files`: paths without extension, `*` for one name. A file belongs to the first layer that matches.
 * - `below`: layers whose files may be imported, type imports included.
 */
const LAYERS = [
  {
    name: "wire",
    files:
      "runtime/client/wire/* runtime/client/wire/json/* runtime/client/wire/bcs/* runtime/client/wire/codec/* runtime/client/wire/codec/union/* runtime/client/wire/signature/* runtime/client/wire/envelope/* runtime/client/wire/portable/*",
    packages: "#platform/bytes #platform/hash @mysten/bcs @noble/ed25519 @noble/hashes buffer sodium-native",
    node: "buffer crypto module",
  },
  {
    name: "fqn",
    files:
      "runtime/client/fqn runtime/client/checked-integer runtime/client/loopback runtime/client/keys runtime/client/check-options runtime/client/did-you-mean",
    below: "wire",
    packages: "#platform/bytes #platform/ed25519",
  },
  {
    name: "leader",
    files:
      "runtime/client/leader/* runtime/client/leader/receipt/* runtime/client/leader/request/* runtime/client/leader/result/* runtime/client/leader/transport/* runtime/client/leader/portable/*",
    below: "wire fqn",
    packages: "#platform/bytes #platform/hash #platform/ed25519 #platform/http-client undici",
    node: "diagnostics_channel",
  },
  {
    name: "client",
    files: "runtime/client/index",
    below: "wire fqn leader",
    packages: "#platform/ed25519",
  },
  {
    name: "status",
    files: "runtime/status runtime/described-text runtime/time-limit runtime/internal/node-version",
  },
  { name: "server/wire", files: "runtime/server/wire/*", below: "wire", packages: "ajv-formats" },
  {
    name: "tool",
    files:
      "runtime/tool runtime/answer-memory runtime/contracts runtime/output-encoders runtime/port-json runtime/exact-json",
    below: "wire fqn status server/wire",
  },
  {
    name: "config",
    files: "runtime/config/*",
    below: "wire fqn status",
    node: "fs fs/promises net path",
  },
  { name: "server/errors", files: "runtime/server/errors/*", below: "wire" },
  {
    name: "server/log",
    files: "runtime/server/log/*",
    below: "status tool config server/errors",
    packages: "pino @opentelemetry/api",
    node: "fs worker_threads",
  },
  {
    name: "server/load",
    files: "runtime/server/load/*",
    below: "wire fqn tool config server/errors",
    node: "os v8",
  },
  {
    name: "server/replay",
    files: "runtime/server/replay/*",
    below: "wire fqn status tool server/errors server/log server/load",
    node: "crypto",
  },
  {
    name: "server/call",
    files: "runtime/server/call/* runtime/server/call/run/*",
    below: "wire fqn status server/wire tool config server/errors server/log server/load server/replay",
    node: "net",
  },
  {
    name: "server/http",
    files: "runtime/server/http/*",
    below: "wire fqn status config server/errors server/log server/load server/call",
    packages: "fastify @fastify/cors",
    node: "crypto http net path stream tls",
  },
  {
    name: "server/observe",
    files: "runtime/server/observe/*",
    below: "wire fqn tool config server/log server/load server/replay server/call",
    packages: "@prometheus-io/client prom-client @opentelemetry/api",
    node: "events http net util",
  },
  {
    name: "server",
    files: "runtime/server/*",
    below:
      "wire fqn status server/wire tool config server/errors server/log server/load server/replay server/call server/http server/observe",
    packages: "fastify fastify-plugin svc-runtime-redis",
    node: "path",
  },
  {
    name: "http",
    files: "runtime/http/*",
    below: "wire fqn tool leader",
    packages: "undici",
    node: "dns net timers/promises zlib",
  },
  {
    name: "testing",
    files: "runtime/testing runtime/testing/*",
    below:
      "wire fqn status server/wire tool config server/errors server/log server/replay server/call server/http server leader",
    node: "async_hooks fs module path url",
  },
  {
    name: "entry points",
    files: "runtime/index runtime/v1 runtime/leader runtime/fastify runtime/internal/*",
    below:
      "wire fqn status server/wire tool config server/errors server/log server/load server/replay server/http server leader client http",
    packages: "fastify",
  },
  {
    name: "redis",
    files: "runtime/redis/*",
    packages: "svc-runtime/internal/redis ioredis",
    node: "fs timers/promises",
  },
  {
    name: "storage",
    files: "runtime/storage/* runtime/storage/dev/* runtime/storage/http/* runtime/storage/journal/*",
    below: "wire fqn leader",
    packages: "@mysten/walrus-wasm undici",
    node: "child_process crypto events fs/promises http module net os path stream/consumers timers/promises url util",
  },
  {
    name: "generator/compile/model",
    files:
      "generator/compile/model generator/text/json generator/compile/keywords generator/contract/schema-reader generator/contract/format-samples generator/http/bounded-body generator/text/sentences generator/text/error-answers generator/tools/meta-documents generator/process/running-process generator/tools/tool-addresses generator/tools/tool-path generator/tools/hints generator/text/class-names generator/text/escape-regex generator/process/version",
    packages: "svc-runtime/internal/generator",
    node: "fs",
  },
  {
    name: "generator/compile/diagnostics",
    files: "generator/compile/diagnostics/*",
    below: "generator/compile/model",
    packages: "svc-runtime/internal/generator",
  },
  {
    name: "generator/files/atomic-write",
    files: "generator/files/atomic-write",
    below: "generator/compile/diagnostics",
    node: "crypto fs path",
  },
  {
    name: "generator/files/read-file",
    files: "generator/files/read-file",
    below: "generator/compile/diagnostics",
    node: "fs path",
  },
  {
    name: "generator/files/env-file",
    files: "generator/files/env-file",
    below: "generator/files/read-file",
    node: "path util",
  },
  {
    name: "generator/http",
    files: "generator/http/*",
    below: "generator/compile/model",
    packages: "svc-runtime/internal/generator svc-runtime/leader",
    node: "http https perf_hooks tls",
  },
  { name: "generator/process/run-within", files: "generator/process/run-within", node: "vm" },
  {
    name: "generator/contract/metadata",
    files: "generator/contract/metadata",
    below: "generator/compile/model generator/compile/diagnostics",
    packages: "svc-runtime/internal/generator",
  },
  {
    name: "generator/compile/project",
    files: "generator/compile/project/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/files/atomic-write generator/files/read-file",
    packages: "svc-runtime/internal/generator ts-morph typescript-json-schema",
    node: "crypto fs module path url",
  },
  {
    name: "generator/compile/types",
    files: "generator/compile/types/* generator/compile/types/lower/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/compile/project generator/process/run-within",
    packages: "svc-runtime/internal/generator refa scslre",
    node: "module",
  },
  {
    name: "generator/compile/emit",
    files: "generator/compile/emit/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/compile/project generator/process/run-within",
    packages: "svc-runtime/internal/generator handlebars ajv ajv-formats",
    node: "fs module path util",
  },
  {
    name: "generator/contract/inclusion",
    files: "generator/contract/inclusion/*",
    below: "generator/compile/model",
    packages: "svc-runtime/internal/generator",
  },
  {
    name: "generator/compile/second-reader",
    files: "generator/compile/second-reader/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/compile/project generator/compile/types generator/compile/emit generator/contract/inclusion",
    packages: "svc-runtime/internal/generator",
  },
  {
    name: "generator/openapi",
    files: "generator/openapi/*",
    below: "generator/compile/model generator/compile/emit generator/files/read-file generator/process/run-within",
    packages: "svc-runtime/internal/generator refa",
    node: "module path",
  },
  {
    name: "generator/compile/generate",
    files: "generator/compile/generate",
    below:
      "generator/compile/model generator/compile/diagnostics generator/compile/project generator/compile/types generator/compile/emit",
    packages: "svc-runtime/internal/generator",
  },
  {
    name: "generator/contract/diff",
    files: "generator/contract/diff",
    below: "generator/compile/model generator/contract/metadata generator/contract/inclusion",
    packages: "svc-runtime/internal/generator",
  },
  {
    name: "generator/contract/committed-contract",
    files: "generator/contract/committed-contract",
    below: "generator/compile/diagnostics generator/files/atomic-write generator/files/read-file",
    node: "child_process path",
  },
  {
    name: "generator/files/new-files",
    files: "generator/files/new-files",
    below: "generator/files/atomic-write",
    node: "fs path",
  },
  {
    name: "generator/files/output-files",
    files: "generator/files/output-files",
    below:
      "generator/compile/model generator/compile/diagnostics generator/files/atomic-write generator/compile/project generator/compile/generate generator/files/read-file",
    node: "path",
  },
  {
    name: "generator/api",
    files: "generator/api generator/files/kept-contracts",
    below:
      "generator/compile/model generator/compile/diagnostics generator/compile/project generator/compile/generate generator/files/output-files",
    packages: "svc-runtime/internal/generator",
  },
  {
    name: "generator/compile/watch",
    files: "generator/compile/watch",
    below: "generator/compile/diagnostics generator/compile/project generator/compile/generate",
    node: "fs path util",
  },
  {
    name: "generator/cli/command-errors",
    files: "generator/cli/command-errors",
  },
  {
    name: "generator/command-line",
    files:
      "generator/cli/command generator/cli/arguments generator/cli/help-layout generator/commands/options/project-options",
    below:
      "generator/compile/model generator/compile/diagnostics generator/compile/project generator/cli/command-errors",
    packages: "svc-runtime/internal/generator",
    node: "fs path util",
  },
  {
    name: "generator/keys",
    files: "generator/keys/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/files/new-files generator/files/read-file generator/cli/command-errors",
    packages: "svc-runtime/leader",
    node: "crypto fs path",
  },
  {
    name: "generator/scaffold",
    files: "generator/scaffold/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/files/new-files generator/cli/command-errors",
    packages: "svc-runtime/internal/generator handlebars",
    node: "child_process fs module path url",
  },
  {
    name: "generator/import",
    files: "generator/import/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/contract/metadata generator/compile/types generator/compile/emit generator/compile/generate generator/contract/diff generator/files/read-file generator/http generator/cli/command-errors",
    packages: "svc-runtime/internal/generator",
    node: "util",
  },
  {
    name: "generator/config",
    files: "generator/config/*",
    below: "generator/compile/model generator/files/new-files generator/keys",
    packages: "svc-runtime/internal/config svc-runtime/internal/generator",
  },
  {
    name: "generator/dev",
    files: "generator/dev/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/files/atomic-write generator/compile/project generator/openapi generator/contract/diff generator/files/output-files generator/compile/watch generator/keys generator/config generator/files/read-file generator/files/env-file",
    node: "child_process cluster crypto fs module os path readline stream worker_threads",
  },
  {
    name: "generator/invoke",
    files: "generator/invoke/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/files/atomic-write generator/http generator/dev generator/command-line generator/files/output-files generator/files/read-file",
    packages: "svc-runtime/internal/generator svc-runtime/leader",
    node: "perf_hooks",
  },
  {
    name: "generator/dev/page-server",
    files: "generator/dev/page-server/* generator/dev/page-server/calls/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/http generator/openapi generator/import generator/contract/metadata generator/process/run-within generator/contract/committed-contract generator/contract/diff generator/dev generator/invoke",
    packages: "svc-runtime/internal/generator svc-runtime/internal/inspect svc-runtime/leader",
    node: "crypto events fs http net os perf_hooks stream/consumers zlib",
  },
  {
    name: "generator/dev/page",
    files: "generator/dev/page/* generator/dev/page/form/*",
    below: "generator/dev/page-server",
    packages: "preact @preact/signals lossless-json svc-runtime/internal/protocol",
  },
  {
    name: "generator/mcp",
    files: "generator/mcp/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/files/atomic-write generator/process/run-within generator/http generator/command-line",
    packages: "svc-runtime/internal/generator svc-runtime/leader @modelcontextprotocol/server ajv",
    node: "crypto http module stream stream/promises",
  },
  {
    name: "generator/doctor",
    files: "generator/doctor/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/http generator/contract/metadata generator/compile/project generator/contract/diff generator/config generator/files/env-file",
    packages: "svc-runtime/internal/config svc-runtime/internal/generator svc-runtime/leader",
    node: "crypto fs path",
  },
  {
    name: "generator/commands",
    files: "generator/commands/* generator/commands/keys/* generator/commands/config/* generator/commands/options/*",
    below:
      "generator/compile/model generator/compile/diagnostics generator/files/atomic-write generator/contract/metadata generator/compile/project generator/compile/second-reader generator/compile/generate generator/contract/diff generator/files/output-files generator/openapi generator/files/new-files generator/contract/committed-contract generator/compile/watch generator/keys generator/scaffold generator/import generator/dev generator/dev/page-server generator/http generator/invoke generator/config generator/mcp generator/doctor generator/command-line generator/files/read-file generator/files/env-file",
    packages: "svc-runtime/internal/config svc-runtime/internal/generator svc-runtime/leader diff",
    node: "crypto fs path url v8",
  },
  {
    name: "generator/cli/cli",
    files: "generator/cli/cli generator/cli/commands",
    below:
      "generator/compile/model generator/files/atomic-write generator/files/output-files generator/commands generator/command-line generator/compile/diagnostics generator/files/read-file",
  },
  {
    name: "generator/cli/process-host",
    files: "generator/cli/process-host",
    below: "generator/cli/cli",
    node: "readline/promises stream stream/consumers",
  },
  {
    name: "programs",
    files: "generator/bin generator/create-svc-tool/create",
    packages: "svc-runtime/internal/node-version",
    node: "fs module path url",
  },
  {
    name: "examples",
    files: "examples/*/src/*",
    packages: "svc-runtime svc-runtime/leader svc-runtime-storage svc-runtime-storage/dev libsql lossless-json piscina",
    node: "child_process crypto events fs fs/promises net os path stream timers/promises url",
  },
  { name: "examples/generated", files: "examples/*/src/generated/*", below: "examples", packages: "svc-runtime/v1" },
  {
    name: "examples/leader",
    files: "examples/*/src/leader/*",
    below: "examples examples/generated",
    packages: "svc-runtime/leader",
    node: "fs path",
  },
  {
    name: "examples/test",
    files: "examples/*/test/*",
    below: "examples examples/generated",
    packages: "svc-runtime/leader svc-runtime/testing svc-runtime/v1 libsql undici",
    node: "assert/strict child_process events fs http net os path stream/consumers test url",
  },
];

/** The files of each layer, filled from the bottom up: a layer cannot name one above it. */
const patterns = new Map();

/** The modules of svc-client's `imports` in Node, by name. Each has a portable counterpart. */
const { imports } = JSON.parse(readFileSync(new URL("runtime/client/package.json", import.meta.url), "utf8"));

/** Folders of the packages in runtime/. */
const OWN = {
  "svc-client": "runtime/client",
  "svc-runtime": "runtime",
  "svc-runtime-redis": "runtime/redis",
  "svc-runtime-storage": "runtime/storage",
};

/** The built module of an import or export of a package in runtime/; or a package in node_modules, or its name where it is not installed. */
function packagePattern(name) {
  if (name.startsWith("#")) return `^${imports[name].node.replace("./", "runtime/client/")}$`;
  const [, own, entry] = /^(svc-[a-z-]+)\/?(.*)$/.exec(name) ?? [];
  if (own === undefined) return `(?:^|/)node_modules/${name}/|^${name}(?:/|$)`;
  return `^${OWN[own]}/dist/${entry || "index"}\\.js$`;
}

const words = (text) => text?.split(" ") ?? [];

function allowedFor({ name, files, below, packages, node }, at) {
  const path = `^(?:${files.replaceAll("*", "[^/]+").replaceAll(" ", "|")})\\.[jt]sx?$`;
  const earlier = LAYERS.slice(0, at).flatMap((layer) => words(layer.files));
  const lower = words(below).map((layer) => {
    if (!patterns.has(layer)) throw new RangeError(`${name} is not above ${layer}`);
    // Other packages import the built files of svc-client.
    const built = files.startsWith("runtime/client/") ? "runtime/client/" : "runtime/client/dist/";
    return patterns.get(layer).replaceAll("runtime/client/", built);
  });
  patterns.set(name, path);
  const modules = words(node).map((module) => `^(?:node:)?${module}$`);
  return {
    from: { path, pathNot: earlier.filter((file) => new RegExp(path).test(`${file}.ts`)).map((file) => `^${file}\\.`) },
    to: { path: [path, ...lower, ...words(packages).map(packagePattern), ...modules] },
  };
}

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  allowed: LAYERS.map(allowedFor),
  allowedSeverity: "error",
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    // A file without imports that no file imports. Any other file in no layer violates `allowed`.
    { name: "no-orphans", severity: "error", from: { orphan: true }, to: {} },
  ],
  options: {
    tsPreCompilationDeps: true,
    exoticRequireStrings: ["require.resolve"],
    doNotFollow: { path: ["node_modules", "/dist/"] },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
