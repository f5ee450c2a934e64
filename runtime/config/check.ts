/** Checks an operator's files like a server at start-up, but reports all errors instead of only the first. */

import { readLeadersFile } from "./allowed-leaders.js";
import {
  checkDocument,
  configFileWarning,
  configWarnings,
  ENV_TOOLKIT_CONFIG_PATH,
  type ToolEntry,
  type ToolkitRuntimeConfig,
} from "./config.js";
import type { LeaderResolver } from "./leader-resolver.js";
import { readOperatorFile } from "./operator-file.js";
import { ConfigError, type DocumentNode, type DocumentSource, Faults } from "./strict-json.js";

/** Maximum number of errors in one check. Locating each one scans the text again. */
const MAX_FAULTS = 50;

export interface ConfigCheck {
  /** At most 50, in the order in which they were found. */
  readonly faults: readonly ConfigError[];
  /** Warnings that a server would log for this configuration. */
  readonly warnings: readonly string[];
  /** Readable entries of `tools`. */
  readonly tools: readonly ToolEntry[];
  /** Section `signed_http`, which contains `tools`; undefined if it is missing. */
  readonly section: DocumentNode | undefined;
  /** Undefined if there is an error. */
  readonly config: ToolkitRuntimeConfig | undefined;
}

/**
 * Checks a configuration and its allow-list. Never throws.
 *
 * @param file relative to `cwd`, as shown in messages
 * @param cwd working directory of the server, to which the path of the allow-list is relative too
 */
export function checkConfigFile(file: string, cwd: string): ConfigCheck {
  const faults = new Faults(MAX_FAULTS);
  const source: DocumentSource = { title: "configuration", file, setting: ENV_TOOLKIT_CONFIG_PATH };
  let tools: readonly ToolEntry[] = [];
  let section: DocumentNode | undefined;
  const opened = readOperatorFile(file, cwd);
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
