/** The folder of `svc-gen dev` in a project: development keys, configuration, and where each running server listens. */

import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** Relative to the project's root. Git ignores it. */
export const DEV_FOLDER = ".svc";

/** Where one `svc-gen dev` serves. Its file exists while it runs. */
export interface DevState {
  readonly url: string;
  readonly signed: boolean;
  readonly pid: number;
}

/** The file of one running server: a project may have an unsigned and a signed one. */
export function stateFile(folder: string, url: string): string {
  return join(folder, `dev-${portOf(url)}.json`);
}

/** The port of a server's address, also one that a URL parser leaves out as the scheme's own. */
export function portOf(url: string): string {
  return url.slice(url.lastIndexOf(":") + 1);
}

const STATE_FILE = /^dev-\d+\.json$/;

/** The running `svc-gen dev` of a project, the latest first. */
export function devServers(root: string): DevState[] {
  return stateFiles(join(root, DEV_FOLDER)).flatMap((path) => readState(path) ?? []);
}

/** Removes the files of processes that were killed. */
export function removeDeadStates(folder: string): void {
  for (const path of stateFiles(folder)) {
    const pid = readState(path)?.pid;
    if (pid === undefined || !isRunning(pid)) rmSync(path, { force: true });
  }
}

function stateFiles(folder: string): string[] {
  const changed = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  try {
    const paths = readdirSync(folder).filter((name) => STATE_FILE.test(name));
    return paths.map((name) => join(folder, name)).sort((a, b) => changed(b) - changed(a));
  } catch {
    return [];
  }
}

function readState(path: string): DevState | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as DevState;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
