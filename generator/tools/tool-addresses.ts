/** Addresses of servers and their tools. */

/** Address of a server with default settings. */
export const DEFAULT_SERVER = "http://127.0.0.1:8080";

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Address of the tool at a canonical path. */
export function addressAt(server: string, path: string): string {
  return path === "" ? server : `${server}/${path}`;
}
