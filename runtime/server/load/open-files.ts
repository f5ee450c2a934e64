/** The limit of open files, compared with the connections that a server may have. */

import { readFileSync } from "node:fs";

/** Files besides connections: listeners, node's own, Redis, files that are followed or read, what a tool opens. */
const OWN_FILES = 64;

/**
 * A sentence when the process may not open as many files as it may have connections. Node closes what it cannot accept
 * without a word, and a tool that opens a file then fails.
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

/** The limit in force: node raises it to the hard one as it starts. Known on Linux only; elsewhere there is none. */
function openFilesLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
