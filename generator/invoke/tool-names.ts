import { closest } from "svc-runtime/internal/generator";
import { unknownName } from "../cli/arguments.js";
import { UsageError } from "../cli/command.js";
import { quoted } from "../compile/diagnostics/quote.js";

export interface NamedTool {
  readonly fqn: string;
  /** Path of the endpoints, without leading and trailing slashes. */
  readonly path: string;
}

/**
 * Finds the tool with this name, or the only tool.
 *
 * @param command command, for the error
 * @param name an FQN with or without version, the last part of its name, or a path
 * @param otherwise end of the error message if there are no tools
 * @throws UsageError
 */
export function toolNamed<Tool extends NamedTool>(
  command: string,
  name: string | undefined,
  tools: readonly Tool[],
  otherwise = "the project has no tools",
): Tool {
  const fqns = tools.map(({ fqn }) => fqn);
  if (name === undefined) {
    const [only, ...more] = tools;
    if (only !== undefined && more.length === 0) return only;
    throw new UsageError(`${command} expects a tool: ${fqns.join(", ") || otherwise}`);
  }
  const named = tools.filter((each) => namesOf(each).includes(name));
  const tool = named.find(({ fqn }) => fqn === name) ?? named[0];
  if (tool === undefined) throw unknownName("tool", name, fqns, nearest(name, tools));
  if (tool.fqn !== name && named.length > 1) {
    throw new UsageError(`${quoted(name)} names several tools; choose one: ${named.map(({ fqn }) => fqn).join(", ")}`);
  }
  return tool;
}

/**
 * Names that a tool may have on the command line: `shop.orders.quote@1`, `shop.orders.quote`, `quote`, `orders/quote`.
 */
function namesOf({ fqn, path }: NamedTool): string[] {
  const name = fqn.replace(/@.*$/, "");
  return [fqn, name, name.split(".").at(-1) ?? name, path, `/${path}`];
}

function nearest(name: string, tools: readonly NamedTool[]): string[] | undefined {
  const near = closest(name, tools.flatMap(namesOf), 3);
  return near.length > 0 ? [near[0] as string] : undefined;
}
