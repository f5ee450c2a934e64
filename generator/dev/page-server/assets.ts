/** Built files of the development page and of the reference page, sent compressed. */

import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { gzipSync } from "node:zlib";
import { PageFault } from "./page-fault.js";

export interface Asset {
  readonly headers: Readonly<Record<string, string>>;
  readonly gzip: Buffer;
}

/** Files by their path after the token. The build compresses those of Swagger UI. */
const FILES: Readonly<Record<string, string>> = {
  "/": "../../../page/index.html",
  "/page.js": "../../../page/page.js",
  "/page.css": "../../../page/page.css",
  "/icon.svg": "../../../page/icon.svg",
  "/reference": "../reference/index.html",
  "/reference/reference.js": "../reference/reference.js",
  "/reference/reference.css": "../reference/reference.css",
  "/reference/swagger-ui-bundle.js": "../reference/swagger-ui-bundle.js.gz",
  "/reference/swagger-ui.css": "../reference/swagger-ui.css.gz",
};

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * The file at a path; undefined if there is none.
 *
 * @param server address that the reference page may call; empty for none
 * @throws PageFault if the pages have not been built
 */
export function readAsset(path: string, server: string): Asset | undefined {
  if (!Object.hasOwn(FILES, path)) return undefined;
  const name = FILES[path] as string;
  const isReference = path.startsWith("/reference");
  const bytes = read(name);
  return {
    headers: {
      "Content-Type": TYPES[extname(name.replace(/\.gz$/, ""))] as string,
      "Content-Security-Policy": isReference ? REFERENCE_POLICY : CONTENT_SECURITY_POLICY,
    },
    gzip: name.endsWith(".gz") ? bytes : gzipSync(path === "/reference" ? withServer(bytes, server) : bytes),
  };
}

function withServer(page: Buffer, server: string): string {
  return `${page}`.replace('data-server=""', `data-server="${server}"`);
}

function read(name: string): Buffer {
  try {
    return readFileSync(new URL(name, import.meta.url));
  } catch {
    throw new PageFault("the page has not been built: run npm run build in the svc-gen repository");
  }
}

const policy = (directives: Readonly<Record<string, string>>) =>
  Object.entries({
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    ...directives,
  })
    .map((directive) => directive.join(" "))
    .join("; ");

/** Allows only the page's own files and server, and no markup made from strings (Trusted Types). */
export const CONTENT_SECURITY_POLICY = policy({ "require-trusted-types-for": "'script'" });

/** Swagger UI uses style attributes and data: images, and sanitizes its markup itself. */
const REFERENCE_POLICY = policy({ "style-src": "'self' 'unsafe-inline'", "img-src": "'self' data:" });
