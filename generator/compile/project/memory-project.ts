/** Tool project with sources in memory, compiled against svc-gen's own svc-runtime. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputRecorder } from "./input-recorder.js";
import { layoutOf } from "./layout.js";
import type { Project } from "./program.js";
import { ts } from "./typescript.js";

/** Folder that need not exist. Modules resolve from it as they do from svc-gen. */
const ROOT = fileURLToPath(new URL("../../../../memory", import.meta.url));

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ["lib.es2023.d.ts"],
  types: [],
  // Without this option, 80 lookups of packages that may replace library files take a fifth of a run.
  libReplacement: false,
  strict: true,
  noEmit: true,
  skipLibCheck: true,
};

/** @param texts source texts by path, relative to the root of the project */
export function memoryProject(texts: ReadonlyMap<string, string>): Project {
  const sources = new Map([...texts].map(([path, text]) => [join(ROOT, path), text]));
  const layout = layoutOf({ root: ROOT });
  return {
    layout,
    tsconfig: layout.tsconfig,
    options: OPTIONS,
    installed: undefined,
    files: [...sources.keys()],
    references: undefined,
    notes: [],
    recorder: new InputRecorder([]),
    texts: sources,
  };
}
