/** Checks of the compiled JavaScript: it exists, is current, and its imports resolve. */

import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve, sep } from "node:path";
import { quoted } from "../compile/diagnostics/quote.js";
import { displayPath } from "../compile/project/layout.js";
import { type Project, rootsOf } from "../compile/project/program.js";
import { ts } from "../compile/project/typescript.js";
import { mayLackExtensions } from "../compile/project/unresolved-imports.js";
import { readRegular } from "../files/read-file.js";
import { bad, type Check, good, skipped } from "./check.js";

export function checkBuild(project: Project): Check[] {
  const { layout, options, scripts } = project;
  const [build, start] = [String(scripts.build ?? ""), String(scripts.start ?? "")];
  const isBuiltByTsc = /(?:^|[\s&;])tsc(?=$|\s*[&;])/.test(build);
  if (isBuiltByTsc && !project.emits) {
    const detail = 'tsc writes no JavaScript: "noEmit" or "emitDeclarationOnly" is set in tsconfig.json';
    return [bad("build", detail, "remove it")];
  }
  if (isBuiltByTsc && project.tsconfig !== layout.tsconfig) {
    const [given, referenced] = [layout.tsconfig, project.tsconfig].map((path) => displayPath(layout, path));
    const detail = `the build script runs tsc without --build, and ${given} only references ${referenced}`;
    return [bad("build", detail, "run tsc --build")];
  }
  if (isBuiltByTsc && !project.includesServer) {
    const detail = `${displayPath(layout, project.tsconfig)} does not include ${displayPath(layout, layout.out)}`;
    return [bad("build", detail, 'correct "include" and "exclude"')];
  }
  // Without outDir, a bundler builds the server at a path that is not in tsconfig.json.
  if (options.outDir === undefined) return [];
  const roots = rootsOf(project);
  // Before TypeScript 6, the default of rootDir was the common folder of all sources.
  const isOld = Number.parseInt(project.installed?.version ?? "6", 10) < 6;
  const rootDir = options.rootDir ?? (isOld ? commonFolder(roots) : undefined);
  const command = {
    options: { ...options, noEmit: false, ...(rootDir !== undefined && { rootDir }) },
    fileNames: roots,
    errors: [],
  };
  const built = (path: string) => ts.getOutputFileNames(command, path, false).find((name) => /\.[cm]?js$/.test(name));
  const server = built(join(layout.out, "server.ts"));
  const started = /\bnode\s+(?:-\S+\s+)*(\S+\.[cm]?js)\b/.exec(start)?.[1];
  if (isBuiltByTsc && server !== undefined && started !== undefined && resolve(layout.root, started) !== server) {
    const written = displayPath(layout, server);
    const detail = `npm start runs ${quoted(started)}, but tsc writes the server to ${quoted(written)}`;
    const next = `correct "rootDir" and "outDir" in tsconfig.json, or start ${quoted(written)} in package.json`;
    return [bad("build", detail, next)];
  }
  const contracts = built(join(layout.out, "contracts.ts"));
  if (contracts === undefined || !existsSync(contracts)) {
    return [skipped("build", "the server is not built", "run npm run build before npm start")];
  }
  const source = join(layout.out, "contracts.ts");
  if (existsSync(source) && dataOf(contracts) !== dataOf(source)) {
    const detail = `${displayPath(layout, contracts)} differs from ${displayPath(layout, source)}`;
    return [bad("build", `${detail}: the server would use old contracts`, "npm run build")];
  }
  for (const path of roots.flatMap((root) => built(root) ?? []).filter((each) => existsSync(each))) {
    const lost = lostImport(path, options);
    if (lost === undefined) continue;
    const [reason, next] = lost.startsWith(".")
      ? ["its name has no file extension", 'write the extension; with "module": "NodeNext" tsc checks it']
      : [
          'tsc does not rewrite "paths"',
          'import the relative path, or declare a name that starts with # under "imports" in package.json',
        ];
    const detail = `${displayPath(layout, path)} imports ${quoted(lost)}, which Node cannot resolve: ${reason}`;
    return [bad("build", detail, next)];
  }
  return [good("build", "the compiled contracts match the generated files")];
}

function commonFolder(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => dirname(path).split(sep));
  const length = first.findIndex((part, i) => others.some((other) => other[i] !== part));
  return first.slice(0, length < 0 ? first.length : length).join(sep);
}

/** Contracts in a file, without white space, which tsc changes. */
function dataOf(path: string): string | undefined {
  return /contracts(?:: readonly Contract\[\])? = (\[.*\]);/s
    .exec(readRegular(path).toString())?.[1]
    ?.replace(/\s/g, "");
}

/** An import specifier in a compiled file that resolves only through `paths`, or by a search for its extension. */
function lostImport(path: string, options: ts.CompilerOptions): string | undefined {
  const patterns = Object.keys(options.paths ?? {}).map((pattern) => pattern.split("*"));
  const isAlias = (name: string) =>
    patterns.some(([start = "", end]) =>
      end === undefined ? name === start : name.startsWith(start) && name.endsWith(end),
    );
  const isLost = (name: string) =>
    name.startsWith(".")
      ? mayLackExtensions(options) && !existsSync(resolve(dirname(path), name))
      : isAlias(name) && !isFound(name, path);
  const { importedFiles } = ts.preProcessFile(readRegular(path).toString(), true, true);
  return importedFiles.map(({ fileName }) => fileName).find(isLost);
}

function isFound(name: string, from: string): boolean {
  try {
    createRequire(realpathSync(from)).resolve(name);
    return true;
  } catch (error) {
    // With this code, the package is installed, but `require` cannot load it: it exports only an `import` condition.
    return (error as NodeJS.ErrnoException).code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
  }
}
