/**
 * The modules of the tests as JavaScript, made once for a run: tsx in the process of every file took a fifth of a second
 * each, and more for every import. esbuild is what tsx runs; it is called directly, because tsx writes no files.
 */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { transform } from "esbuild";

/**
 * Transpiles all modules below `test/`, except those of packages, to a folder below `dist/`, which is gone at the end of
 * the process. Each keeps the URL of its source as `import.meta.url`, and a source map.
 *
 * @param root the repository, with a separator at its end
 * @returns the JavaScript of a module: its absolute path by the path of its source, relative to the repository
 */
export async function transpileTests(root: string): Promise<(source: string) => string> {
  mkdirSync(join(root, "dist"), { recursive: true });
  // Within the repository, so that its packages and `#` imports resolve.
  const folder = mkdtempSync(join(root, "dist", "tests-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const target = (source: string) => join(folder, relative("test", source).replace(/\.ts$/, ".js"));
  await Promise.all(
    modulesBelow(root, "test").map(async (source) => {
      const path = join(root, source);
      const { code } = await transform(readFileSync(path, "utf8"), {
        loader: "ts",
        format: "esm",
        target: "node20",
        sourcefile: path,
        sourcemap: "inline",
        sourcesContent: false,
        define: {
          "import.meta.url": JSON.stringify(pathToFileURL(path).href),
          "import.meta.dirname": JSON.stringify(dirname(path)),
        },
      });
      mkdirSync(dirname(target(source)), { recursive: true });
      writeFileSync(target(source), code);
    }),
  );
  return target;
}

/** The TypeScript modules below a folder, relative to the root. */
function modulesBelow(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  // A package has its own build.
  if (entries.some(({ name }) => name === "package.json")) return [];
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return modulesBelow(root, path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}
