// Not in strict-json.ts, because public types refer to that file and must compile without Node's types.

import { type OperatorFile, readOperatorFile } from "./operator-file.js";
import { ConfigError, type DocumentSource } from "./strict-json.js";

/**
 * Reads the file of a document, relative to `cwd`.
 *
 * @throws ConfigError if the file cannot be read
 */
export function openDocument(source: DocumentSource & { readonly file: string }, cwd?: string): OperatorFile {
  const reading = readOperatorFile(source.file, cwd);
  if ("fault" in reading) throw new ConfigError(reading.fault, source);
  return reading;
}
