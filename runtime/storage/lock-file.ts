/** A lock among the processes of one machine: a file that names its holder. Node has no lock that the kernel lets go of. */

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

/**
 * Takes the lock; removing the file lets it go.
 *
 * A lock whose process is gone is replaced, by whoever holds the lock on doing so, `.next` to it: of several that find it
 * stale one moves its own over it, and the others then see a holder that lives.
 *
 * @returns false when a living process holds it, this one included
 * @throws what the file system says, when the file can be neither made nor read
 */
export async function takeLock(lock: string): Promise<boolean> {
  const own = `${process.pid} ${startOf(process.pid)} ${randomUUID()}\n`;
  for (let vanished = 0; ; ) {
    const made = await create(lock, own);
    const holder = await holderOf(lock);
    if (made && holder === own) return true;
    // Nothing is there again and again: a link to nowhere stands in its place.
    if (holder === undefined && ++vanished > 50) throw new Error("the lock can be neither made nor read");
    // Let go of meanwhile, or just made: its holder has not written yet, or ended before it could.
    if (holder === undefined || (holder === "" && (await isYoung(lock)))) {
      await pause(20);
      continue;
    }
    if (lives(holder)) return false;
    const next = `${lock}.next`;
    if (!(await takeLock(next))) return false;
    try {
      if ((await holderOf(lock)) === holder) {
        await rename(next, lock);
        return true;
      }
    } catch (error) {
      await rm(next, { force: true });
      throw error;
    }
    await rm(next, { force: true });
  }
}

/** Milliseconds within which whoever made a lock has written into it, however slow the disk. */
const WRITTEN_MS = 10_000;

async function isYoung(path: string): Promise<boolean> {
  try {
    // A clock that was set back makes no file of the future young for long.
    return Math.abs(Date.now() - (await stat(path)).mtimeMs) < WRITTEN_MS;
  } catch {
    return true;
  }
}

async function create(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.appendFile(text);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function holderOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "latin1");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function lives(holder: string): boolean {
  const [, pid, start] = /^(\d+) (\d+)\b/.exec(holder) ?? [];
  return pid !== undefined && startOf(Number(pid)) === Number(start) && isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** When a process started, in ticks since boot; 0 where the system does not tell. Tells a reused process id apart. */
function startOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]) || 0;
  } catch {
    return 0;
  }
}
