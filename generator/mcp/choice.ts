/** Options that choose and describe the tools of a bridge: `--tools`, `--except` and `--hint`. */

import { didYouMean, type ToolHints } from "svc-runtime/internal/generator";
import { UsageError } from "../cli/command.js";
import { escapeRegex } from "../text/escape-regex.js";
import { contradicts, HINT_NAMES, hintValue } from "../tools/hints.js";

/** Size of the list above which the start warns, in bytes: about 10,000 tokens. */
const LARGE_BYTES = 40_000;
const LARGE =
  "the list of tools is large, and a client passes it to the model with each question: choose with --tools or --except";
/** Bytes of JSON for one token of a model, roughly. */
const BYTES_PER_TOKEN = 4;

/** Patterns of names, in which `*` matches any characters. */
export class NamePatterns {
  readonly #patterns: ReadonlyMap<string, RegExp>;

  constructor(
    readonly option: string,
    text: string,
  ) {
    const source = (pattern: string) => pattern.split("*").map(escapeRegex).join(".*");
    this.#patterns = new Map(text.split(",").map((each) => [each, new RegExp(`^${source(each)}$`)]));
  }

  matches(fqn: string): boolean {
    return [...this.#patterns.values()].some((pattern) => pattern.test(fqn));
  }

  /** @throws UsageError for a pattern that matches none of the names */
  check(names: ReadonlySet<string>): void {
    const all = [...names];
    const unused = [...this.#patterns].find(([, pattern]) => !all.some((fqn) => pattern.test(fqn)));
    if (unused === undefined) return;
    throw new UsageError(`--${this.option} ${unused[0]} matches no tool; the tools are ${all.join(", ")}`);
  }
}

/**
 * Parses `FQN=readOnly,destructive=false`. Hints of several options for one tool are combined.
 *
 * @throws UsageError
 */
export function readHintOptions(given: readonly string[]): ReadonlyMap<string, ToolHints> {
  const tools = new Map<string, ToolHints>();
  for (const each of given) {
    const [fqn = "", list = ""] = each.split(/=(.*)/s);
    const hints = Object.fromEntries(
      list.split(",").map((text) => {
        const [name = "", value = ""] = text.split(/=(.*)/s);
        const known = HINT_NAMES.find((hint) => hint === name);
        const flag = hintValue(value);
        if (known !== undefined && flag !== undefined) return [known, flag];
        const meant = didYouMean(name, HINT_NAMES);
        throw new UsageError(`--hint expects FQN=HINT, with one of ${HINT_NAMES.join(", ")}, or HINT=false${meant}`);
      }),
    );
    const all = { ...tools.get(fqn), ...hints };
    if (contradicts(all)) throw new UsageError(`--hint ${fqn}: a tool that only reads destroys nothing`);
    tools.set(fqn, all);
  }
  return tools;
}

/** The line at the start of a bridge, and a warning if the list of tools is large. */
export function sizeNotes(tools: readonly object[]): string[] {
  const bytes = Buffer.byteLength(JSON.stringify(tools));
  const tokens = Math.round(bytes / BYTES_PER_TOKEN);
  const number = (value: number) => value.toLocaleString("en");
  const size = `tools: ${tools.length}; their list has ${number(bytes)} bytes, about ${number(tokens)} tokens of a model`;
  return bytes > LARGE_BYTES ? [size, LARGE] : [size];
}
