/** `svc-gen config check`: reports all errors that a server would find in a configuration. */

import { checkAllowListFile } from "svc-runtime/internal/config";
import {
  asJson,
  type CommandContext,
  defineCommand,
  EXIT,
  JSON_OPTION,
  type Options,
  PROJECT_OPTIONS,
  plural,
} from "../../cli/command.js";
import { errorsIn } from "../../compile/diagnostics/diagnostics.js";
import { checkConfig, finding } from "../../config/check-config.js";
import { generateOptions } from "../options/project-options.js";
import { projectFqns } from "../options/project-tools.js";

const VARIABLE = "SVC_TOOLKIT_CONFIG_PATH";
const CONFIGURATION = "a server would not start; svc-gen config init FILE writes a valid configuration";
const ALLOW_LIST = "a server would not start with this allow-list; svc-gen keys new FILE prints the entry of a leader";

export const command = defineCommand({
  details: `FILE defaults to the path in ${VARIABLE}, or config.json. The allow-list that it refers to is checked too; a relative path
is resolved from the current folder, as a server does. If the project has a meta.json, the tools in both files are compared.
Keys are never printed. With --json: {"diagnostics":[{"severity","code":"config","message","file","line","column","pointer"}]}.`,
  options: {
    "allow-list": { type: "boolean", summary: "FILE is an allow-list" },
    project: PROJECT_OPTIONS.project,
    json: JSON_OPTION,
  },
  examples: [
    ["svc-gen config check config.json", "before you deploy it; exit 1 on errors"],
    ["svc-gen config check --allow-list leaders.json", "only the allow-list"],
  ],
  run: (call) => {
    const [file = call.env[VARIABLE] || "config.json"] = call.args;
    if (call.values["allow-list"]) {
      const faults = checkAllowListFile(file, call.cwd).map((fault) => finding("error", fault));
      return report(call, faults, "a valid allow-list", ALLOW_LIST);
    }
    const served = projectFqns(generateOptions(call).root);
    const { findings, config, tools } = checkConfig(file, call.cwd, served);
    const mode = config?.signedHttpIsRequired()
      ? `signatures are required, ${plural(tools.length, "tool")}`
      : "signatures are not required: any program that can reach the server may call the tools";
    return report(call, findings, `valid; ${mode}`, CONFIGURATION);
  },
});

function report(
  { json, print, complain }: CommandContext<Options>,
  findings: readonly { readonly severity: string; readonly message: string }[],
  good: string,
  advice: string,
): number {
  const errors = errorsIn(findings).length;
  if (json) {
    print(
      asJson({ diagnostics: findings.map(({ severity, ...others }) => ({ severity, code: "config", ...others })) }),
    );
  } else {
    for (const { severity, message } of findings) complain(`${severity}: ${message}\n`);
    if (errors > 0) complain(`svc-gen: ${plural(errors, "error")}; ${advice}\n`);
    else print(`${good}\n`);
  }
  return errors > 0 ? EXIT.failure : EXIT.done;
}
