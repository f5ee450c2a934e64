/** Lookups of a run in the file system, which the next run repeats to detect changes. This file must not load the compiler. */

import { realpathSync, statSync } from "node:fs";
import { fileHash, folderHash } from "./file-hash.js";

/** Inputs of a run: all its lookups. */
export interface InputSnapshot {
  readonly lookups: readonly Lookup[];
  /** Generated files and their folder, which are not inputs. */
  readonly own: readonly string[];
}

export type Lookup = readonly [question: Question, path: string, answer: Answer];

export type Question = keyof typeof QUESTIONS;

type Answer = string | boolean | null;

/** The questions about a path. The answer null means that it cannot be read. */
const QUESTIONS = {
  text: fileHash,
  isFile: (path: string) => statsOf(path)?.isDirectory() === false,
  isFolder: (path: string) => statsOf(path)?.isDirectory() === true,
  entries: folderHash,
  realPath: (path: string) => attempt(() => realpathSync(path)),
} as const satisfies Record<string, (path: string, own: readonly string[]) => Answer | undefined>;

export function isUnchanged({ lookups, own }: InputSnapshot): boolean {
  return lookups.every(([question, path, answer]) => (QUESTIONS[question](path, own) ?? null) === answer);
}

function statsOf(path: string) {
  return attempt(() => statSync(path, { throwIfNoEntry: false }));
}

function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
