/** Names in a new project: folder, package, tool, class. Each is derived from the previous one. */

import { fqnProblem, parseFqn } from "svc-runtime/internal/generator";
import { UsageError } from "../cli/command-errors.js";
import { quoted, shellWord } from "../compile/diagnostics/quote.js";
import { className } from "../text/class-names.js";

const PACKAGE = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const MAX_PACKAGE_NAME = 214;
/** Names that npm rejects: a package cannot depend on another one with its own name; the last two are not allowed. */
const TAKEN_PACKAGES = [
  "svc-gen",
  "svc-client",
  "svc-runtime",
  "typescript",
  "@types/node",
  "node_modules",
  "favicon.ico",
];

/**
 * Package name for a folder: the name of the folder, with every character that npm rejects replaced.
 *
 * @param given folder as the user typed it
 */
export function packageNameFor(folder: string, given = folder): string {
  const name = folder
    .normalize("NFKD")
    // Removes accents only.
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9._~-]+/g, "-")
    .replace(/^[._-]+|[._-]+$/g, "")
    .slice(0, MAX_PACKAGE_NAME);
  if (name === "") {
    throw new UsageError(
      `no name for the package can be derived from the folder, whose name has no letter from a to z and no digit; choose a name: svc-gen new ${shellWord(given)} --name my-tool`,
    );
  }
  return checkPackageName(name);
}

/** @throws UsageError with the reason why npm rejects the name */
export function checkPackageName(name: string): string {
  const problem = packageProblem(name);
  if (problem === undefined) return name;
  throw new UsageError(`${quoted(name)} is not a valid name of a package: ${problem}; choose another: --name NAME`);
}

function packageProblem(name: string): string | undefined {
  if (name.length > MAX_PACKAGE_NAME)
    return `it has ${name.length} characters; at most ${MAX_PACKAGE_NAME} are allowed`;
  if (TAKEN_PACKAGES.includes(name)) return "the project already depends on a package of this name";
  return PACKAGE.test(name)
    ? undefined
    : "expected NAME or @SCOPE/NAME of a to z, 0 to 9 and - . _ ~, without . or _ at the beginning";
}

/** FQN that is proposed for a package. */
export function fqnFor(packageName: string): string {
  const word = packageName
    .replace(/^.*\//, "")
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z]+/, "");
  return `xyz.demo.${word.length < 2 ? "my-tool" : word}@1`;
}

export interface ToolNames {
  /** In its shortest form. */
  readonly fqn: string;
  readonly className: string;
  /** File of the class without extension; also the path at which the tool is served. */
  readonly file: string;
}

/**
 * @param option command-line option with the name
 * @param complete completes a shorter name to an FQN
 * @throws UsageError that tells which part is invalid
 */
export function toolNames(
  given: string,
  option: "--fqn" | "--tool" = "--fqn",
  complete = (name: string) => name,
): ToolNames {
  const text = complete(given);
  const fqn = parseFqn(text);
  if (fqn === undefined) {
    const message = `${quoted(text)} is not a name of a tool (domain.name@version): ${fqnProblem(text)}`;
    const lower = given
      .replace(/(?<=[a-z0-9])(?=[A-Z])/g, "-")
      .toLowerCase()
      .replace(/[^a-z0-9.@_-]+/g, "-");
    const next =
      parseFqn(complete(lower)) === undefined
        ? `such as ${option} xyz.demo.my-tool@1`
        : `did you mean ${option} ${lower}?`;
    throw new UsageError(`${message}; ${next}`);
  }
  const file = fqn.name.split(".").at(-1) as string;
  return { fqn: fqn.text, className: className(file), file };
}
