/** The `.env` of a project, for the server under development. */

import { join } from "node:path";
import { parseEnv } from "node:util";
import { readRegular } from "../files/read-file.js";

export const ENV_FILE = ".env";

/**
 * Reads the variables as Node's `--env-file` does; none without the file.
 *
 * @throws UnreadableFile; the error of the system
 */
export function readEnvFile(root: string): Readonly<Record<string, string>> {
  try {
    return parseEnv(
      readRegular(join(root, ENV_FILE))
        .toString()
        .replace(/^\ufeff/, ""),
    ) as Record<string, string>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
