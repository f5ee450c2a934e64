/** Texts of a new project, from `templates/project`. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { ENGINES, OWN_MANIFEST } from "../process/version.js";
import type { ToolNames } from "./names.js";
import { type PackageSpecs, packagePlaces } from "./package-specs.js";

export interface ProjectFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface ProjectOptions {
  /** Whether to serve leaders of the network. */
  readonly nexus?: boolean | undefined;
  /** Whether the image has the server as one file. */
  readonly bundle?: boolean | undefined;
}

/** All files, in the order in which they are listed for the user. */
export function projectFiles(
  packageName: string,
  tool: ToolNames,
  specs: PackageSpecs,
  { nexus = false, bundle = false }: ProjectOptions = {},
): ProjectFile[] {
  const names = { title: packageName, fqn: tool.fqn, className: tool.className, file: tool.file, path: tool.file };
  const around = projectAround(packageName, [tool.fqn], specs, bundle);
  return [
    ...around.slice(0, 2),
    ...toolFiles(tool),
    ...(nexus ? [{ path: "src/server-options.ts", text: render("server-options.ts", {}) }] : []),
    ...around.slice(2, 4),
    { path: "README.md", text: render("README.md", { ...names, ...packagePlaces(specs), nexus }) },
    { path: "AGENTS.md", text: render("AGENTS.md", names) },
    ...around.slice(4),
  ];
}

/** A tool and its test. */
export function toolFiles(tool: ToolNames): ProjectFile[] {
  const names = { fqn: tool.fqn, className: tool.className, file: tool.file, path: tool.file };
  return [
    { path: `src/${tool.file}.ts`, text: render("tool.ts", names) },
    { path: `test/${tool.file}.test.ts`, text: render("tool.test.ts", names) },
  ];
}

/** Files of a project, except its tools. */
export function projectAround(
  packageName: string,
  fqns: readonly string[],
  specs: PackageSpecs,
  bundle = false,
): ProjectFile[] {
  const { devDependencies, overrides } = OWN_MANIFEST;
  const places = packagePlaces(specs);
  const manifest = {
    name: packageName,
    engines: ENGINES,
    runtime: specs.runtime,
    client: specs.client ?? "",
    generator: specs.generator,
    nodeTypes: devDependencies["@types/node"],
    typescript: `~${devDependencies.typescript}`,
    cookie: overrides.cookie,
    bundle: bundle ? (devDependencies.esbuild ?? "") : "",
  };
  const quotedManifest = Object.fromEntries(
    Object.entries(manifest).map(([name, text]) => [name, text && JSON.stringify(text)]),
  );
  return [
    { path: "package.json", text: render("package.json", quotedManifest) },
    { path: "tsconfig.json", text: render("tsconfig.json", {}) },
    { path: "test/tsconfig.json", text: render("test-tsconfig.json", {}) },
    {
      path: "config.example.json",
      text: render("config.example.json", { tools: fqns.map((fqn) => `"${fqn}": {}`).join(", ") }),
    },
    {
      path: "Dockerfile",
      text: render("Dockerfile", {
        ...places,
        image: imageName(packageName),
        bundle,
        entry: bundle ? "dist/bundle/server.mjs" : "dist/generated/server.js",
      }),
    },
    ...(bundle ? [{ path: "bundle.mjs", text: render("bundle.mjs", {}) }] : []),
    { path: ".dockerignore", text: render("dockerignore", {}) },
    { path: ".gitignore", text: render("gitignore", {}) },
    { path: ".gitattributes", text: render("gitattributes", {}) },
    { path: ".github/workflows/ci.yml", text: render("ci.yml", places) },
  ];
}

/** Files that the first install and the first generation write. */
export const LATER_FILES = [
  "package-lock.json",
  "node_modules",
  "meta.json",
  "src/generated/contracts.ts",
  "src/generated/server.ts",
] as const;

function imageName(packageName: string): string {
  return packageName.replace(/[@~]/g, "").replace(/[^a-z0-9/]+/g, "-");
}

// The bundled build loads faster.
const require = createRequire(import.meta.url);
const Handlebars = require("handlebars/dist/handlebars.js") as typeof import("handlebars");
const handlebars = Handlebars.create();

/** Renders one template. Throws if the template uses a name that is not in the view. */
function render(name: string, view: object): string {
  const template = readFileSync(new URL(`../../../templates/project/${name}.hbs`, import.meta.url), "utf8");
  return handlebars.compile(template, { strict: true, noEscape: true })(view);
}
