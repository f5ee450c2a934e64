/** `svc-gen --watch`: generates whenever something has changed that the result depends on, until it is interrupted. */

import { join } from "node:path";
import { type Diagnostic, hasErrors } from "../diagnostics.js";
import type { Generated, GenerateOptions } from "../generate.js";
import { Listener, type News } from "../listener.js";
import { Session } from "../session.js";

/** Milliseconds of quiet after which the record for the next process is written, and the process rests. */
const IDLE_MS = 300;

/** The effects, which are the command line's. */
export interface Effects {
  /** Writes what differs from the disk and says which paths that were. */
  readonly write: (files: Generated["files"]) => readonly string[];
  /** Keeps the record of a good run. */
  readonly remember: (generated: Generated) => void;
  /** Told that nothing is to do for the moment. */
  readonly rest: () => void;
  /** Tells what one run has come to. */
  readonly tell: (turn: Turn) => void;
}

/** One run: what there is to say, which files were written, and the time since the change was heard of. */
export interface Turn {
  readonly diagnostics: readonly Diagnostic[];
  readonly wrote: readonly string[];
  readonly milliseconds: number;
}

/** Generates now and after every change; resolves when the process is told to end, rejects when an effect throws. */
export async function watchProject(options: GenerateOptions, { write, remember, rest, tell }: Effects): Promise<void> {
  const session = new Session(options);
  let current: Generated | undefined;
  let unrecorded: Generated | undefined;
  let idle: NodeJS.Timeout | undefined;
  const record = () => {
    clearTimeout(idle);
    if (unrecorded !== undefined) remember(unrecorded);
    unrecorded = undefined;
  };
  const turn = ({ paths, since }: News): void => {
    const next = session.next(paths);
    current = next ?? current;
    if (current === undefined) return;
    const good = !hasErrors(current.diagnostics);
    const wrote = good ? write(current.files) : [];
    if (next === undefined && wrote.length === 0) return;
    tell({ diagnostics: current.diagnostics, wrote, milliseconds: Math.round(performance.now() - since) });
    if (next === undefined) return;
    if (good) unrecorded = next;
    listener.follow(
      next.reads,
      next.files.map(({ path }) => join(options.root, path)),
    );
    clearTimeout(idle);
    idle = setTimeout(() => {
      record();
      rest();
    }, IDLE_MS);
  };
  let fail: (error: unknown) => void = () => {};
  const failure = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const listener = new Listener((news) => {
    try {
      turn(news);
    } catch (error) {
      fail(error);
    }
  });
  try {
    turn({ paths: new Set(), since: performance.now() });
    await Promise.race([interruption(), failure]);
  } finally {
    listener.close();
    record();
  }
}

async function interruption(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
