import type { Contract } from "svc-runtime/internal/generator";
import { readMetaJson } from "../../files/output-files.js";
import { fqnOf, metaDocuments } from "../../tools/meta-documents.js";

/** FQNs of the tools in the project's `meta.json`; undefined if there is none or it cannot be read. */
export function projectFqns(root: string): readonly string[] | undefined {
  const text = readMetaJson(root);
  try {
    return text === undefined ? undefined : metaDocuments(text).map(fqnOf);
  } catch {
    return undefined;
  }
}

/** Environment variables of all tools, each once. */
export function variablesOf(
  contracts: readonly Contract[] | undefined,
): readonly (readonly [name: string, description: string])[] | undefined {
  return contracts && [...new Map(contracts.flatMap(({ variables = [] }) => variables))];
}
