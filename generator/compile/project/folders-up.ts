/** Folders above a path. This file must not load the compiler. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** A folder and all folders above it, nearest first. */
export function foldersUp(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUp(above)];
}

/** Path of the file with this name in a folder or in the nearest folder above that has one. */
export function findUpwards(folder: string, name: string): string | undefined {
  return foldersUp(folder)
    .map((each) => join(each, name))
    .find((path) => existsSync(path));
}
