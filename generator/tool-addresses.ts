/** Addresses of servers and their tools. */

import { canonicalPath } from "./tool-path.js";

/** Address of a server with default settings. */
export const DEFAULT_SERVER = "http://127.0.0.1:8080";

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Address of a tool, without a trailing slash, from the URL of the tool or of one of its endpoints. */
export function toolAddress(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/(?:invoke|meta|health)?\/*$/, "")}`;
}

/** Address of the tool at a canonical path. */
export function addressAt(server: string, path: string): string {
  return path === "" ? server : `${server}/${path}`;
}

/**
 * Addresses of the tools that an answer to `GET /tools` lists; undefined for any other answer.
 *
 * @param server address of the server, without a trailing slash
 */
export function listedTools(server: string, answer: Buffer): string[] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(answer.toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  return list.filter((each) => typeof each === "string").map((path) => addressAt(server, canonicalPath(path)));
}
