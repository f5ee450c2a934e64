/** Checks of a tool project and of the environment of its server. Nothing is sent. */

import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { isIP } from "node:net";
import { dirname, join, resolve } from "node:path";
import {
  ENV_ADMIN_ADDR,
  ENV_BIND_ADDR,
  ENV_LOG_LEVEL,
  ENV_TLS_CERT_PATH,
  ENV_TLS_KEY_PATH,
  ENV_TOOLKIT_CONFIG_PATH,
  isWorldReadable,
  readOperatorFile,
  strayVariables,
} from "svc-runtime/internal/config";
import type { SigningKey } from "svc-runtime/leader";
import { quoted } from "../compile/diagnostics/quote.js";
import type { GenerateOptions } from "../compile/project/layout.js";
import { type CheckedConfig, checkConfig } from "../config/check-config.js";
import { readRegular } from "../files/read-file.js";
import { ENGINES, VERSION } from "../version.js";
import { bad, type Check, good, skipped } from "./check.js";

export interface ProjectQuestions {
  readonly project: GenerateOptions;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration; by default the one of the environment. */
  readonly config: string | undefined;
  /** Names of the tools in `meta.json`. */
  readonly tools: readonly string[] | undefined;
  /** Files with private keys. */
  readonly keyFiles: readonly string[];
  readonly leader: LeaderWithKey | undefined;
  /** The public key of the tools, in hex, as leaders know it. */
  readonly toolKey: string | undefined;
  /** The environment variables of the tools; undefined when the project has errors. */
  readonly variables: () => Promise<readonly (readonly [name: string, description: string])[] | undefined>;
  /** The generated files that are not current; undefined when the project has errors. */
  readonly stale: () => Promise<readonly string[] | undefined>;
}

/** A leader whose private key is read. */
export interface LeaderWithKey {
  readonly id: string;
  readonly keyId: bigint;
  readonly key: SigningKey;
}

export async function checkProject(questions: ProjectQuestions): Promise<Check[]> {
  const { project, cwd, env, tools, keyFiles } = questions;
  const file = questions.config ?? env[ENV_TOOLKIT_CONFIG_PATH];
  const checked = file === undefined || file === "" ? undefined : checkConfig(file, cwd, tools);
  return [
    checkNode(process.versions.node),
    checkTypeScript(project.root),
    ...checkManifest(project.root),
    ...(await checkTsconfig(project)),
    checkVersions(project.root),
    await checkGenerated(questions),
    checkConfiguration(file, checked),
    checkKeys(keyFiles, cwd, checked),
    ...checkPairs(questions, checked),
    checkEnvironment(env),
    ...(await checkVariables(questions)),
    checkLibsodium(project.root),
  ];
}

/** The variables that the tools declare, without their values. */
async function checkVariables({ variables, env }: ProjectQuestions): Promise<Check[]> {
  const declared = (await variables()) ?? [];
  return declared.map(([name, about]) => {
    const variable = name.replace(/\?$/, "");
    if (env[variable]) return good(variable, `set: ${about}`);
    if (name.endsWith("?")) return skipped(variable, `not set, optional: ${about}`);
    return bad(variable, `not set: ${about}`, "set it where the server runs; svc-gen env prints all variables");
  });
}

/** Whether a version of Node is one that the packages are made for. */
export function checkNode(version: string): Check {
  if (ENGINES.split("||").some((range) => isWithin(version, range))) return good("node", version);
  return bad(
    "node",
    `${version}, which the packages are not made for: ${ENGINES}`,
    "install a version of Node in that list",
  );
}

/** A range of the form `>=1.2.3 <4`. */
function isWithin(version: string, range: string): boolean {
  const value = numberOf(version);
  return range
    .trim()
    .split(/\s+/)
    .every((part) => {
      const [, sign, bound = ""] = /^(>=|<)(.+)$/.exec(part) ?? [];
      return sign === ">=" ? value >= numberOf(bound) : sign === "<" && value < numberOf(bound);
    });
}

/** A version as one number, to compare. */
function numberOf(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return (major * 1000 + minor) * 1000 + patch;
}

function checkTypeScript(root: string): Check {
  const version = installedVersion(root, "typescript");
  const install = "npm install --save-dev typescript@~5.9.3";
  if (version === undefined) return bad("typescript", "not installed here", install);
  const supported = numberOf(version) >= numberOf("5.9.0") && numberOf(version) < numberOf("8.0.0");
  return supported ? good("typescript", version) : bad("typescript", `${version}; 5.9, 6 and 7 are supported`, install);
}

async function checkTsconfig({ root, tsconfig }: GenerateOptions): Promise<Check[]> {
  // The compiler is loaded for this.
  const { readProject } = await import("../compile/project/program.js");
  const { layoutOf } = await import("../compile/project/layout.js");
  const { ts } = await import("../compile/project/typescript.js");
  const layout = layoutOf({ root, ...(tsconfig !== undefined && { tsconfig }) });
  const project = readProject(layout);
  if ("diagnostics" in project) {
    const [{ code, message, hint } = { code: "SVC101", message: "cannot be read", hint: undefined }] =
      project.diagnostics;
    return [bad("tsconfig", `${code}: ${message}`, hint ?? `svc-gen explain ${code}`)];
  }
  const { module, strict } = project.options;
  if (strict !== true) {
    return [bad("tsconfig", "strict is off", 'set "strict": true, so that tsc sees what svc-gen relies on')];
  }
  if (module === undefined || module < ts.ModuleKind.ES2015) {
    const next = 'set "module": "NodeNext": the generated code and svc-runtime are ES modules';
    return [bad("tsconfig", `module is ${module === undefined ? "not set" : ts.ModuleKind[module]}`, next)];
  }
  const { checkBuild } = await import("./build-checks.js");
  return [good("tsconfig", `strict, module ${ts.ModuleKind[module]}`), ...checkBuild(project)];
}

/** A manifest that is not JSON; npm and Node refuse it too. */
function checkManifest(root: string): Check[] {
  const path = join(root, "package.json");
  if (!existsSync(path)) return [];
  try {
    // npm and Node pass over a byte order mark.
    JSON.parse(
      readRegular(path)
        .toString()
        .replace(/^\ufeff/, ""),
    );
    return [];
  } catch (error) {
    const [at = ""] = /at position \d+/.exec(String(error)) ?? [];
    return [bad("package.json", `it is not JSON ${at}`.trimEnd(), "correct it: npm and Node read it too")];
  }
}

function checkVersions(root: string): Check {
  const runtime = installedVersion(root, "svc-runtime");
  if (runtime === VERSION) return good("versions", `svc-gen and svc-runtime ${VERSION}`);
  const next = `npm install svc-runtime@${VERSION}`;
  if (runtime === undefined) return bad("versions", `svc-gen is ${VERSION}, svc-runtime is not installed here`, next);
  return bad("versions", `svc-gen is ${VERSION}, svc-runtime is ${runtime}: they have to be the same`, next);
}

async function checkGenerated({ stale }: ProjectQuestions): Promise<Check> {
  const files = await stale();
  const row = "(troubleshooting: run svc-gen again)";
  if (files === undefined)
    return bad("generated files", "the project has errors", "svc-gen shows them with their places");
  if (files.length === 0) return good("generated files", "current");
  return bad("generated files", `${files.join(", ")} not current`, `run svc-gen and commit what it writes ${row}`);
}

function checkConfiguration(file: string | undefined, checked: CheckedConfig | undefined): Check {
  if (file === "") {
    return bad("configuration", `${ENV_TOOLKIT_CONFIG_PATH} is set but empty`, "unset it, or name the file");
  }
  if (file === undefined || checked === undefined) {
    const next = `svc-gen config init writes one; ${ENV_TOOLKIT_CONFIG_PATH} or --config names it`;
    return skipped("configuration", "none is named: calls need no signature", next);
  }
  const errors = checked.findings.filter(({ severity }) => severity === "error");
  const [first] = errors.length > 0 ? errors : checked.findings;
  const more = (errors.length || checked.findings.length) - 1;
  if (first === undefined) {
    const isSigned = checked.config?.signedHttpIsRequired();
    return good(
      "configuration",
      isSigned ? "valid, signatures are required" : "valid, signatures are disabled by name",
    );
  }
  const next = `svc-gen config check ${/^[\w./@-]+$/.test(file) ? file : quoted(file)} shows all${ROWS.find(([text]) => first.message.includes(text))?.[1] ?? ""}`;
  return bad("configuration", `${first.message}${more > 0 ? ` (and ${more} more)` : ""}`, next);
}

/** Rows of docs/troubleshooting.md about configurations. */
const ROWS = ["must be JSON: …", "must not be writable by everybody", "has no entry"].map(
  (row) => [row.replace(" …", ""), ` (troubleshooting: ${row})`] as const,
);

function checkKeys(files: readonly string[], cwd: string, checked: CheckedConfig | undefined): Check {
  const next = (file: string) => `chmod 600 ${/^[\w./@-]+$/.test(file) ? file : quoted(file)}`;
  const readings = files.map((file) => ({ file, reading: readOperatorFile(resolve(cwd, file)) }));
  for (const { file, reading } of readings) {
    if ("fault" in reading) return bad("keys", `${quoted(file)} ${reading.fault}`, "give the file of a private key");
    if (isWorldReadable(reading.stats)) {
      return bad("keys", `everybody on this machine can read ${quoted(file)}, which holds a private key`, next(file));
    }
  }
  // The rights of the configuration are a finding of its own.
  if (files.length > 0) return good("keys", "only their owner's group can read them");
  const holds = checked?.config !== undefined && checked.tools.some((id) => checked.config?.toolConfig(id)?.signingKey);
  return holds ? good("keys", "in the configuration") : skipped("keys", "none are named");
}

/** Given keys against the configuration. */
function checkPairs({ leader, toolKey, tools }: ProjectQuestions, checked: CheckedConfig | undefined): Check[] {
  const config = checked?.config;
  if (config === undefined || !config.signedHttpIsRequired()) return [];
  const checks: Check[] = [];
  if (leader !== undefined) {
    const own = leader.key.publicKey;
    const listed = config.leaders.lookup(leader.id, leader.keyId);
    const name = `leader ${quoted(leader.id)} with key ${leader.keyId}`;
    if (listed === undefined) {
      checks.push(
        bad(
          "leader key",
          `${name} is not in the allow-list`,
          "add its public key to the allow-list (troubleshooting: auth_failed)",
        ),
      );
    } else if (Buffer.compare(listed.bytes, own) !== 0) {
      checks.push(
        bad(
          "leader key",
          `${name} is listed with another public key`,
          `list ${hex(own)} (troubleshooting: auth_failed)`,
        ),
      );
    } else checks.push(good("leader key", `${name} is listed`));
  }
  if (toolKey !== undefined) {
    const keys = (tools ?? checked?.tools ?? []).flatMap((id) => config.toolConfig(id)?.signingKey?.publicKey ?? []);
    const isThere = keys.some((key) => hex(key) === toolKey.replace(/^0x/, "").toLowerCase());
    if (isThere) checks.push(good("tool key", "the configuration has its private key"));
    else if (keys.length === 0) {
      const next = "add response_signing_key (troubleshooting: results are not signed)";
      checks.push(bad("tool key", "no tool has a response_signing_key", next));
    } else
      checks.push(
        bad(
          "tool key",
          "results are signed with another key",
          `leaders have to verify with ${keys.map(hex).join(" or ")}`,
        ),
      );
  }
  return checks;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

function checkEnvironment(env: ProjectQuestions["env"]): Check {
  const faults: [detail: string, next: string][] = [];
  for (const { name, nearest } of strayVariables(env)) {
    const next =
      nearest === undefined ? "unset it; docs/guide/settings.md lists the settings" : `did you mean ${nearest}?`;
    faults.push([`${quoted(name)} is read by nothing`, next]);
  }
  for (const name of [ENV_BIND_ADDR, ENV_ADMIN_ADDR]) {
    const text = env[name];
    if (text === undefined || isAddress(text)) continue;
    const row = "(troubleshooting: expected an IP literal and a port)";
    faults.push([`${name} is no IP literal and port`, `write one such as 0.0.0.0:8080 or [::]:8080 ${row}`]);
  }
  const level = env[ENV_LOG_LEVEL];
  if (level !== undefined && !LEVELS.includes(level)) {
    faults.push([`${ENV_LOG_LEVEL} is no level`, `write one of ${LEVELS.join(", ")}`]);
  }
  const [certificate, key] = [env[ENV_TLS_CERT_PATH], env[ENV_TLS_KEY_PATH]];
  if (
    ((certificate || undefined) === undefined) !== ((key || undefined) === undefined) ||
    certificate === "" ||
    key === ""
  ) {
    faults.push([`only one of ${ENV_TLS_CERT_PATH} and ${ENV_TLS_KEY_PATH} is set`, "set both, or none"]);
  }
  const [first] = faults;
  if (first === undefined) return good("environment", "no variable is misspelt");
  const more =
    faults.length > 1
      ? `; ${faults
          .slice(1)
          .map(([detail]) => detail)
          .join("; ")}`
      : "";
  return bad("environment", `${first[0]}${more}`, faults.map(([, next]) => next).join("; "));
}

/** An IP literal and a port, as the server reads it. */
function isAddress(text: string): boolean {
  const { six, four, port } = /^(?:\[(?<six>[^\]]*)\]|(?<four>[\d.]+)):(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  return (six === undefined ? isIP(four ?? "") === 4 : isIP(six) === 6) && Number(port) <= 65_535;
}

/** Whether a server would find libsodium. It is looked for and not loaded: it is code of the project. */
function checkLibsodium(root: string): Check {
  const runtime = manifestOf(root, "svc-runtime");
  const platform = `${process.platform}-${process.arch}`;
  const built = existsSync(
    join(folderOf("sodium-native", runtime ?? join(root, "package.json")), "prebuilds", platform),
  );
  const { glibcVersionRuntime } = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header;
  const hasLibrary = process.platform !== "linux" || glibcVersionRuntime !== undefined;
  if (built && hasLibrary) return good("libsodium", `sodium-native is installed, built for ${platform}`);
  const next =
    "npm install sodium-native, where it is prebuilt: glibc, macOS, Windows (troubleshooting: a signed call costs more than it should)";
  return skipped("libsodium", "not here: signatures take twice as long", next);
}

/** The folder of a package as Node finds it from a file, in NODE_PATH too; empty without one. */
function folderOf(name: string, from: string): string {
  try {
    return dirname(createRequire(realpathSync(from)).resolve(`${name}/package.json`));
  } catch {
    return "";
  }
}

/** The version of a package in the nearest `node_modules`; undefined without one. */
function installedVersion(root: string, name: string): string | undefined {
  const path = manifestOf(root, name);
  return path === undefined ? undefined : readManifest(path)?.version;
}

function manifestOf(root: string, name: string): string | undefined {
  for (let folder = root; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name, "package.json");
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) return undefined;
  }
}

function readManifest(path: string): { readonly version?: string; readonly type?: string } | undefined {
  try {
    return JSON.parse(readRegular(path).toString());
  } catch {
    return undefined;
  }
}
