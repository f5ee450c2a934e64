/** Projects in clean folders that install the packed packages, by npm, pnpm, yarn and bun. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { scratchFolder } from "../scratch-folder.js";
import { type PackedPackage, run, shellEnv } from "./packages.js";

const ROOT = process.cwd();
const SUM = join(ROOT, "examples/sum");

/** How one package manager installs what a manifest names. */
export interface Manager {
  readonly title: string;
  /** The package of the npm registry that is the manager; npm comes with Node. A program that is not JavaScript is native. */
  readonly program?: { readonly spec: string; readonly bin: string; readonly isNative?: boolean };
  readonly args: readonly string[];
  /** Files beside package.json that it reads. */
  readonly files?: (overrides: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  /** The project is the folder `tool` of a workspace. */
  readonly isWorkspace?: boolean;
  /** It installs no optional packages: results are signed by node:crypto. */
  readonly omitsOptional: boolean;
}

export const NPM = ["install", "--no-audit", "--no-fund", "--prefer-offline", "--engine-strict", "--ignore-scripts"];

/** A server's own packages, and nothing that is optional. */
export const NPM_SERVER: Manager = {
  title: "npm, hoisted, without optional packages",
  args: [...NPM, "--omit=optional"],
  omitsOptional: true,
};

const PNPM = { spec: "pnpm@12", bin: "pnpm/bin/pnpm.mjs" };
const pnpm = (linker: "isolated" | "hoisted", ...args: string[]): Manager => ({
  title: `pnpm, ${linker}${args.length > 0 ? ", without optional packages" : ""}`,
  program: PNPM,
  args: ["install", "--ignore-scripts", "--no-frozen-lockfile", ...args],
  files: (overrides) => ({
    "pnpm-workspace.yaml": `${JSON.stringify({ packages: ["."], nodeLinker: linker, engineStrict: true, overrides })}\n`,
  }),
  omitsOptional: args.length > 0,
});

const YARN = { spec: "@yarnpkg/cli-dist@4", bin: "@yarnpkg/cli-dist/bin/yarn.js" };
const BUN = `@oven/bun-linux-${process.arch === "x64" ? "x64" : "aarch64"}`;

const yarn = (linker: "node-modules" | "pnpm" | "pnp", layout: string): Manager => ({
  title: `yarn 4, ${layout}`,
  program: YARN,
  args: ["install"],
  files: () => ({
    "yarn.lock": "",
    ".yarnrc.yml": `${JSON.stringify({ nodeLinker: linker, enableScripts: false, enableTelemetry: false })}\n`,
  }),
  omitsOptional: false,
});

/** Every manager, in every layout of node_modules that it has. yarn 4 has no way to leave optional packages out. */
export const MANAGERS: readonly Manager[] = [
  { title: "npm, hoisted", args: NPM, omitsOptional: false },
  { title: "npm, isolated", args: [...NPM, "--install-strategy=linked"], omitsOptional: false },
  { title: "npm, workspace", args: NPM, isWorkspace: true, omitsOptional: false },
  pnpm("isolated"),
  pnpm("isolated", "--no-optional"),
  pnpm("hoisted"),
  {
    title: "yarn 1, hoisted",
    program: { spec: "yarn@1", bin: "yarn/bin/yarn.js" },
    args: ["install", "--ignore-scripts", "--no-progress"],
    omitsOptional: false,
  },
  {
    title: "yarn 1, hoisted, without optional packages",
    program: { spec: "yarn@1", bin: "yarn/bin/yarn.js" },
    args: ["install", "--ignore-scripts", "--no-progress", "--ignore-optional"],
    omitsOptional: true,
  },
  yarn("node-modules", "hoisted"),
  yarn("pnpm", "isolated"),
  {
    title: "bun, hoisted",
    program: { spec: `${BUN}@1`, bin: `${BUN}/bin/bun`, isNative: true },
    args: ["install", "--ignore-scripts"],
    omitsOptional: false,
  },
];

/** Runs servers, but not svc-gen: its compiler reads the types of packages from files. */
export const YARN_PNP = yarn("pnp", "Plug'n'Play");

/** Installs the programs of package managers into a folder. */
export async function installPrograms(managers: readonly Manager[]): Promise<string> {
  const folder = scratchFolder();
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  const specs = new Set(managers.flatMap(({ program }) => program?.spec ?? []));
  const { status, out } = await run("npm", [...NPM.filter((arg) => arg !== "--engine-strict"), ...specs], {
    cwd: folder,
  });
  assert.equal(status, 0, out);
  return folder;
}

/** Where pnpm and yarn keep what they fetch: not in the home of the person who runs the tests. */
function cachesIn(folder: string): NodeJS.ProcessEnv {
  const cache = join(folder, "caches");
  return {
    XDG_CACHE_HOME: cache,
    XDG_DATA_HOME: cache,
    XDG_STATE_HOME: cache,
    YARN_CACHE_FOLDER: join(cache, "yarn"),
    YARN_GLOBAL_FOLDER: join(cache, "yarn-4"),
    // In continuous integration yarn 4 refuses to write a lock file.
    YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
  };
}

/**
 * A project that has installed packed packages.
 *
 * @param programs where {@link installPrograms} has put the package managers
 */
export async function installProject(
  manager: Manager,
  packages: {
    readonly client: PackedPackage;
    readonly runtime: PackedPackage;
    readonly generator?: PackedPackage;
    /** Optional packages of the runtime. */
    readonly more?: readonly PackedPackage[];
  },
  programs?: string,
): Promise<string> {
  const root = scratchFolder();
  const project = manager.isWorkspace ? join(root, "tool") : root;
  mkdirSync(project, { recursive: true });
  const { overrides: ours, devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const own = {
    "svc-client": `file:${packages.client.tarball}`,
    "svc-runtime": `file:${packages.runtime.tarball}`,
  };
  const more = Object.fromEntries(packages.more?.map(({ name, tarball }) => [name, `file:${tarball}`]) ?? []);
  const development = packages.generator && {
    "svc-gen": `file:${packages.generator.tarball}`,
    typescript: `~${devDependencies.typescript}`,
    "@types/node": devDependencies["@types/node"],
  };
  // The packages are not published: what they depend on are the packed ones too.
  const overrides = { ...ours, ...own };
  const manifest = {
    name: "installed",
    version: "1.0.0",
    private: true,
    type: "module",
    dependencies: { ...own, ...more },
    devDependencies: development,
    overrides,
    resolutions: overrides,
  };
  const files = { "package.json": `${JSON.stringify(manifest, null, 2)}\n`, ...manager.files?.(overrides) };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(project, path), text);
  if (manager.isWorkspace) {
    // npm reads overrides of the root only.
    const text = JSON.stringify({ private: true, workspaces: ["tool"], overrides });
    writeFileSync(join(root, "package.json"), text);
  }
  const { program } = manager;
  const bin = program && join(programs ?? "", "node_modules", program.bin);
  const command: readonly [string, ...string[]] =
    bin === undefined ? ["npm"] : program?.isNative ? [bin] : [process.execPath, bin];
  const { status, out } = await run(command[0], [...command.slice(1), ...manager.args], {
    cwd: root,
    env: { ...shellEnv, ...(programs !== undefined && cachesIn(programs)) },
  });
  assert.equal(status, 0, `${manager.title}: ${out}`);
  return project;
}

/** Puts the tool of examples/sum and its demo into a project, as their sources or as they were built here. */
export function copyExample(project: string, part: "sources" | "build"): void {
  if (part === "build") {
    cpSync(join(SUM, "dist"), join(project, "dist"), { recursive: true });
    return;
  }
  mkdirSync(join(project, "src"));
  for (const file of ["sum.ts", "demo.ts"]) cpSync(join(SUM, "src", file), join(project, "src", file));
  cpSync(join(SUM, "tsconfig.json"), join(project, "tsconfig.json"));
}

/** Runs an installed program of a project, or `node`. */
export async function inProject(project: string, program: string, ...args: string[]): Promise<string> {
  const folders = [project, join(project, "..")].map((folder) => join(folder, "node_modules/.bin"));
  const path = [...folders, process.env.PATH].join(delimiter);
  const { status, out } = await run(program === "node" ? process.execPath : program, args, {
    cwd: project,
    env: { ...shellEnv, PATH: path },
  });
  assert.equal(status, 0, `${program} ${args.join(" ")}: ${out}`);
  return out;
}

/** The packages in a flat node_modules, ours included, and the bytes of their files. */
export function sizeOf(project: string): { readonly packages: number; readonly bytes: number } {
  const { packages } = JSON.parse(readFileSync(join(project, "node_modules/.package-lock.json"), "utf8"));
  return { packages: Object.keys(packages).length, bytes: bytesOf(join(project, "node_modules")) };
}

function bytesOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
