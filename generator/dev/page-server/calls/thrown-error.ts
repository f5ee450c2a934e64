import { readFileSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { placeText } from "../../../compile/model.js";
import type { ThrownView } from "../page-api.js";

/** Number of source lines shown before and after the line. */
const AROUND = 2;
const PLACE = /(?:\(|at (?:async )?)((?:file:\/\/)?[^()]+?\.[cm]?tsx?):(\d+):(\d+)\)?$/;

/**
 * Reads a logged error. Its stack has `.ts` paths, because the development server uses source maps.
 *
 * @param err the member `err` of a log line
 * @param root folder of the project; undefined for a remote server
 */
export function thrownView(err: unknown, root: string | undefined): ThrownView | null {
  const { type, message, stack } = Object(err) as Record<string, unknown>;
  if (typeof stack !== "string" || root === undefined) return null;
  const place = stack.split("\n").flatMap((line) => placeOf(line, root) ?? [])[0];
  return {
    text: `${String(type ?? "Error")}: ${String(message ?? "")}`,
    at: place === undefined ? null : placeText(place),
    frame: place === undefined ? null : frameOf(join(root, place.file), place.line),
  };
}

/** Position in a line of a stack; undefined outside the project's sources. */
function placeOf(text: string, root: string) {
  const [, path, line, column] = PLACE.exec(text) ?? [];
  if (path === undefined) return undefined;
  const file = relative(root, path.startsWith("file://") ? fileURLToPath(path) : path);
  const isOwn = !isAbsolute(file) && !["..", "node_modules"].some((name) => file.split(sep).includes(name));
  return isOwn ? { file: file.replaceAll(sep, "/"), line: Number(line), column: Number(column) } : undefined;
}

function frameOf(path: string, line: number): string | null {
  try {
    const lines = readFileSync(path, "utf8").split("\n");
    const from = Math.max(1, line - AROUND);
    const shown = lines.slice(from - 1, line + AROUND);
    const width = String(from + shown.length).length;
    const numbered = shown.map((each, i) => {
      return `${from + i === line ? ">" : " "} ${String(from + i).padStart(width)} | ${each}`;
    });
    return line > lines.length ? null : numbered.join("\n");
  } catch {
    return null;
  }
}
