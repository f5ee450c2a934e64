/** The metadata that can be imported: of bounded size, with schemas that give ports. */

import { derivePorts, JsonError, PortError } from "svc-runtime/generator";
import { printJson } from "../json.js";
import { readMetadata, type ToolMetadata, UnreadableMetadata } from "../metadata.js";

/** Greatest size of the metadata of all tools together, in bytes. */
export const MAX_METADATA_BYTES = 4 * 1024 * 1024;
const MAX_TOOLS = 1000;

/** One tool. Its schemas give ports that the network accepts. */
export interface ImportableTool extends ToolMetadata {
  /** Without empty segments; undefined when the URL has no path that a tool can be served under. */
  readonly path: string | undefined;
  readonly ports: ReturnType<typeof derivePorts>;
}

/**
 * Reads one document, or a list of them.
 *
 * @param name of the source, in messages
 * @throws UnreadableMetadata
 */
export function readImportable(bytes: Uint8Array, name: string): ImportableTool[] {
  if (bytes.length > MAX_METADATA_BYTES) {
    throw new UnreadableMetadata(`${name} has ${bytes.length} bytes, of at most ${MAX_METADATA_BYTES}`);
  }
  const tools = readMetadata(bytes, name);
  if (tools.length > MAX_TOOLS) {
    throw new UnreadableMetadata(`${name} has ${tools.length} tools, of at most ${MAX_TOOLS}`);
  }
  return tools.map((tool) => {
    try {
      const ports = derivePorts(printJson(tool.input), printJson(tool.output));
      return { ...tool, ports, path: pathOf(tool.url) };
    } catch (error) {
      if (!(error instanceof PortError || error instanceof JsonError)) throw error;
      throw new UnreadableMetadata(`${tool.fqn} in ${name} cannot be imported: ${error.message}`);
    }
  });
}

function pathOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const path = new URL(url).pathname.split("/").filter(Boolean).join("/");
  return /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/.test(path) ? path : undefined;
}
