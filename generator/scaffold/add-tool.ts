import { join } from "node:path";
import { CommandError } from "../cli/command-errors.js";
import { writeNewFiles } from "../files/new-files.js";
import { type ToolNames, toolNames } from "./names.js";
import { toolFiles } from "./project-files.js";
import { assertNew } from "./project-folder.js";

/**
 * Adds the class and the test of a tool to a project.
 *
 * @param name FQN of the tool, or the last part of it, which is completed like the FQNs of the other tools
 * @param taken FQNs of the project's tools
 * @throws CommandError if the tool or one of its files exists; UsageError for an invalid name
 */
export function addTool(
  root: string,
  name: string,
  taken: readonly string[],
): { readonly tool: ToolNames; readonly paths: readonly string[] } {
  const domain = /^(.+)\.[^.]+@/.exec(taken[0] ?? "")?.[1] ?? "xyz.demo";
  const tool = toolNames(name, "--tool", (short) => (/[.@]/.test(short) ? short : `${domain}.${short}@1`));
  if (taken.includes(tool.fqn))
    throw new CommandError(`the project already has ${tool.fqn}`, "choose another name, or a new version");
  const files = toolFiles(tool);
  const paths = files.map(({ path }) => path);
  assertNew(root, ".", paths);
  writeNewFiles(
    root,
    files.map(({ path, text }) => ({ target: join(root, path), content: text })),
  );
  return { tool, paths };
}
