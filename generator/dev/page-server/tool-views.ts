/** Tools for the page, from a `meta.json` or from a remote server. */

import { derivePorts, JsonError, PortError } from "svc-runtime/internal/generator";
import { LeaderError, type MetaSchema, readMetadata } from "svc-runtime/leader";
import { printJson } from "../../text/json.js";
import { metaDocuments } from "../../tools/meta-documents.js";
import { servedDocuments } from "../served-documents.js";
import type { ToolView } from "./page-api.js";
import { PageFault } from "./page-fault.js";

/** A tool, and its ports in the order in which they are hashed. */
export interface ShownTool {
  readonly view: ToolView;
  readonly ports: MetaSchema;
}

/**
 * Reads the documents of a `meta.json`.
 *
 * @param url address of the server
 * @throws PageFault for a document that leaders would reject
 */
export function shownTools(metaJson: string, url: string): ShownTool[] {
  const served = servedDocuments(metaJson, url);
  return metaDocuments(metaJson).map((document, i) =>
    shownTool(printJson(document), served[i]?.url ?? url, served[i]?.sample ?? "{}"),
  );
}

/**
 * Reads one metadata document.
 *
 * @throws PageFault
 */
export function shownTool(document: string, url: string, sample?: string): ShownTool {
  try {
    const { fqn, description, timeout, inputSchema, outputSchema } = readMetadata(document);
    const ports = derivePorts(inputSchema, outputSchema);
    return {
      ports,
      view: {
        fqn,
        url,
        description,
        timeoutMs: timeout,
        inputSchema,
        outputSchema,
        sample: sample ?? servedDocuments(`[${document}]`, url)[0]?.sample ?? "{}",
        metadata: document,
        inputPorts: ports.inputPorts,
        variants: ports.outputVariants,
      },
    };
  } catch (error) {
    if (error instanceof LeaderError || error instanceof PortError || error instanceof JsonError) {
      throw new PageFault(`${url}/meta cannot be read: ${error.message}`);
    }
    throw error;
  }
}
