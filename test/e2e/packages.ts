/** The packages of this repository, packed as `npm pack` packs them after the build. */

import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const execute = promisify(execFile);

/** Their folders, from the root of the repository. */
export const PACKAGES = {
  "svc-gen": ".",
  "svc-client": "runtime/client",
  "svc-runtime": "runtime",
  "svc-runtime-redis": "runtime/redis",
  "svc-runtime-storage": "runtime/storage",
  "create-svc-tool": "generator/create-svc-tool",
} as const;

export type PackageName = keyof typeof PACKAGES;

export interface PackedPackage {
  readonly name: PackageName;
  readonly folder: string;
  /** Path of the packed file. */
  readonly tarball: string;
  /** Paths in it. */
  readonly files: readonly string[];
}

/** As in a person's shell: npm and node leave settings to the programs that they start. */
export const shellEnv: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:npm|SVC)_/i.test(name) && name !== "NODE_TEST_CONTEXT"),
);

/** Runs a command of a shell, which passes, and gives what it wrote to its first stream. */
export function shell(command: string, cwd: string): string {
  const { status, stdout, stderr } = spawnSync("sh", ["-euc", command], { cwd, env: shellEnv, encoding: "utf8" });
  assert.equal(status, 0, `${command}\n${stdout}${stderr}`);
  return stdout;
}

export const ONLY_POSIX = { skip: process.platform === "win32" && "written for a POSIX shell" };

/** Runs a program to its end; `out` is everything that it wrote, to both streams, `stdout` what it wrote to the first. */
export async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<{ readonly status: number | null; readonly out: string; readonly stdout: string }> {
  const child = spawn(program, args, { env: shellEnv, ...options, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let stdout = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (stream === child.stdout) stdout += text;
    });
  }
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out, stdout };
}

/** The list of components of a package, as its `prepack` writes it. */
export async function componentsOf(name: PackageName, file: string): Promise<Bom> {
  await execute(process.execPath, [join(ROOT, ".ci/sbom.mjs"), file], {
    cwd: join(ROOT, PACKAGES[name]),
    env: shellEnv,
  });
  return JSON.parse(readFileSync(file, "utf8"));
}

/** What the tests read of a CycloneDX document. */
export interface Bom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

export interface Component {
  readonly name: string;
  readonly version: string;
  readonly scope: "required" | "optional";
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[];
}

/** Packs a package into a folder: its list of components, then what the build has left, without building again. */
export async function pack(name: PackageName, target: string): Promise<PackedPackage> {
  const folder = join(ROOT, PACKAGES[name]);
  await componentsOf(name, join(folder, "sbom.cdx.json"));
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", target];
  const { stdout } = await execute("npm", args, { cwd: folder, env: shellEnv, maxBuffer: 1 << 24 });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { name, folder, tarball: join(target, filename), files: files.map(({ path }) => path) };
}
