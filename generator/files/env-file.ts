import { join } from "node:path";
import { parseEnv } from "node:util";
import { readRegular, UnreadableFile } from "./read-file.js";

export const ENV_FILE = ".env";

/**
 * Adds the variables of a project's `.env` to an environment, whose own variables take precedence.
 *
 * @throws as {@link readEnvFile}
 */
export function withEnvFile(root: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...readEnvFile(root), ...env };
}

/**
 * Reads the variables like Node's `--env-file`; none if there is no file.
 *
 * @throws UnreadableFile; system errors
 */
export function readEnvFile(root: string): Readonly<Record<string, string>> {
  try {
    const text = readRegular(join(root, ENV_FILE))
      .toString()
      .replace(/^\ufeff/, "");
    const fault = firstFault(text);
    if (fault !== undefined) throw new UnreadableFile(`${ENV_FILE}:${fault}: expected NAME=value or a comment (#)`);
    return parseEnv(text) as Record<string, string>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

/** Number of the first line without `=`, which `parseEnv` drops together with the next line. */
function firstFault(text: string): number | undefined {
  const entry = /[^\S\n]*(?:#[^\n]*|[^=\n]*=[^\S\n]*(?:"[^"]*"|'[^']*'|`[^`]*`)?[^\n]*)?(?:\n|$)/y;
  while (entry.lastIndex < text.length) {
    const start = entry.lastIndex;
    if (!entry.test(text)) return text.slice(0, start).split("\n").length;
  }
  return undefined;
}
