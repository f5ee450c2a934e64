import type { Contract } from "svc-runtime/internal/generator";
import type { GeneratedFile } from "../../compile/model.js";
import { readMetaJson } from "../../files/output-files.js";
import { toolNamed } from "../../invoke/tool-names.js";
import type { JsonObject } from "../../text/json.js";
import { fqnOf, metaDocuments, metaJsonIn, pathOf } from "../../tools/meta-documents.js";

/** FQNs of the tools in the project's `meta.json`; undefined if there is none or it cannot be read. */
export function projectFqns(root: string): readonly string[] | undefined {
  const text = readMetaJson(root);
  try {
    return text === undefined ? undefined : metaDocuments(text).map(fqnOf);
  } catch {
    return undefined;
  }
}

/**
 * Metadata document of the tool with this name, or of the only tool.
 *
 * @param command command, for the error
 * @throws UsageError
 */
export function documentNamed(command: string, name: string | undefined, files: readonly GeneratedFile[]): JsonObject {
  const documents = metaDocuments(metaJsonIn(files));
  const tools = documents.map((document) => ({ document, fqn: fqnOf(document), path: pathOf(document) }));
  return toolNamed(command, name, tools).document;
}

/** Environment variables of all tools, each once. */
export function variablesOf(
  contracts: readonly Contract[] | undefined,
): readonly (readonly [name: string, description: string])[] | undefined {
  return contracts && [...new Map(contracts.flatMap(({ variables = [] }) => variables))];
}
