/** Which file may import what (design.md section 1): arrows never go back, and each package has few doors. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join, normalize } from "node:path/posix";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { TESTS } from "./mutation/tests.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** A folder, or some files of one, that is a layer of its own. */
interface Room {
  readonly name: string;
  /** Paths of files from the root; `*` matches a part of a name. A file belongs to the first room that matches. */
  readonly files: readonly string[];
  /** Rooms further up in the list whose files these may import, types included, beside their own. */
  readonly below?: readonly string[];
  /** Modules of Node, without `node:`. */
  readonly node?: readonly string[];
  /** Packages. */
  readonly packages?: readonly string[];
  /** What single files may import beyond that, by name. */
  readonly grants?: Readonly<
    Record<string, { readonly node?: readonly string[]; readonly packages?: readonly string[] }>
  >;
}

const WIRE = "runtime/wire/";
const DISK = ["fs", "path"];
const BASE = ["wire", "fqn", "tool", "config"];
const SERVER = [...BASE, "server/errors", "server/log"];

/** From the bottom up: a room may only import rooms that stand before it, so no import leads in a circle. */
const ROOMS: readonly Room[] = [
  {
    // Pure bytes: of Node only what computes.
    name: "wire",
    files: ["runtime/wire/*.ts"],
    grants: {
      bcs: { packages: ["@mysten/bcs"] },
      comparable: { node: ["crypto"] },
      ed25519: { node: ["crypto"] },
      formats: { packages: ["ajv-formats"] },
      hash: { node: ["crypto"] },
      json: { node: ["buffer", "crypto"] },
      "portable-crypto": { packages: ["@noble/ed25519", "@noble/hashes"] },
      sodium: { packages: ["sodium-native"], node: ["module"] },
    },
  },
  { name: "fqn", files: ["fqn", "status", "checked-integer", "time-limit"].map((name) => `runtime/${name}.ts`) },
  { name: "tool", files: ["runtime/tool.ts", "runtime/contracts.ts", "runtime/port-json.ts"], below: ["wire", "fqn"] },
  {
    name: "config",
    files: ["runtime/config/*.ts"],
    below: ["wire", "fqn", "tool"],
    node: ["fs", "fs/promises", "path"],
    grants: { nearest: { packages: ["fastest-levenshtein"] } },
  },
  {
    name: "server/errors",
    files: ["runtime/server/errors/*.ts"],
    below: ["wire"],
  },
  {
    name: "server/log",
    files: ["runtime/server/log/*.ts"],
    below: ["tool", "config", "server/errors"],
    grants: { log: { packages: ["pino"] }, "log-destination": { node: ["fs", "worker_threads"] } },
  },
  {
    name: "server/load",
    files: ["runtime/server/load/*.ts"],
    below: ["fqn", "tool", "config", "server/errors"],
    grants: { "load-control": { packages: ["rate-limiter-flexible"] }, "event-loop": { node: ["perf_hooks"] } },
  },
  { name: "server/replay", files: ["runtime/server/replay/*.ts"], below: SERVER },
  {
    // Loaded when the environment names it. One file knows the client library.
    name: "redis",
    files: ["runtime/redis/*.ts"],
    below: [...SERVER, "server/replay"],
    grants: { connection: { packages: ["ioredis"], node: ["fs"] } },
  },
  {
    name: "server/call",
    files: ["runtime/server/call/*.ts"],
    below: [...SERVER, "server/load", "server/replay"],
    node: ["async_hooks", "crypto", "net"],
  },
  {
    name: "server/threads",
    files: ["runtime/server/threads/*.ts"],
    below: [...SERVER, "server/load", "server/call"],
    node: ["worker_threads"],
    grants: {
      "thread-host": { packages: ["piscina"], node: ["crypto", "events", "module", "os", "path", "url"] },
      "tool-worker": { node: ["url", "util"] },
    },
  },
  {
    name: "server/http",
    files: ["runtime/server/http/*.ts"],
    below: [...SERVER, "server/load", "server/call"],
    node: ["http", "https", "net", "stream", "tls"],
    grants: {
      "http-server": { packages: ["fastify"] },
      "tool-routes": { packages: ["fastify"] },
      tls: { node: ["crypto", "path"] },
    },
  },
  {
    name: "server/observe",
    files: ["runtime/server/observe/*.ts"],
    below: [...SERVER, "server/load", "server/replay", "server/call", "server/http"],
    // Packages of what is off are loaded when it is asked for.
    grants: {
      admin: { node: ["events", "http", "net"] },
      metrics: { packages: ["prom-client"], node: ["net", "util"] },
      tracing: { packages: ["@opentelemetry/api"] },
    },
  },
  {
    name: "server",
    files: ["runtime/server/*.ts"],
    below: [
      ...SERVER,
      "redis",
      ...["load", "replay", "call", "threads", "http", "observe"].map((room) => `server/${room}`),
    ],
    node: ["path"],
    grants: { "fastify-plugin": { packages: ["fastify", "fastify-plugin"] } },
  },
  {
    // Its own way to the network and the disk; nothing of the server.
    name: "storage",
    files: ["runtime/storage/*.ts"],
    below: ["wire", "fqn"],
    packages: ["@mysten/walrus-wasm"],
    node: [
      ...["crypto", "fs", "fs/promises", "http", "https", "module", "net", "os", "path", "timers/promises"],
      "worker_threads",
    ],
    grants: { "lock-file": { packages: ["fs-native-extensions"] } },
  },
  {
    // The client of the protocol.
    name: "leader",
    files: ["runtime/leader/*.ts"],
    below: [...BASE, "storage"],
    node: ["crypto", "http", "https"],
  },
  {
    // The test kit: a server and its leader in one process. No server imports it.
    name: "testing",
    files: ["runtime/testing.ts", "runtime/testing/*.ts"],
    below: [
      ...[
        "wire",
        "fqn",
        "tool",
        "config",
        "server/errors",
        "server/log",
        "server/replay",
        "server/call",
        "server/http",
      ],
      ...["server", "storage", "leader"],
    ],
    grants: {
      "replay-store-suite": { node: ["assert/strict"] },
      "find-contracts": { packages: ["svc-gen"], node: ["fs", "module", "path", "url"] },
      "kept-log": { node: ["async_hooks"] },
      "test-store": { node: ["fs/promises", "os", "path"] },
    },
  },
  {
    name: "doors of svc-runtime",
    files: ["index", "v1", "generator", "config", "leader", "inspect", "fastify"].map((name) => `runtime/${name}.ts`),
    below: [...SERVER, "server/load", "server/replay", "server/http", "server", "leader", "storage"],
    packages: ["fastify"],
  },

  // Of the runtime the generator has what `svc-runtime/generator` exports.
  {
    name: "generator/model",
    files: ["model", "json", "keywords", "version"].map((name) => `generator/${name}.ts`),
    grants: { json: { packages: ["svc-runtime"] }, version: { node: ["fs"] } },
  },
  {
    name: "generator/diagnostics",
    files: ["generator/diagnostics/*.ts"],
    below: ["generator/model"],
    packages: ["svc-runtime"],
  },
  {
    name: "generator/atomic-write",
    files: ["generator/atomic-write.ts"],
    below: ["generator/diagnostics"],
    node: DISK,
  },
  {
    name: "generator/project",
    files: ["generator/project/*.ts"],
    below: ["generator/model", "generator/diagnostics"],
    node: [...DISK, "crypto", "module", "url"],
    grants: {
      typescript: { packages: ["ts-morph"] },
      "bare-typescript": { packages: ["ts-morph", "@ts-morph/common"] },
      program: { packages: ["typescript-json-schema"] },
    },
  },
  {
    name: "generator/types",
    files: ["generator/types/*.ts"],
    below: ["generator/model", "generator/diagnostics", "generator/project"],
    packages: ["svc-runtime"],
    // Loaded at the first pattern.
    grants: { "slow-patterns": { packages: ["refa", "scslre"], node: ["module", "vm"] } },
  },
  {
    name: "generator/emit",
    files: ["generator/emit/*.ts"],
    below: ["generator/model", "generator/diagnostics", "generator/project"],
    packages: ["svc-runtime"],
    node: ["path", "util"],
    grants: {
      render: { packages: ["handlebars"], node: ["fs", "module"] },
      schema: { packages: ["typescript-json-schema"], node: ["module"] },
      "schema-judge": { packages: ["ajv", "ajv-formats"], node: ["module"] },
    },
  },
  {
    // Imported on demand.
    name: "generator/openapi",
    files: ["generator/openapi/*.ts"],
    below: ["generator/model", "generator/emit"],
    packages: ["svc-runtime"],
    grants: { "project-info": { node: DISK } },
  },
  {
    name: "generator/generate",
    files: ["generator/generate.ts"],
    below: ["model", "diagnostics", "project", "types", "emit"].map((room) => `generator/${room}`),
    packages: ["svc-runtime"],
  },
  {
    name: "generator/api",
    files: ["generator/api.ts"],
    below: ["generator/model", "generator/diagnostics", "generator/project", "generator/generate"],
    packages: ["svc-runtime"],
  },
  {
    name: "generator/contract-diff",
    files: ["generator/contract-diff.ts"],
    below: ["generator/model"],
    packages: ["svc-runtime"],
  },
  {
    name: "generator/committed-contract",
    files: ["generator/committed-contract.ts"],
    node: ["child_process"],
  },
  {
    name: "generator/new-files",
    files: ["generator/new-files.ts"],
    below: ["generator/atomic-write"],
    node: DISK,
  },
  {
    name: "generator/output-files",
    files: ["generator/output-files.ts"],
    below: ["diagnostics", "atomic-write", "project", "emit", "generate"].map((room) => `generator/${room}`),
    node: DISK,
  },
  {
    name: "generator/watch",
    files: ["generator/watch.ts"],
    below: ["diagnostics", "project", "generate"].map((room) => `generator/${room}`),
    node: [...DISK, "util"],
  },
  {
    name: "form of a command",
    files: ["command", "arguments", "help", "project-options"].map((name) => `generator/commands/${name}.ts`),
    below: ["generator/diagnostics", "generator/project"],
    node: [...DISK, "util"],
  },
  {
    // Imported on demand: it loads the leader's client.
    name: "generator/keys",
    files: ["generator/keys/*.ts"],
    below: ["generator/model", "generator/diagnostics", "generator/atomic-write"],
    packages: ["svc-runtime"],
    node: DISK,
  },
  {
    // Imported on demand, with the templates of a project.
    name: "generator/scaffold",
    files: ["generator/scaffold/*.ts"],
    below: ["generator/diagnostics"],
    packages: ["svc-runtime"],
    node: DISK,
    grants: {
      "npm-install": { node: ["child_process"] },
      "package-specs": { node: ["url"] },
      "project-files": { packages: ["handlebars"], node: ["module"] },
    },
  },
  {
    // Imported on demand: it loads the compiler.
    name: "generator/import",
    files: ["generator/import/*.ts"],
    below: ["model", "diagnostics", "types", "emit", "generate"].map((room) => `generator/${room}`),
    packages: ["svc-runtime/generator"],
    node: ["util"],
    grants: { "read-source": { node: DISK } },
  },
  {
    name: "generator/config",
    files: ["generator/config/*.ts"],
    below: ["diagnostics", "atomic-write", "new-files"].map((room) => `generator/${room}`),
    packages: ["svc-runtime"],
    node: ["path"],
    grants: { "new-config": { node: ["crypto"] } },
  },
  {
    name: "generator/dev",
    files: ["generator/dev/*.ts"],
    below: [
      ...["model", "diagnostics", "atomic-write", "project", "openapi", "contract-diff", "output-files", "watch"],
      ...["keys", "config"],
    ].map((room) => `generator/${room}`),
    packages: ["svc-runtime/leader"],
    node: DISK,
    grants: {
      "dev-server": { node: ["cluster", "readline", "stream"] },
      "dev-keys": { node: ["crypto"] },
    },
  },
  {
    name: "generator/invoke",
    files: ["generator/invoke/*.ts"],
    below: ["generator/diagnostics", "generator/dev", "form of a command"],
    packages: ["svc-runtime/generator", "svc-runtime/leader"],
    node: [...DISK, "perf_hooks"],
  },
  {
    // Imported on demand: what the development page shows, and what it calls.
    name: "generator/dev/page-server",
    files: ["generator/dev/page-server/*.ts"],
    below: ["model", "diagnostics", "openapi", "committed-contract", "contract-diff", "dev"].map(
      (room) => `generator/${room}`,
    ),
    packages: ["svc-runtime/generator", "svc-runtime/inspect", "svc-runtime/leader"],
    node: ["perf_hooks"],
    grants: {
      assets: { node: [...DISK, "zlib"] },
      calls: { node: ["crypto"] },
      "exchange-view": { node: ["crypto"] },
      "page-server": { node: ["crypto", "http", "stream/consumers"] },
      "request-guard": { node: ["crypto", "http"] },
      "wire-request": { node: ["http", "https"] },
    },
  },
  {
    // Runs in a browser: no Node, and of the rest only the types of what it exchanges with its server.
    name: "generator/dev/page",
    files: ["generator/dev/page/*.ts", "generator/dev/page/*.tsx"],
    below: ["generator/dev/page-server"],
    packages: ["preact", "@preact/signals"],
  },
  {
    name: "generator/doctor",
    files: ["generator/doctor/*.ts"],
    below: ["model", "diagnostics", "project", "contract-diff", "config"].map((room) => `generator/${room}`),
    packages: ["svc-runtime"],
    node: ["net"],
    grants: {
      http: { node: ["http", "https", "tls"] },
      "project-checks": { node: [...DISK, "module"], packages: ["sodium-native"] },
      "server-checks": { node: ["crypto"] },
    },
  },
  {
    name: "generator/commands",
    files: ["generator/commands/*.ts"],
    below: [
      ...["model", "diagnostics", "atomic-write", "project", "emit", "generate", "contract-diff", "output-files"].map(
        (room) => `generator/${room}`,
      ),
      ...[
        "openapi",
        "new-files",
        "committed-contract",
        "watch",
        "keys",
        "scaffold",
        "import",
        "dev",
        "dev/page-server",
        "invoke",
      ].map((room) => `generator/${room}`),
      ...["config", "doctor"].map((room) => `generator/${room}`),
      "form of a command",
    ],
    packages: ["svc-runtime"],
    node: DISK,
    grants: {
      "stale-report": { packages: ["diff"] },
      "keys-new": { node: ["crypto"] },
      "keys-rotate": { node: ["crypto"] },
    },
  },
  {
    name: "generator/cli",
    files: ["generator/cli.ts"],
    below: [
      ...["model", "atomic-write", "output-files", "commands"].map((room) => `generator/${room}`),
      "form of a command",
    ],
  },
  {
    name: "generator/process-host",
    files: ["generator/process-host.ts"],
    below: ["generator/cli"],
    node: ["readline/promises", "stream/consumers"],
  },

  // Examples see what an author sees; the demo starts one as an operator would.
  {
    name: "examples",
    files: ["examples/*/src/*.ts"],
    packages: ["svc-runtime", "svc-runtime/leader", "svc-runtime/storage"],
    node: ["child_process", "crypto", "events", "fs", "os", "path", "url"],
    grants: {
      clock: { node: ["timers/promises"] },
      replicas: { node: ["net"] },
      ledger: { packages: ["libsql"], node: ["timers/promises"] },
      statement: { packages: ["lossless-json"] },
      transfer: { packages: ["lossless-json"] },
    },
  },
  {
    name: "generated code",
    files: ["examples/*/src/generated/*.ts"],
    below: ["examples"],
    packages: ["svc-runtime/v1"],
  },
  {
    name: "tests of examples",
    files: ["examples/*/test/*.ts"],
    below: ["examples", "generated code"],
    packages: ["svc-runtime/testing", "svc-runtime/v1", "libsql"],
    node: ["assert/strict", "child_process", "events", "fs", "http", "net", "os", "path", "test", "url"],
  },
];

/** Names and calls that have no place in `wire`: a clock, an effect. */
const EFFECTS =
  /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask|fetch|console|process|performance|Date\.now)\b/;

const fits = (pattern: string, file: string) =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*")}$`).test(file);
const roomOf = (file: string) => ROOMS.find(({ files }) => files.some((pattern) => fits(pattern, file)));

interface Source {
  readonly file: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  /** Whether it is a call, which may never come. */
  readonly called?: true;
}

/** Every specifier of a file: imports, exports, `require()` and `import()`, through `createRequire` too. */
function read(file: string): Source {
  const text = readFileSync(join(ROOT, file), "utf8");
  const imports: Import[] = [];
  const loaders = new Set(["import", "require", "require.resolve"]);
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      imports.push({ specifier: node.moduleSpecifier.text, typeOnly: node.importClause?.isTypeOnly === true });
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      imports.push({ specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly });
    } else if (ts.isExternalModuleReference(node) && ts.isStringLiteral(node.expression)) {
      imports.push({ specifier: node.expression.text, typeOnly: false });
    } else if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    ) {
      imports.push({ specifier: node.argument.literal.text, typeOnly: true });
    } else if (ts.isVariableDeclaration(node) && node.initializer?.getText().startsWith("createRequire(")) {
      loaders.add(node.name.getText());
    } else if (ts.isCallExpression(node)) {
      const [first] = node.arguments;
      const called = node.expression.getText();
      if ((loaders.has(called) || called.startsWith("createRequire(")) && first && ts.isStringLiteral(first)) {
        imports.push({ specifier: first.text, typeOnly: false, called: true });
      }
    }
    ts.forEachChild(node, visit);
  };
  // The kind of script follows the name: .tsx has JSX.
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return { file, text, imports };
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name.replaceAll("\\", "/")))
    .filter((file) => /\.tsx?$/.test(file) && !/(^|\/)(dist|node_modules)\//.test(file));
}

const SOURCES = [...filesUnder("runtime"), ...filesUnder("generator"), ...filesUnder("examples")].sort().map(read);

/** The file that a specifier names in this repository, if it does. */
function target(file: string, specifier: string): string | undefined {
  const path = specifier.startsWith(".")
    ? normalize(join(dirname(file), specifier))
    : specifier.startsWith("#")
      ? specifier.slice(1)
      : undefined;
  const source = path?.replace(/\.js$/, ".ts");
  return source !== undefined && existsSync(join(ROOT, `${source}x`)) ? `${source}x` : source;
}

/** Why a file may not import this, or undefined. */
function complaint(file: string, specifier: string, room: Room): string | undefined {
  const grant = room.grants?.[basename(file).replace(/\.tsx?$/, "")];
  if (specifier.startsWith("node:")) {
    const modules = [...(room.node ?? []), ...(grant?.node ?? [])];
    return modules.includes(specifier.slice(5)) ? undefined : "this module of Node";
  }
  const path = target(file, specifier);
  if (path === undefined) {
    const packages = [...(room.packages ?? []), ...(grant?.packages ?? [])];
    const isAllowed = packages.some((name) => specifier === name || specifier.startsWith(`${name}/`));
    return isAllowed
      ? undefined
      : builtinModules.includes(specifier)
        ? "a module of Node without node:"
        : "this package";
  }
  const other = roomOf(path)?.name;
  return other === room.name || (other !== undefined && room.below?.includes(other)) ? undefined : "this room";
}

describe("boundaries", () => {
  for (const { file, imports, text } of SOURCES) {
    it(file, () => {
      const room = roomOf(file);
      assert.ok(room !== undefined, "no room has this file: add it to test/boundaries.test.ts");
      const faults = imports.flatMap(({ specifier }) => {
        const what = complaint(file, specifier, room);
        return what === undefined ? [] : [`${specifier}: ${file} may not import ${what}`];
      });
      assert.deepEqual(faults, []);
      if (file.startsWith(WIRE)) {
        const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
        assert.equal(EFFECTS.exec(code)?.[0], undefined, "wire has no clock and no effects");
      }
    });
  }

  it("rooms stand in their order, have files, and use what they may", () => {
    for (const [at, { name, files, below = [], node = [], packages = [], grants = {} }] of ROOMS.entries()) {
      const before = ROOMS.slice(0, at).map((room) => room.name);
      assert.deepEqual(
        below.filter((other) => !before.includes(other)),
        [],
        `${name} is above all that it imports`,
      );
      const sources = SOURCES.filter(({ file }) => roomOf(file)?.name === name);
      assert.ok(sources.length > 0, `${name}: ${files.join(", ")}`);
      const used = sources.flatMap(({ file, imports }) => imports.map(({ specifier }) => [file, specifier] as const));
      const isUsed = (each: string) =>
        used.some(([, specifier]) => specifier === each || specifier.startsWith(`${each}/`));
      assert.deepEqual(
        [...node.map((each) => `node:${each}`), ...packages].filter((each) => !isUsed(each)),
        [],
        `${name} uses what it may`,
      );
      for (const [base, grant] of Object.entries(grants)) {
        const own = used
          .filter(([file]) => basename(file).replace(/\.tsx?$/, "") === base)
          .map(([, specifier]) => specifier);
        const granted = [...(grant.node ?? []).map((each) => `node:${each}`), ...(grant.packages ?? [])];
        const idle = granted.filter((each) => !own.some((one) => one === each || one.startsWith(`${each}/`)));
        assert.deepEqual(idle, [], `${name}/${base} uses what it may`);
      }
    }
  });

  it("the mutation tester names files that exist", () => {
    const known = new Set([...SOURCES.map(({ file }) => file), ...filesUnder("test")]);
    const named = Object.entries(TESTS).flatMap(([file, tests]) => [file, ...tests]);
    assert.deepEqual(
      named.filter((file) => !known.has(file)),
      [],
    );
  });

  it("a file in no room, and a new package anywhere, is a fault", () => {
    assert.equal(roomOf("runtime/util/helpers.ts"), undefined);
    assert.equal(roomOf("generator/deep/file.ts"), undefined);
    assert.equal(roomOf("runtime/new.ts"), undefined);
    const why = (file: string, specifier: string) => complaint(file, specifier, roomOf(file) ?? assert.fail(file));
    assert.equal(why("runtime/wire/new.ts", "left-pad"), "this package");
    assert.equal(why("runtime/wire/new.ts", "node:fs"), "this module of Node");
    assert.equal(why("runtime/wire/new.ts", "fs"), "a module of Node without node:");
    assert.equal(why("runtime/wire/new.ts", "../server/call/invoke-service.js"), "this room");
    assert.equal(why("runtime/wire/new.ts", "../tool.js"), "this room");
    assert.equal(why("runtime/wire/new.ts", "./json.js"), undefined);
    assert.equal(why("runtime/server/new.ts", "../storage/dev-store.js"), "this room");
    assert.equal(why("runtime/server/new.ts", "fastify"), "this package");
    assert.equal(why("runtime/server/replay/new.ts", "../call/messages.js"), "this room");
    assert.equal(why("runtime/storage/new.ts", "../server/call/invoke-service.js"), "this room");
    assert.equal(why("runtime/leader/new.ts", "../server/call/auth.js"), "this room");
    assert.equal(why("runtime/tool.ts", "./leader.js"), "this room");
    assert.equal(why("generator/emit/new.ts", "ts-morph"), "this package");
    assert.equal(why("generator/emit/new.ts", "../types/lower.js"), "this room");
    assert.equal(why("generator/types/lower.ts", "#runtime/wire/json.js"), "this room");
    assert.equal(why("generator/types/new.ts", "../../runtime/tool.js"), "this room");
    assert.equal(why("examples/x/src/x.ts", "../../../runtime/tool.js"), "this room");
    assert.equal(why("examples/x/src/x.ts", "svc-gen"), "this package");
  });

  it("a server that uses nothing in particular loads few packages", () => {
    const loaded = new Set(["runtime/index.ts", "runtime/v1.ts", "runtime/generator.ts"]);
    const packages = new Set<string>();
    for (const file of loaded) {
      for (const { specifier, typeOnly, called } of SOURCES.find((source) => source.file === file)?.imports ?? []) {
        if (typeOnly || called || specifier.startsWith("node:")) continue;
        const path = target(file, specifier);
        if (path === undefined) packages.add(specifier);
        else loaded.add(path);
      }
    }
    // And sodium-native, where it is installed.
    assert.deepEqual([...packages].sort(), [
      "@noble/ed25519",
      "@noble/hashes/sha2.js",
      "ajv-formats/dist/formats.js",
      "fastest-levenshtein",
      "fastify",
      "pino",
    ]);
    assert.ok(loaded.has("runtime/wire/json.ts"));
    assert.deepEqual(
      [...loaded].filter((file) => file.startsWith("runtime/testing")),
      [],
    );
  });

  it("no file imports itself on any way, types included", () => {
    const loads = new Map(
      SOURCES.map(({ file, imports }) => [file, imports.map(({ specifier }) => target(file, specifier))]),
    );
    const done = new Set<string>();
    const cycles: string[] = [];
    const walk = (file: string, above: readonly string[]): void => {
      if (above.includes(file)) cycles.push([...above.slice(above.indexOf(file)), file].join(" → "));
      if (above.includes(file) || done.has(file)) return;
      for (const next of loads.get(file) ?? []) if (next !== undefined) walk(next, [...above, file]);
      done.add(file);
    };
    for (const file of loads.keys()) walk(file, []);
    assert.deepEqual(cycles, []);
  });
});
