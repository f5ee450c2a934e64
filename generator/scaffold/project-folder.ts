/** The folder of a new project, and what may already be in it. */

import { lstatSync, type Stats, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { CommandError } from "../cli/command-errors.js";
import { quoted } from "../compile/diagnostics/quote.js";

const HINT = "name another folder, or move them away";

/**
 * Refuses a folder that has something of these names already.
 *
 * @param shown the folder as the user calls it
 * @throws CommandError that names them
 */
export function assertNew(folder: string, shown: string, paths: readonly string[]): void {
  const stats = statsIfAny(folder, statSync);
  if (stats !== undefined && !stats.isDirectory()) {
    throw new CommandError(`${quoted(shown)} is a file`, "name another folder");
  }
  const taken = paths.filter((path) => statsIfAny(join(folder, path), lstatSync) !== undefined);
  // A link would lead the files elsewhere.
  const blocked = foldersOf(paths).filter((path) => {
    return statsIfAny(join(folder, path), lstatSync)?.isDirectory() === false;
  });
  const found = [...new Set([...taken, ...blocked])];
  if (found.length > 0)
    throw new CommandError(`${quoted(shown)} has ${found.map((path) => quoted(path)).join(", ")} already`, HINT);
}

function statsIfAny(path: string, read: (path: string) => Stats): Stats | undefined {
  try {
    return read(path);
  } catch {
    // What cannot be looked at cannot be written either, and that says why.
    return undefined;
  }
}

/** The folders that paths need below the root, outermost first. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    const parts = path.split("/").slice(0, -1);
    for (const [index] of parts.entries()) folders.add(parts.slice(0, index + 1).join("/"));
  }
  return [...folders];
}

/** A folder as a person would type it here. */
export function shownFolder(cwd: string, folder: string): string {
  const path = relative(cwd, folder).split(sep).join("/");
  return path === "" ? "." : path;
}
