/** Tools for the page, from a `meta.json` or from a remote server. */

import { derivePorts, JsonError, PortError, type ToolHints } from "svc-runtime/internal/generator";
import { LeaderError, type MetaSchema, readMetadata } from "svc-runtime/leader";
import { printJson } from "../../text/json.js";
import { effectsOf } from "../../tools/hints.js";
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
 * @param hints hints of the tools by address
 * @throws PageFault for a document that leaders would reject
 */
export function shownTools(metaJson: string, url: string, hints?: ReadonlyMap<string, ToolHints>): ShownTool[] {
  const served = servedDocuments(metaJson, url);
  return metaDocuments(metaJson).map((document, i) => {
    const { url: own = url, sample = "{}" } = served[i] ?? {};
    return shownTool(printJson(document), own, hints?.get(own), sample);
  });
}

/**
 * Reads one metadata document.
 *
 * @throws PageFault
 */
export function shownTool(document: string, url: string, hints: ToolHints = {}, sample?: string): ShownTool {
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
        effects: effectsOf(hints),
        inputSchema,
        sample: sample ?? servedDocuments(`[${document}]`, url)[0]?.sample ?? "{}",
        metadata: document,
        inputPorts: ports.inputPorts,
        variants: ports.outputVariants.map(({ name }) => name),
      },
    };
  } catch (error) {
    if (error instanceof LeaderError || error instanceof PortError || error instanceof JsonError) {
      throw new PageFault(`${url}/meta cannot be read: ${error.message}`);
    }
    throw error;
  }
}
