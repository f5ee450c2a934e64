/** Checks an operator's files with the code that a server runs at start-up, but reports all faults instead of the first. */

import { resolve } from "node:path";
import { readLeadersFile } from "./allowed-leaders.js";
import {
  checkDocument,
  configFileWarning,
  configWarnings,
  type ToolEntry,
  type ToolkitRuntimeConfig,
} from "./config.js";
import type { LeaderResolver } from "./leader-resolver.js";
import { readOperatorFile } from "./operator-file.js";
import { ConfigError, type DocumentNode, type DocumentSource, Faults } from "./strict-json.js";

/** Maximum faults of one check. Locating each one scans the text again. */
const MAX_FAULTS = 50;

/** Result of checking a configuration. */
export interface ConfigCheck {
  /** At most 50, in the order of discovery. */
  readonly faults: readonly ConfigError[];
  /** Warnings that a server would log for this configuration. */
  readonly warnings: readonly string[];
  /** The readable entries of `tools`. */
  readonly tools: readonly ToolEntry[];
  /** The section `signed_http`, which contains `tools`; undefined when it is missing. */
  readonly section: DocumentNode | undefined;
  /** Undefined when there is a fault. */
  readonly config: ToolkitRuntimeConfig | undefined;
}

/**
 * Checks a configuration and the allow-list that it names. Never throws.
 *
 * @param file relative to `cwd`, as shown in messages
 * @param cwd the working directory of the server; the path of the allow-list is relative to it too
 */
export function checkConfigFile(file: string, cwd: string): ConfigCheck {
  const faults = new Faults(MAX_FAULTS);
  const source: DocumentSource = { title: "configuration", file };
  let tools: readonly ToolEntry[] = [];
  let section: DocumentNode | undefined;
  const opened = readOperatorFile(resolve(cwd, file));
  if ("fault" in opened) {
    return { faults: [new ConfigError(opened.fault, source)], warnings: [], tools, section, config: undefined };
  }
  const openList = (list: string): LeaderResolver => readLeadersFile(list, cwd, faults);
  const onTools = (entries: readonly ToolEntry[], node: DocumentNode) => {
    tools = entries;
    section = node;
  };
  const config = checkDocument(opened.bytes, source, { faults, openList, onTools });
  const rights = config && configFileWarning(config, opened.stats);
  const warnings = config === undefined ? [] : configWarnings(config);
  return {
    faults: faults.found,
    warnings: rights === undefined ? warnings : [...warnings, rights],
    tools,
    section,
    config,
  };
}

/** Checks an allow-list file without a configuration. Never throws. */
export function checkAllowListFile(file: string, cwd: string): readonly ConfigError[] {
  const faults = new Faults(MAX_FAULTS);
  try {
    readLeadersFile(file, cwd, faults);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.collect(error);
  }
  return faults.found;
}
