import { DEFAULT_HEADER_PREFIX } from "svc-runtime/internal/generator";
import { openApiDocument } from "../../openapi/document.js";
import { projectInfo } from "../../openapi/project-info.js";
import { printJson } from "../../text/json.js";
import { metaDocuments } from "../../tools/meta-documents.js";

export interface DocumentedServer {
  /** Folder of the project's `package.json`. */
  readonly root: string;
  readonly metaJson: string;
  readonly url: string;
  readonly signed: boolean;
}

/** OpenAPI document of the current build, as JSON text. */
export function openApiText({ root, metaJson, url, signed }: DocumentedServer): string {
  const note = signed
    ? "**This server requires signed calls.** Make one with `svc-gen invoke TOOL '{…}' --signed`, which uses the development keys."
    : "**This server accepts unsigned calls.**";
  const options = { ...projectInfo(root), url, headerPrefix: DEFAULT_HEADER_PREFIX, note };
  return printJson(openApiDocument(metaDocuments(metaJson), options));
}
