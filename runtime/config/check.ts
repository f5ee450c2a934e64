/** Checks an operator's files as a server does when it starts, but finds all faults. */

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

/** Limit of the faults of one check: each is located in the text anew. */
const MAX_FAULTS = 50;

/** What a check of a configuration has found. */
export interface ConfigCheck {
  /** In the order in which they were found; at most 50. */
  readonly faults: readonly ConfigError[];
  /** What a server logs of a valid configuration. */
  readonly warnings: readonly string[];
  /** The entries of `tools`, as far as they can be read. */
  readonly tools: readonly ToolEntry[];
  /** Where entries of tools belong; undefined without a section `signed_http`. */
  readonly section: DocumentNode | undefined;
  /** Undefined when there is a fault. */
  readonly config: ToolkitRuntimeConfig | undefined;
}

/**
 * Checks a configuration and the allow-list that it names. Never throws.
 *
 * @param file as it is shown in messages, relative to `cwd`
 * @param cwd the working directory of the server, to which the path of the allow-list is relative too
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

/** Checks an allow-list by itself, as {@link checkConfigFile} does. */
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
