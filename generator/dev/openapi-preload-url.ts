/** Where the module is that a server of development loads first, and what it is told: no variable of the environment. */

export interface PreloadOptions {
  /** The port of the tools. */
  readonly port: number;
  /** Whether the server requires signatures. */
  readonly signed: boolean;
}

/** The URL for `node --import`. */
export function openApiPreload({ port, signed }: PreloadOptions): string {
  const url = new URL("./openapi-preload.js", import.meta.url);
  url.search = new URLSearchParams({ port: `${port}`, signed: `${signed}` }).toString();
  return url.href;
}

/** What the URL says. */
export function preloadOptions(url: string): PreloadOptions {
  const { searchParams } = new URL(url);
  return { port: Number(searchParams.get("port")), signed: searchParams.get("signed") === "true" };
}
