/** Which file may import what (design.md section 1): arrows never go back, and each package has few doors. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, normalize } from "node:path/posix";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Row {
  /** Files, by path from the root; `*` stands for a part of a name. The first row that fits a file is its row. */
  readonly files: readonly string[];
  /** Files and folders of this repository that they may import, besides their own folder. */
  readonly from?: readonly string[];
  /** Packages that they may import. */
  readonly packages?: readonly string[];
  /** Modules of Node, without `node:`. */
  readonly node?: readonly string[];
  /** A file of their own folder that nobody else may import. */
  readonly sees?: readonly string[];
}

const WIRE = "runtime/wire/";
const TOOL = "runtime/tool.ts";
const COMPILER = "generator/project/typescript.ts";

const ROWS: readonly Row[] = [
  // wire: pure bytes. Of Node only what computes; the author's classes only for ErrEval.
  { files: ["runtime/wire/bcs.ts"], packages: ["@mysten/bcs"] },
  { files: ["runtime/wire/ed25519.ts"], packages: ["@noble/ed25519"], node: ["crypto"] },
  { files: ["runtime/wire/formats.ts"], packages: ["ajv-formats"] },
  { files: ["runtime/wire/sodium.ts"], packages: ["sodium-native"], node: ["module"] },
  { files: ["runtime/wire/hash.ts"], node: ["crypto"] },
  { files: ["runtime/wire/json.ts"], node: ["buffer", "crypto"] },
  { files: ["runtime/wire/output.ts"], from: [TOOL] },
  { files: ["runtime/wire/*.ts"] },

  {
    files: ["runtime/config/*.ts"],
    from: [WIRE, "runtime/fqn.ts", TOOL],
    node: ["crypto", "fs", "fs/promises", "path"],
  },

  // server: knows nothing of storage. Only serve and the framework's own door see it, only log the logger.
  {
    files: ["runtime/server/http/http-server.ts"],
    from: [WIRE, "runtime/config/", TOOL],
    packages: ["fastify"],
    node: ["http", "https", "net", "stream", "tls"],
  },
  {
    files: ["runtime/server/http/tls.ts"],
    from: [WIRE, "runtime/config/", TOOL],
    node: ["crypto", "fs", "http", "https", "net", "path", "tls"],
  },
  {
    files: ["runtime/server/threads/crypto-thread.ts", "runtime/server/threads/crypto-threads.ts"],
    from: [WIRE],
    node: ["worker_threads"],
  },
  // Loaded where they are asked for.
  {
    files: ["runtime/server/observe/metrics.ts"],
    from: [WIRE, "runtime/config/"],
    packages: ["prom-client"],
    node: ["net", "util"],
  },
  { files: ["runtime/server/observe/tracing.ts"], packages: ["@opentelemetry/api"] },
  { files: ["runtime/server/observe/admin.ts"], from: ["runtime/config/"], node: ["events", "http", "net"] },
  { files: ["runtime/server/observe/log.ts"], from: [TOOL], packages: ["pino"] },
  { files: ["runtime/server/observe/log-destination.ts"], node: ["fs", "worker_threads"] },
  {
    files: [
      "runtime/server/call/run-deadlines.ts",
      "runtime/server/call/run.ts",
      "runtime/server/observe/async-errors.ts",
    ],
    from: [WIRE, TOOL],
    node: ["async_hooks"],
  },
  { files: ["runtime/server/http/lingering-close.ts"], node: ["http", "stream"] },
  { files: ["runtime/server/http/request-body.ts"], node: ["http"] },
  { files: ["runtime/server/load/load-control.ts"], from: [TOOL], packages: ["rate-limiter-flexible"] },
  { files: ["runtime/server/load/event-loop.ts"], node: ["perf_hooks"] },
  {
    files: ["runtime/server/threads/thread-host.ts"],
    from: [TOOL],
    packages: ["piscina"],
    node: ["crypto", "events", "module", "os", "path", "url", "worker_threads"],
  },
  { files: ["runtime/server/threads/tool-worker.ts"], from: [TOOL], node: ["url", "util", "worker_threads"] },
  {
    files: ["runtime/server/*.ts"],
    from: [WIRE, "runtime/config/", TOOL, "runtime/contracts.ts", "runtime/fqn.ts", "runtime/status.ts"],
    node: ["net", "fs", "path", "tls", "crypto"],
  },

  // storage: its own way to the network and the disk; nothing of the server.
  { files: ["runtime/storage/lock-file.ts"], packages: ["fs-native-extensions"], node: ["fs/promises", "module"] },
  {
    files: ["runtime/storage/*.ts"],
    from: [WIRE],
    packages: ["@mysten/walrus-wasm"],
    node: [
      ...["crypto", "fs", "fs/promises", "http", "https", "module", "net", "os", "path", "stream", "stream/promises"],
      ...["timers/promises", "url", "worker_threads"],
    ],
  },

  // The client of the protocol: header names and content types are the server's.
  {
    files: ["runtime/leader/*.ts", "runtime/leader.ts"],
    from: [
      ...[WIRE, "runtime/leader/", "runtime/fqn.ts", "runtime/config/keys.ts"],
      ...["runtime/server/call/auth.ts", "runtime/server/call/content-negotiation.ts", "runtime/storage/"],
    ],
    node: ["crypto", "http", "https"],
  },

  { files: ["runtime/status.ts", "runtime/fqn.ts"] },
  { files: [TOOL], from: ["runtime/wire/data.ts", "runtime/status.ts"] },
  { files: ["runtime/port-json.ts"], from: [WIRE, "runtime/contracts.ts"] },
  { files: ["runtime/contracts.ts"], from: ["runtime/wire/contract.ts", "runtime/fqn.ts"] },
  // The doors of the package.
  { files: ["runtime/fastify.ts"], packages: ["fastify"] },
  {
    files: ["runtime/index.ts", "runtime/v1.ts", "runtime/generator.ts", "runtime/testing.ts", "runtime/storage.ts"],
    from: [WIRE, "runtime/config/", "runtime/server/", "runtime/storage/", "runtime/leader/", "runtime/"],
  },

  // Of the runtime the generator sees what `svc-runtime/generator` exports.
  { files: [COMPILER], packages: ["ts-morph"] },
  {
    files: ["generator/project/bare-typescript.ts"],
    packages: ["ts-morph", "@ts-morph/common"],
    node: ["fs", "module", "path"],
  },
  { files: ["generator/model.ts"] },
  {
    files: ["generator/types/tool-classes.ts", "generator/types/lower.ts", "generator/types/type-predicates.ts"],
    sees: [COMPILER],
  },
  { files: ["generator/emit/schema.ts"], node: ["module"], packages: ["typescript-json-schema"], sees: [COMPILER] },
  {
    files: ["generator/project/program.ts"],
    node: ["fs", "path", "module"],
    packages: ["ts-morph", "typescript-json-schema"],
    sees: [COMPILER],
  },
  {
    files: ["jsdoc", "template", "written"].map((name) => `generator/${name}.ts`),
    node: ["path"],
    sees: [COMPILER],
  },
  { files: ["generator/project/input-recorder.ts"], node: ["fs", "path"], sees: [COMPILER] },
  {
    files: ["generator/emit/render.ts"],
    packages: ["handlebars", "svc-runtime"],
    node: ["fs", "module", "path"],
  },
  {
    files: ["generator/project/project-typescript.ts"],
    node: ["fs", "module", "path"],
    sees: [COMPILER],
  },
  { files: ["generator/emit/codecs.ts"], packages: ["svc-runtime"], node: ["util"] },
  { files: ["generator/emit/check-examples.ts"], packages: ["svc-runtime"] },
  { files: ["generator/emit/schema-judge.ts"], packages: ["ajv", "ajv-formats"], node: ["module"] },
  { files: ["generator/atomic-write.ts"], node: ["fs", "path"] },
  { files: ["generator/project/file-hash.ts"], node: ["crypto", "fs", "path"] },
  { files: ["generator/project/build-info.ts"], node: ["fs", "path", "url"] },
  { files: ["generator/version.ts"], node: ["fs"] },
  { files: ["generator/diagnostics/did-you-mean.ts"], packages: ["fastest-levenshtein"] },
  { files: ["generator/commands/arguments.ts"], node: ["util"] },
  { files: ["generator/commands/check.ts"], packages: ["diff"] },
  {
    files: ["generator/cli.ts"],
    from: ["generator/commands/"],
    node: ["child_process", "fs", "path", "process", "timers/promises", "url"],
  },
  { files: ["generator/generate.ts"], node: ["path"], sees: [COMPILER] },
  {
    files: ["generator/commands/watch.ts"],
    from: ["generator/"],
    node: ["fs", "path", "util"],
    sees: [COMPILER],
  },
  { files: ["generator/commands/*.ts"], from: ["generator/"], node: ["child_process", "fs", "path", "url", "util"] },
  { files: ["generator/*.ts"], node: ["path"] },

  // Examples see what an author sees; the demo starts one as an operator would.
  {
    files: ["examples/*/src/generated/*.ts"],
    from: ["examples/"],
    packages: ["svc-runtime/v1"],
  },
  {
    files: ["examples/*/src/*.ts"],
    from: ["examples/"],
    packages: ["svc-runtime", "svc-runtime/leader", "svc-runtime/storage"],
    node: ["child_process", "crypto", "events", "fs", "os", "path", "timers/promises", "url"],
  },
];

/** Names and calls that have no place in `wire`: a clock, an effect. */
const EFFECTS =
  /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask|fetch|console|process|performance|Date\.now)\b/;

const fits = (pattern: string, file: string) =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*")}$`).test(file);
const rowOf = (file: string) => ROWS.find(({ files }) => files.some((pattern) => fits(pattern, file)));

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
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return { file, text, imports };
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name.replaceAll("\\", "/")))
    .filter((file) => file.endsWith(".ts") && !/(^|\/)(dist|node_modules)\//.test(file));
}

const SOURCES = [...filesUnder("runtime"), ...filesUnder("generator"), ...filesUnder("examples")].sort().map(read);

/** The file that a specifier names in this repository, if it does. */
function target(file: string, specifier: string): string | undefined {
  const path = specifier.startsWith(".")
    ? normalize(join(dirname(file), specifier))
    : specifier.startsWith("#")
      ? specifier.slice(1)
      : undefined;
  return path?.replace(/\.js$/, ".ts");
}

/** Why a file may not import this, or undefined. */
function complaint(file: string, specifier: string, row: Row): string | undefined {
  if (specifier.startsWith("node:")) {
    return row.node?.includes(specifier.slice(5)) ? undefined : "this module of Node";
  }
  const path = target(file, specifier);
  if (path === undefined) {
    const allowed = row.packages?.some((name) => specifier === name || specifier.startsWith(`${name}/`));
    return allowed ? undefined : builtinModules.includes(specifier) ? "a module of Node without node:" : "this package";
  }
  if (path === COMPILER && file !== path && !row.sees?.includes(path)) return "the compiler";
  if (row.from?.some((allowed) => path === allowed || (allowed.endsWith("/") && path.startsWith(allowed))))
    return undefined;
  return isNeighbour(file, path) ? undefined : "this layer";
}

/** Whether a file may import a neighbour: everywhere but at the top of `runtime/`, where each file is its own layer. */
const isNeighbour = (file: string, path: string) => dirname(path) === dirname(file) && dirname(file) !== "runtime";

describe("boundaries", () => {
  for (const { file, imports, text } of SOURCES) {
    it(file, () => {
      const row = rowOf(file);
      assert.ok(row !== undefined, "the table has no row for this file: add one to test/boundaries.test.ts");
      const faults = imports.flatMap(({ specifier }) => {
        const what = complaint(file, specifier, row);
        return what === undefined ? [] : [`${specifier}: ${file} may not import ${what}`];
      });
      assert.deepEqual(faults, []);
      if (file.startsWith(WIRE)) {
        const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
        assert.equal(EFFECTS.exec(code)?.[0], undefined, "wire has no clock and no effects");
      }
    });
  }

  it("every row has a file, or waits for one by name", () => {
    const waiting = ["runtime/server/http/tls.ts", "runtime/testing.ts", "runtime/storage.ts", "runtime/storage/*.ts"];
    const idle = ROWS.filter(({ files }) => !SOURCES.some(({ file }) => rowOf(file)?.files === files)).flatMap(
      ({ files }) => files,
    );
    assert.deepEqual(
      idle.filter((pattern) => !waiting.includes(pattern)),
      [],
    );
  });

  it("a file in no folder of the table, and a new package anywhere, is a fault", () => {
    assert.equal(rowOf("runtime/util/helpers.ts"), undefined);
    assert.equal(rowOf("generator/deep/file.ts"), undefined);
    assert.equal(rowOf("runtime/new.ts"), undefined);
    const why = (file: string, specifier: string) => complaint(file, specifier, rowOf(file) ?? assert.fail(file));
    assert.equal(why("runtime/wire/new.ts", "left-pad"), "this package");
    assert.equal(why("runtime/wire/new.ts", "node:fs"), "this module of Node");
    assert.equal(why("runtime/wire/new.ts", "fs"), "a module of Node without node:");
    assert.equal(why("runtime/wire/new.ts", "../server/handle.js"), "this layer");
    assert.equal(why("runtime/wire/new.ts", "../tool.js"), "this layer");
    assert.equal(why("runtime/wire/new.ts", "./json.js"), undefined);
    assert.equal(why("runtime/server/new.ts", "../storage/dev.js"), "this layer");
    assert.equal(why("runtime/server/new.ts", "fastify"), "this package");
    assert.equal(why("runtime/storage/new.ts", "../server/handle.js"), "this layer");
    assert.equal(why("runtime/tool.ts", "./leader.js"), "this layer");
    assert.equal(why("generator/emit/render.ts", "./compiler.js"), "the compiler");
    assert.equal(why("generator/new.ts", "ts-morph"), "this package");
    assert.equal(why("generator/types/lower.ts", "#runtime/wire/json.js"), "this layer");
    assert.equal(why("generator/new.ts", "../runtime/tool.js"), "this layer");
    assert.equal(why("examples/x/src/x.ts", "../../../runtime/tool.js"), "this layer");
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
    assert.deepEqual([...packages].sort(), ["@noble/ed25519", "ajv-formats/dist/formats.js", "fastify", "pino"]);
    assert.ok(loaded.has("runtime/wire/json.ts"));
  });

  it("no file is loaded on the way to itself", () => {
    const loads = new Map(
      SOURCES.map(({ file, imports }) => [
        file,
        imports.flatMap(({ specifier, typeOnly }) => (typeOnly ? [] : [target(file, specifier)])),
      ]),
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
