import type { Contract } from "svc-runtime/internal/generator";
import { readOutput } from "../../files/output-files.js";
import { type Json, JsonObject, readJson } from "../../json.js";

/** Documents of a `meta.json`; undefined if there is none or it cannot be read. */
function metaDocuments(root: string): readonly JsonObject[] | undefined {
  const text = readOutput(root, "meta.json")?.toString();
  return text === undefined ? undefined : documentsOf(text);
}

export function documentsOf(text: string): readonly JsonObject[] | undefined {
  try {
    const all: Json = readJson(text);
    return Array.isArray(all) ? all.filter((each) => each instanceof JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Names of the project's tools; undefined if unknown. */
export function projectTools(root: string): readonly string[] | undefined {
  return metaDocuments(root)?.map((document) => String(document.get("fqn")));
}

/** Environment variables of all tools, each once. */
export function variablesOf(
  contracts: readonly Contract[] | undefined,
): readonly (readonly [name: string, description: string])[] | undefined {
  return contracts && [...new Map(contracts.flatMap(({ variables = [] }) => variables))];
}
