/**
 * State of `svc-gen dev` for a project: development keys, configuration, and addresses of running servers. It is in a
 * private folder of the user, because any file in the project may come from the checkout.
 */

import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { UnwritableError } from "../files/atomic-write.js";
import { readJsonFile } from "../files/read-file.js";
import { isRunning } from "../process/running-process.js";

/**
 * Folder for compiled files of a project whose tsconfig has no output folder. Relative to the project's root; ignored
 * by git.
 */
export const DEV_FOLDER = ".svc";

/** Private folder of a project: in XDG_STATE_HOME, otherwise in the home folder. */
export function privateFolder(root: string, { XDG_STATE_HOME: place = "" }: NodeJS.ProcessEnv): string {
  const states = isAbsolute(place) ? place : join(homedir(), ".local/state");
  const project = createHash("sha256").update(realpathSync(root)).digest("hex").slice(0, 16);
  return join(states, "svc-gen", project);
}

/**
 * Creates the private folder of a project if it is missing.
 *
 * @throws UnwritableError, also if another user can change its content
 */
export function makePrivateFolder(root: string, env: NodeJS.ProcessEnv): string {
  const folder = privateFolder(root, env);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new UnwritableError(folder, error);
  }
  if (!isPrivate(folder))
    throw new UnwritableError(folder, { code: "another user of this machine can change it; remove it" });
  return folder;
}

/** Whether a folder and its parent are no links, and only this user can change them. */
function isPrivate(folder: string): boolean {
  return [dirname(folder), folder].every((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    // Node reports neither owner nor mode on Windows.
    const isOwn = process.getuid === undefined || (stats?.uid === process.getuid() && (stats.mode & 0o022) === 0);
    return stats?.isDirectory() === true && isOwn;
  });
}

/** Address of one `svc-gen dev`, in a file that exists while it runs. */
export interface DevState {
  readonly url: string;
  readonly signed: boolean;
  readonly pid: number;
  /** Development page of the process. Its path contains a random token, so only that process answers there. */
  readonly page: string;
  /** Address at which the process answers MCP clients; absent if it does not. */
  readonly mcp?: string | undefined;
}

/** File of one running server: a project may have an unsigned and a signed one. */
export function stateFile(folder: string, url: string): string {
  return join(folder, `dev-${portOf(url)}.json`);
}

/** Port in a server's address, even if it is the scheme's default, which a URL parser drops. */
export function portOf(url: string): string {
  return url.slice(url.lastIndexOf(":") + 1);
}

const STATE_FILE = /^dev-\d+\.json$/;

/** The running `svc-gen dev` processes of a project, the latest first. Each has confirmed its address. */
export async function devServers(root: string, env: NodeJS.ProcessEnv): Promise<DevState[]> {
  const folder = privateFolder(root, env);
  if (!isPrivate(folder)) return [];
  const states = stateFiles(folder).flatMap((path) => (readJsonFile(path) as DevState | undefined) ?? []);
  const confirmed = await Promise.all(states.map(isServing));
  return states.filter((_, index) => confirmed[index]);
}

/** Time limit, in milliseconds, for an answer of `svc-gen dev`, which may be compiling. */
const CONFIRMATION_MS = 10_000;

/** Asks a process for the address that it serves. After the process has ended, another one may use its port. */
async function isServing({ page, url, signed }: DevState): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(CONFIRMATION_MS);
    const response = await fetch(`${page}api/served`, { redirect: "error", signal });
    const served = (await response.json()) as Partial<DevState> | null;
    return response.ok && served?.url === url && served.signed === signed;
  } catch {
    return false;
  }
}

/** Removes state files of processes that were killed. */
export function removeDeadStates(folder: string): void {
  for (const path of stateFiles(folder)) {
    const pid = (readJsonFile(path) as DevState | undefined)?.pid;
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
