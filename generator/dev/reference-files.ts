/** Files of the reference page: its own, and Swagger UI's as the build has packed them. */

import { readFileSync } from "node:fs";

/** An answer. */
export interface ReferenceFile {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

const FOLDER = new URL("./reference/", import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

/** The names of the files, each with whether it is shipped in gzip's form. */
const FILES: Readonly<Record<string, boolean>> = {
  "index.html": false,
  "reference.js": false,
  "reference.css": false,
  "swagger-ui-bundle.js": true,
  "swagger-ui.css": true,
};

/**
 * A file of the page; undefined for any other name.
 *
 * @param signed whether the server requires signatures, which no page can make
 * @throws the error of the disk, where svc-gen was not built as a whole
 */
export function referenceFile(name: string, signed: boolean): ReferenceFile | undefined {
  if (!Object.hasOwn(FILES, name)) return undefined;
  const isPacked = FILES[name] === true;
  const content = readFileSync(new URL(isPacked ? `${name}.gz` : name, FOLDER));
  const body =
    name === "index.html" ? Buffer.from(`${content}`.replace('data-signed=""', `data-signed="${signed}"`)) : content;
  const type = TYPES[name.split(".").at(-1) as string] as string;
  return { body, headers: { "content-type": type, ...(isPacked && { "content-encoding": "gzip" }) } };
}
