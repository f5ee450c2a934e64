/** Checks the folder of a new project for existing files. */

import { lstatSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../cli/command-errors.js";
import { quoted } from "../compile/diagnostics/quote.js";

const HINT = "choose another folder, or move the existing files out of this folder";

/**
 * Rejects a folder in which one of these files exists.
 *
 * @param shown folder as the user typed it
 * @throws CommandError that lists the files
 */
export function assertNew(folder: string, shown: string, paths: readonly string[]): void {
  const stats = statsIfAny(folder, statSync);
  if (stats !== undefined && !stats.isDirectory()) {
    throw new CommandError(`${quoted(shown)} is a file`, "name another folder");
  }
  const taken = paths.filter((path) => statsIfAny(join(folder, path), lstatSync) !== undefined);
  // A link would redirect the new files.
  const blocked = foldersOf(paths).filter((path) => {
    return statsIfAny(join(folder, path), lstatSync)?.isDirectory() === false;
  });
  const found = [...new Set([...taken, ...blocked])];
  if (found.length > 0)
    throw new CommandError(`${quoted(shown)} already contains ${found.map((path) => quoted(path)).join(", ")}`, HINT);
}

function statsIfAny(path: string, read: (path: string) => Stats): Stats | undefined {
  try {
    return read(path);
  } catch {
    // If a path cannot be inspected, writing it will fail with the reason.
    return undefined;
  }
}

/** Folders that paths need below the root, outermost first. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    const parts = path.split("/").slice(0, -1);
    for (const [index] of parts.entries()) folders.add(parts.slice(0, index + 1).join("/"));
  }
  return [...folders];
}
