/** Reads a vector file. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const VECTORS = fileURLToPath(new URL(".", import.meta.url));

export function readVectors<T>(name: string, directory = VECTORS): T {
  return JSON.parse(readFileSync(`${directory}/${name}`, "utf8")) as T;
}
