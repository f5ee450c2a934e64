/** Reads metadata for an import: checks its size, and that its schemas define ports. */

import { derivePorts, JsonError, PortError } from "svc-runtime/internal/generator";
import { type JudgedMetadata, readListing, UnreadableMetadata } from "../contract/metadata.js";
import { printJson } from "../text/json.js";
import { canonicalPath, isToolPath } from "../tools/tool-path.js";
import { type Retagged, withTagsOutside } from "./tagged-outputs.js";

/** Maximum size of the metadata of all tools together, in bytes. */
export const MAX_METADATA_BYTES = 4 * 1024 * 1024;
const MAX_TOOLS = 1000;

/** A tool whose schemas define ports that the network accepts. */
export interface ImportableTool extends JudgedMetadata {
  /** Path without empty segments; undefined if no tool can be served at the path of the URL. */
  readonly path: string | undefined;
  readonly ports: ReturnType<typeof derivePorts>;
  /** If `output` is a rewritten schema: names of the members that contained the tag and the content. */
  readonly retagged: Pick<Retagged, "tag" | "content"> | undefined;
}

/** A tool that cannot be imported. */
export interface RefusedTool {
  readonly message: string;
  /** What to do next. */
  readonly hint: string;
}

export interface Importable {
  readonly tools: readonly ImportableTool[];
  readonly refused: readonly RefusedTool[];
}

const NOT_METADATA = "import the answer of the tool's server to GET /meta";

/**
 * Reads one document, or a list of them.
 *
 * @param name name of the source, for messages
 * @throws UnreadableMetadata if the bytes are not a document or a list
 */
export function readImportable(bytes: Uint8Array, name: string): Importable {
  if (bytes.length > MAX_METADATA_BYTES) {
    throw new UnreadableMetadata(`${name} has ${bytes.length} bytes; the limit is ${MAX_METADATA_BYTES}`);
  }
  const listing = readListing(bytes, name);
  if (listing.length === 0) throw new UnreadableMetadata(`${name} is not metadata: the list is empty`);
  if (listing.length > MAX_TOOLS) {
    throw new UnreadableMetadata(`${name} has ${listing.length} tools; the limit is ${MAX_TOOLS}`);
  }
  const tools: ImportableTool[] = [];
  const refused: RefusedTool[] = [];
  for (const tool of listing) {
    if (tool instanceof UnreadableMetadata) {
      refused.push({ message: tool.message, hint: NOT_METADATA });
      continue;
    }
    const retagged = withTagsOutside(tool.output);
    const output = retagged?.output ?? tool.output;
    try {
      const ports = derivePorts(printJson(tool.input), printJson(output));
      const tags = retagged && { tag: retagged.tag, content: retagged.content };
      tools.push({ ...tool, output, ports, path: pathOf(tool.url), retagged: tags });
    } catch (error) {
      if (!(error instanceof PortError || error instanceof JsonError)) throw error;
      refused.push({ message: `${tool.fqn} in ${name} cannot be imported: ${error.message}`, hint: hintFor(error) });
    }
  }
  return { tools, refused };
}

function hintFor({ message }: Error): string {
  return / at most \d+ ports, /.test(message)
    ? 'the network does not register such a tool either: in the old tool, put the members into one port, such as {"ok":{"result":{...}}}, and import it again'
    : "the network does not register such a tool either: change the schema of the old tool, and import it again";
}

function pathOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const path = canonicalPath(new URL(url).pathname);
  return isToolPath(path) ? path : undefined;
}
