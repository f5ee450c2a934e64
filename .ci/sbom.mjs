// Writes the CycloneDX list of components of the package in the current folder: its dependencies as this repository's
// lock file pins them. The file is sbom.cdx.json of the package, or the one that is named.
//
// `npm sbom` makes the list, but not here: it does not end on workspaces that depend on each other ("Maximum call stack
// size exceeded", npm 11.19). It reads a folder that holds the manifest of the package alone, and the part of the lock
// file that `npm prune` leaves of it. Serial number and time are left out: one commit packs to the same bytes.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** The packages of this repository on which others of it depend, with their folders. */
const OWN = { "svc-client": "runtime/client", "svc-runtime": "runtime", "svc-gen": "." };

const read = (...path) => JSON.parse(readFileSync(join(...path), "utf8"));

/** A manifest as a registry has it: without what only this repository needs. */
function published(path) {
  const { scripts, devDependencies, overrides, workspaces, ...manifest } = read(path, "package.json");
  return manifest;
}

/** Locked packages that are neither workspaces nor for development, where they stand below the package itself. */
function lockedPackages(name) {
  const { packages } = read(ROOT, "package-lock.json");
  // npm puts those of svc-client that the root has in another version beside svc-runtime, whose folder contains it.
  const ofClient = name === "svc-client" ? "node_modules/" : "node_modules/svc-client/node_modules/";
  const others = Object.entries(packages)
    .filter(([path, entry]) => /^(runtime\/)?node_modules\//.test(path) && !entry.link && !entry.dev)
    .map(([path, entry]) => [path.replace(/^runtime\/node_modules\//, ofClient), entry]);
  const own = Object.entries(OWN).flatMap(([other, folder]) =>
    other === name ? [] : [[`node_modules/${other}`, published(join(ROOT, folder))]],
  );
  return Object.fromEntries([...others, ...own]);
}

const manifest = published(".");
const { name, version } = manifest;
const scratch = mkdtempSync(join(tmpdir(), "svc-sbom-"));
// npm takes the name of the folder for that of the package.
const cwd = join(scratch, name);
// Without the settings of an npm that runs this script, such as --dry-run of `npm pack`.
const env = Object.fromEntries(Object.entries(process.env).filter(([variable]) => !variable.startsWith("npm_")));
const npm = (...args) => execFileSync("npm", args, { cwd, env, encoding: "utf8", shell: process.platform === "win32" });
try {
  mkdirSync(cwd);
  const { overrides } = read(ROOT, "package.json");
  const packages = { "": manifest, ...lockedPackages(name) };
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ ...manifest, overrides }));
  writeFileSync(join(cwd, "package-lock.json"), JSON.stringify({ name, version, lockfileVersion: 3, packages }));
  npm("prune", "--package-lock-only", "--offline", "--ignore-scripts", "--loglevel=error");
  const bom = JSON.parse(npm("sbom", "--package-lock-only", "--sbom-format=cyclonedx", "--sbom-type=library"));
  delete bom.serialNumber;
  delete bom.metadata.timestamp;
  const target = resolve(process.argv[2] ?? "sbom.cdx.json");
  // Replaced as a whole: another run may be packing.
  const unfinished = `${target}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(bom, null, 2)}\n`);
  renameSync(unfinished, target);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
