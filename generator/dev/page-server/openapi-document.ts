import { DEFAULT_HEADER_PREFIX, type ToolHints } from "svc-runtime/internal/generator";
import { openApiDocument } from "../../openapi/document.js";
import { projectInfo } from "../../openapi/project-info.js";
import { printJson } from "../../text/json.js";
import { fqnOf, metaDocuments, pathOf } from "../../tools/meta-documents.js";
import { addressAt } from "../../tools/tool-addresses.js";

export interface DocumentedServer {
  /** Folder of the project's `package.json`. */
  readonly root: string;
  readonly metaJson: string;
  readonly url: string;
  readonly signed: boolean;
  /** Hints of the tools by address. */
  readonly hints: ReadonlyMap<string, ToolHints>;
}

/** OpenAPI document of the current build, as JSON text. */
export function openApiText({ root, metaJson, url, signed, hints }: DocumentedServer): string {
  const note = signed
    ? "**This server requires signed calls.** Make one with `svc-gen invoke TOOL '{…}' --signed`, which uses the development keys."
    : "**This server accepts unsigned calls.**";
  const options = { ...projectInfo(root), url, headerPrefix: DEFAULT_HEADER_PREFIX, note };
  const documents = metaDocuments(metaJson);
  const byName = documents.map((each) => [fqnOf(each), hints.get(addressAt(url, pathOf(each))) ?? {}] as const);
  return printJson(openApiDocument(documents, { ...options, hints: new Map(byName) }));
}
