/** The metadata document of a tool (protocol.md section 9), order kept. */

import { type Json, type JsonObject, object } from "../json.js";
import type { StaticMetadata } from "../model.js";

/** What `GET /meta` answers for the tool at `url`. */
export function metadata(
  tool: StaticMetadata,
  url: string,
  inputSchema: JsonObject,
  outputSchema: JsonObject,
): JsonObject {
  return object(
    ["fqn", tool.fqn],
    ["url", url],
    ["timeout", tool.timeout],
    ["description", tool.description],
    ["input_schema", inputSchema],
    ["output_schema", outputSchema],
  );
}

/** The `url` that `--meta` prints: nothing is known about hosts then. */
export function localUrl(path: string): string {
  return path === "" ? "http://localhost/" : `http://localhost${path.startsWith("/") ? "" : "/"}${path}`;
}

/** The document for another address: what registration takes. */
export function withUrl(document: JsonObject, url: string): JsonObject {
  const members: [string, Json][] = [...document.members];
  return object(...members.map(([name, value]) => [name, name === "url" ? url : value] as const));
}
