/** The files of the page as they were built: read once, sent compressed. */

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { PageFault } from "./page-fault.js";

export interface Asset {
  readonly type: string;
  readonly gzip: Buffer;
}

const TYPES = {
  "index.html": "text/html; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

/**
 * The files by their paths behind the token.
 *
 * @throws PageFault when the page was not built
 */
export function readAssets(): ReadonlyMap<string, Asset> {
  return new Map(
    Object.entries(TYPES).map(([name, type]) => {
      const bytes = read(name);
      return [name === "index.html" ? "/" : `/${name}`, { type, gzip: gzipSync(bytes, { level: 9 }) }];
    }),
  );
}

function read(name: string): Buffer {
  try {
    return readFileSync(new URL(`../../../page/${name}`, import.meta.url));
  } catch {
    throw new PageFault("the page is not built: npm run build in the repository of svc-gen");
  }
}

/** Nothing but the page's own files and its own server; no markup from text (Trusted Types). */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");
