import { readFileSync } from "node:fs";

/** Number of files to reserve for purposes other than connections of callers: listeners, Node's own, Redis, watched files, files of tools. */
const OWN_FILES = 64;

/**
 * Sentence for the log if the process may open fewer files than connections. Node silently closes connections beyond
 * the limit, and tools cannot open files.
 */
export function openFilesWarning(maxConnections: number, limit = openFilesLimit()): string | undefined {
  if (limit >= maxConnections + OWN_FILES) return undefined;
  const most = Math.max(1, limit - OWN_FILES);
  return (
    `the limit of open files is ${limit}, too low for ${maxConnections} connections (maxConnections) and ${OWN_FILES} ` +
    "other files: raise it (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of docker), or set " +
    `SVC_MAX_CONNECTIONS=${most}`
  );
}

/** Current limit, which Node raises to the hard limit at start-up. Known only on Linux; infinite elsewhere. */
function openFilesLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
