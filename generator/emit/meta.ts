/** The metadata document of a tool (protocol.md section 9), in fixed order. */

import { type Json, type JsonObject, object } from "../json.js";
import type { StaticMetadata } from "../model.js";

/** The body of `GET /meta` for the tool at `url`. */
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

/** The `url` in `meta.json`, where the host is not known yet. */
export function localUrl(path: string): string {
  return path === "" ? "http://localhost/" : `http://localhost${path.startsWith("/") ? "" : "/"}${path}`;
}

/** The document with its public URL, for registration. */
export function withUrl(document: JsonObject, url: string): JsonObject {
  const members: [string, Json][] = [...document.members];
  return object(...members.map(([name, value]) => [name, name === "url" ? url : value] as const));
}
