/** Metadata documents of tools (protocol.md section 9), and their listing in `meta.json` and `--meta`. */

import type { Contract } from "svc-client/internal/wire/codec/contract";
import { indentedBlock } from "svc-client/internal/wire/json/pretty-json";
import { quote } from "svc-client/internal/wire/json/print";
import { plainValue } from "svc-client/internal/wire/json/untyped-json";

/** Metadata document of the tool at `url`, as compact JSON text. Its schemas keep the textual order of the contract. */
export function metadataText({ fqn, timeout, description, inputSchema, outputSchema }: Contract, url: string): string {
  const head = `{"fqn":${quote(fqn)},"url":${quote(url)},"timeout":${timeout},"description":${quote(description)}`;
  return `${head},"input_schema":${inputSchema},"output_schema":${outputSchema}}`;
}

/** Metadata document as a value. Integers beyond ±(2^53−1) in schemas are bigints. */
export interface MetadataDocument {
  readonly fqn: string;
  readonly url: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly output_schema: Readonly<Record<string, unknown>>;
}

export function metadataDocument(contract: Contract, url: string): MetadataDocument {
  return plainValue(Buffer.from(metadataText(contract, url))) as MetadataDocument;
}

/** Placeholder `url` for listings, which do not know the host. */
export function localUrl(path: string): string {
  return path === "" ? "http://localhost/" : `http://localhost${path.startsWith("/") ? "" : "/"}${path}`;
}

/** JSON array of indented documents, with a final newline. */
export function metadataListing(documents: readonly string[]): string {
  return `${indentedBlock("[", documents, "]")}\n`;
}
