/** Addresses of servers and their tools. */

/** Address of a server with default settings. */
export const DEFAULT_SERVER = "http://127.0.0.1:8080";

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Ends a message about a URL: names the scheme that a text with a host and a port lacks. */
export function schemeAdvice(text: string): string {
  return /^[\w.-]+:\d{1,5}(?:\/|$)/.test(text) ? `: the scheme is missing: write http://${text}` : "";
}

/** Address of the tool at a canonical path. */
export function addressAt(server: string, path: string): string {
  return path === "" ? server : `${server}/${path}`;
}
