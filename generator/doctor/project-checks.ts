/** Checks of a tool project and of its server's environment, without network access. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ENV_TOOLKIT_CONFIG_PATH, hiddenPath } from "svc-runtime/internal/config";
import { errorsIn } from "../compile/diagnostics/diagnostics.js";
import { escapeControls, shellWord } from "../compile/diagnostics/quote.js";
import type { GenerateOptions } from "../compile/project/layout.js";
import { type CheckedConfig, checkConfig } from "../config/check-config.js";
import { ENV_FILE, readEnvFile } from "../files/env-file.js";
import { bad, type Check, good, skipped } from "./check.js";
import { checkKeys, checkPairs, type GivenKeys } from "./key-checks.js";

export interface ProjectQuestions extends GivenKeys {
  readonly project: GenerateOptions;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Path of the configuration; by default from the environment. */
  readonly config: string | undefined;
  /** Path of the private key of a leader. */
  readonly keyFile: string | undefined;
  /** Environment variables of the tools; undefined if the project has errors. */
  readonly variables: () => Promise<readonly (readonly [name: string, description: string])[] | undefined>;
  /** Generated files that are out of date; undefined if the project has errors. */
  readonly stale: () => Promise<readonly string[] | undefined>;
}

export async function checkProject(questions: ProjectQuestions): Promise<Check[]> {
  const { project, cwd, env, tools, keyFile } = questions;
  const file = questions.config ?? env[ENV_TOOLKIT_CONFIG_PATH];
  const checked = file === undefined || file === "" ? undefined : checkConfig(file, cwd, tools);
  return [
    await checkGenerated(questions),
    checkConfiguration(file, checked, cwd),
    checkKeys(keyFile, cwd, checked),
    ...checkPairs(questions, checked),
    ...checkEnvFile(project.root, env),
    ...(await checkVariables(questions)),
  ];
}

/** Checks the variables that the tools declare. Does not print their values. */
async function checkVariables({ variables, env }: ProjectQuestions): Promise<Check[]> {
  const declared = (await variables()) ?? [];
  return declared.map(([name, about]) => {
    const variable = name.replace(/\?$/, "");
    if (env[variable]) return good(variable, `set: ${about}`);
    if (name.endsWith("?")) return skipped(variable, `optional, not set: ${about}`);
    return bad(
      variable,
      `not set: ${about}`,
      "set the variable where the server runs; svc-gen env lists all variables",
    );
  });
}

async function checkGenerated({ stale }: ProjectQuestions): Promise<Check> {
  const files = await stale();
  const row = "(see docs/troubleshooting.md: run svc-gen again)";
  if (files === undefined) return bad("generated files", "the project has errors", "run svc-gen to see them");
  if (files.length === 0) return good("generated files", "up to date");
  return bad("generated files", `out of date: ${files.join(", ")}`, `run svc-gen and commit the files ${row}`);
}

export function checkConfiguration(file: string | undefined, checked: CheckedConfig | undefined, cwd: string): Check {
  if (file === "") {
    return bad("configuration", `${ENV_TOOLKIT_CONFIG_PATH} is set, but empty`, "unset it, or set it to a path");
  }
  if (file === undefined || checked === undefined) {
    const use = `set ${ENV_TOOLKIT_CONFIG_PATH} or pass --config`;
    return existsSync(join(cwd, "config.json"))
      ? skipped("configuration", "config.json is not in use: calls need no signature", `to use config.json, ${use}`)
      : skipped(
          "configuration",
          "no configuration: calls need no signature",
          `create one with svc-gen config init, then ${use}`,
        );
  }
  const errors = errorsIn(checked.findings);
  const [first] = errors.length > 0 ? errors : checked.findings;
  const more = (errors.length || checked.findings.length) - 1;
  if (first === undefined) {
    const isSigned = checked.config?.signedHttpIsRequired();
    return good(
      "configuration",
      isSigned ? "valid, signatures are required" : "valid, signatures are explicitly disabled",
    );
  }
  if (hiddenPath(file) !== undefined) return bad("configuration", first.message, `correct ${ENV_TOOLKIT_CONFIG_PATH}`);
  const row = ROWS.find(([text]) => first.message.includes(text))?.[1] ?? "";
  const next = `svc-gen config check ${shellWord(file)} shows all${row}`;
  return bad("configuration", `${first.message}${more > 0 ? ` (and ${more} more)` : ""}`, next);
}

/** Words in messages about configurations, with a reference to their row in docs/troubleshooting.md. */
const ROWS = ["must be JSON: …", "must not be writable by every user of this machine", "has no entry"].map(
  (row) => [row.replace(" …", ""), ` (see docs/troubleshooting.md: ${row})`] as const,
);

/** Names the variables of `.env` that only `svc-gen dev` reads. */
function checkEnvFile(root: string, env: ProjectQuestions["env"]): Check[] {
  try {
    const missing = Object.keys(readEnvFile(root)).filter((name) => env[name] === undefined);
    if (missing.length === 0) return [];
    const detail = `only svc-gen dev reads it; not set here: ${missing.slice(0, 5).map(escapeControls).join(", ")}`;
    return [skipped(ENV_FILE, detail, `start the built server with node --env-file=${ENV_FILE}`)];
  } catch (error) {
    return [bad(ENV_FILE, (error as Error).message, "correct the file")];
  }
}
