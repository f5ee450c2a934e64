/** The tools of the project in a folder, from its `meta.json`. */

import type { Contract } from "svc-runtime/internal/generator";
import { readOutput } from "../../files/output-files.js";
import { type Json, JsonObject, readJson } from "../../json.js";

/** The documents of a `meta.json`; undefined without one, and when it cannot be read. */
function metaDocuments(root: string): readonly JsonObject[] | undefined {
  const text = readOutput(root, "meta.json")?.toString();
  return text === undefined ? undefined : documentsOf(text);
}

/** The documents in the text of a `meta.json`. */
export function documentsOf(text: string): readonly JsonObject[] | undefined {
  try {
    const all: Json = readJson(text);
    return Array.isArray(all) ? all.filter((each) => each instanceof JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Names of the tools of the project; undefined when they are not known. */
export function projectTools(root: string): readonly string[] | undefined {
  return metaDocuments(root)?.map((document) => String(document.get("fqn")));
}

/** The environment variables of all tools, each once. */
export function variablesOf(
  contracts: readonly Contract[] | undefined,
): readonly (readonly [name: string, description: string])[] | undefined {
  return contracts && [...new Map(contracts.flatMap(({ variables = [] }) => variables))];
}
