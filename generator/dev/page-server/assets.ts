/** Built files of the development page, sent compressed. */

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { PageFault } from "./page-fault.js";

export interface Asset {
  readonly type: string;
  readonly gzip: Buffer;
}

/** Files by their path after the token, each with its media type. */
const FILES: ReadonlyMap<string, readonly [name: string, type: string]> = new Map([
  ["/", ["index.html", "text/html; charset=utf-8"]],
  ["/page.js", ["page.js", "text/javascript; charset=utf-8"]],
  ["/page.css", ["page.css", "text/css; charset=utf-8"]],
  ["/icon.svg", ["icon.svg", "image/svg+xml"]],
]);

/**
 * The file at a path; undefined if there is none.
 *
 * @throws PageFault if the page has not been built
 */
export function readAsset(path: string): Asset | undefined {
  const [name, type] = FILES.get(path) ?? [];
  if (name === undefined || type === undefined) return undefined;
  try {
    return { type, gzip: gzipSync(readFileSync(new URL(`../../../page/${name}`, import.meta.url))) };
  } catch {
    throw new PageFault("the page has not been built: run npm run build in the svc-gen repository");
  }
}

/** Allows only the page's own files and server, and no markup made from strings (Trusted Types). */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "connect-src"].map((directive) => `${directive} 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((directive) => `${directive} 'none'`),
  "require-trusted-types-for 'script'",
].join("; ");
