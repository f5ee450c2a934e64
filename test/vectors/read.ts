/**
 * Reads a vector file. A long text may be written as `{"repeat": "ab", "times": 3}` for `ababab`, and as `{"join": […]}`, a list
 * of texts and such repetitions.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const VECTORS = fileURLToPath(new URL(".", import.meta.url));

export function readVectors<T>(name: string, directory = VECTORS): T {
  return JSON.parse(readFileSync(`${directory}/${name}`, "utf8"), expand) as T;
}

function expand(_name: string, value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  const { repeat, times, join } = value as { repeat?: string; times?: number; join?: unknown };
  if (repeat !== undefined && times !== undefined) return repeat.repeat(times);
  return Array.isArray(join) ? join.join("") : value;
}
