import { relative } from "node:path";

/** A path as a user would type it in the current directory. */
export function shownPath(cwd: string, path: string): string {
  return (relative(cwd, path) || ".").replaceAll("\\", "/");
}
