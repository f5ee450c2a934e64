import { spawnSync } from "node:child_process";
import { delimiter, dirname, isAbsolute, sep } from "node:path";
import { escapeControls } from "../compile/diagnostics/quote.js";
import { isWithin } from "../files/atomic-write.js";
import { MAX_FILE_BYTES } from "../files/read-file.js";

/** Text of the committed `meta.json`, or the reason why it cannot be read. */
export type CommittedContract = { readonly text: string } | { readonly fault: string };

const TIMEOUT_MS = 30_000;

/**
 * Overrides settings of the repository that make git run programs, and ignores bare repositories inside the project.
 * The user's own settings still apply, because they list the folders of other owners that git may read.
 */
const SETTINGS = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "safe.bareRepository=explicit"];

/** Prevents a partial clone from fetching. Versions of git that do not know the first variable obey the second. */
const VARIABLES = { GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "none", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };

/** Reads `meta.json` from local git objects. Runs no program except git, and writes nothing. */
export function committedContract(root: string): CommittedContract {
  const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
  // `cat-file` reads neither the index nor the work tree, and runs no filters.
  const { error, status, stdout, stderr } = spawnSync(
    "git",
    ["-C", root, ...settings, "cat-file", "blob", "HEAD:./meta.json"],
    {
      // Windows searches the working directory first.
      cwd: dirname(process.execPath),
      env: { ...environment(root), ...VARIABLES },
      encoding: "utf8",
      maxBuffer: MAX_FILE_BYTES,
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  if (error !== undefined) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return { fault: FAULTS[code] ?? `git failed to start: ${code}` };
  }
  if (status === 0) return { text: stdout };
  const lines = stderr.split("\n");
  const line = lines.find((each) => each.startsWith("fatal: ")) ?? lines[0] ?? "";
  return { fault: `git: ${escapeControls(line) || `exit code ${status}, without a message`}` };
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "git is not on the PATH",
  ENOBUFS: `the meta.json of git HEAD is larger than ${MAX_FILE_BYTES} bytes`,
  ETIMEDOUT: `git did not finish within ${TIMEOUT_MS / 1000} s`,
};

/** The environment without variables that configure git, and without folders of a project in PATH. */
function environment(root: string): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !/^(?:GIT_.*|PATH)$/i.test(name));
  const folders = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isWithin(root, folder) && !folder.split(sep).includes("node_modules"));
  return { ...Object.fromEntries(others), PATH: folders.join(delimiter) };
}
