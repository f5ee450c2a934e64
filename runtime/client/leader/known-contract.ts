import type { MetaSchema } from "../wire/bcs/bcs-shapes.js";
import { derivePorts, PortError } from "../wire/codec/ports.js";
import { InputHasher } from "../wire/signature/input-hash.js";
import { LeaderError } from "./error.js";
import { readMetadata, type ToolMetadata } from "./metadata.js";

/** The tool's contract when it was last read. */
export interface KnownContract {
  readonly metadata: ToolMetadata;
  readonly ports: MetaSchema;
  readonly hasher: InputHasher;
}

/** @throws {@link LeaderError} `invalid_metadata` */
export function readKnownContract(document: string | Uint8Array, fqn?: string): KnownContract {
  const metadata = readMetadata(document, fqn);
  try {
    const ports = derivePorts(metadata.inputSchema, metadata.outputSchema);
    return { metadata, ports, hasher: new InputHasher(ports.inputPorts) };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    throw new LeaderError("invalid_metadata", error.message, { cause: error });
  }
}
