/** Checks a configuration: errors that a server would report at start, and differences from the project's tools. */

import { type ConfigCheck, type ConfigError, checkConfigFile } from "svc-runtime/internal/config";
import { closest, parseFqn } from "svc-runtime/internal/generator";

/** A fault or a questionable setting. Contains no values of the file, because any of them may be a misplaced key. */
export interface Finding {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly pointer?: string | undefined;
}

export interface CheckedConfig extends Pick<ConfigCheck, "config"> {
  readonly findings: readonly Finding[];
  /** Names of the tools that have an entry. */
  readonly tools: readonly string[];
}

/**
 * Checks a configuration. Never throws.
 *
 * @param served the tools of the project; undefined if unknown
 */
export function checkConfig(file: string, cwd: string, served?: readonly string[]): CheckedConfig {
  const { faults, warnings, tools, section, config } = checkConfigFile(file, cwd);
  const findings = [
    ...faults.toSorted(byPlace).map((fault) => finding("error", fault)),
    ...warnings.map(
      (text): Finding => ({ severity: "warning", message: `configuration ${JSON.stringify(file)}: ${text}`, file }),
    ),
  ];
  const names = tools.map(({ id }) => id);
  if (served !== undefined) {
    const missing = served.filter((fqn) => !names.includes(fqn));
    const foreign = tools.filter(({ id }) => !served.includes(id));
    // Shows only valid tool names; any other text may be a key.
    const shown = foreign.map(({ id }) => id).filter((id) => parseFqn(id) !== undefined);
    if (section !== undefined && config?.signedHttpIsRequired() !== false) {
      for (const fqn of missing) {
        const [near] = closest(fqn, shown);
        const remedy =
          near === undefined
            ? "add one; it may be an empty object"
            : `add one, or rename the entry ${near} if it is meant`;
        findings.push(finding("error", section.fault(`an object with an entry for ${fqn}`, "none", remedy)));
      }
    }
    for (const { id, node } of foreign) {
      const [near] = closest(id, missing);
      const remedy =
        near === undefined ? "remove it, unless another server uses this file too" : `did you mean ${near}?`;
      findings.push(finding("warning", node.fault("the entry of a tool of this project", "another name", remedy)));
    }
  }
  return { findings, config, tools: names };
}

/** Sorts by file (the configuration first), then by position. */
function byPlace(a: ConfigError, b: ConfigError): number {
  if (a.title !== b.title) return a.title === "configuration" ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

export function finding(severity: Finding["severity"], { message, file, line, column, pointer }: ConfigError): Finding {
  return { severity, message, file, line, column, pointer };
}
