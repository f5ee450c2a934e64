/** The OpenAPI document of a server of development. */

import { type Json, JsonObject, printJson, readJson } from "../json.js";
import { openApiDocument } from "../openapi/document.js";
import { projectInfo } from "../openapi/project-info.js";
import type { ReferenceFile } from "./reference-files.js";

/** What a server of development knows of itself. */
export interface DocumentedServer {
  /** The folder of the project's `package.json`. */
  readonly root: string;
  readonly metaJson: string;
  readonly signed: boolean;
}

/** The document as it is served: the tools are at the server itself. */
export function documentFile({ root, metaJson, signed }: DocumentedServer): ReferenceFile {
  const all: Json = readJson(metaJson);
  const documents = (Array.isArray(all) ? all : []).filter((each) => each instanceof JsonObject);
  const note = signed
    ? "**This server requires signed calls**: `svc-gen invoke TOOL '{…}' --signed` makes one with its development keys."
    : "**This server takes unsigned calls.**";
  const document = openApiDocument(documents, { ...projectInfo(root), url: "/", headerPrefix: "X-Svc-", note });
  return { body: Buffer.from(printJson(document)), headers: { "content-type": "application/json" } };
}
