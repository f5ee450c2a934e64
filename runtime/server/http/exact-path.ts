/**
 * Matches a tool's path byte for byte (protocol.md section 9). fastify's router decodes `%` and treats `:` and `*` as
 * patterns.
 */

import type { IncomingMessage } from "node:http";
import { StartupError } from "../errors/startup-error.js";

/** Characters that fastify's router does not match literally. */
const ODD = /[^\w\-.~/@!$&'+,;=]/g;

/** Path of a request as it was sent, without the query. */
export function pathOf({ url = "" }: IncomingMessage): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}

/** @throws {@link StartupError} if fastify's router does not match the path literally */
export function plainPath(path: string): string {
  if (path.search(ODD) === -1) return path;
  throw new StartupError(
    `path ${JSON.stringify(path)}: expected letters, digits and -._~/@!$&'+,;= for a tool mounted in an application, got other characters; change path(), or use bootstrap`,
  );
}

/** Replaces characters that the router does not match literally by characters that no request line contains. */
export function routedPath(path: string): string {
  return path.replace(ODD, (character) => String.fromCharCode(character.charCodeAt(0) + 0x100));
}

/** fastify's option `rewriteUrl`, which maps request paths to {@link routedPath}; empty if no prefix needs it. */
export function rewriteUrlFor(prefixes: readonly string[]) {
  const odd = new Set(prefixes.filter((prefix) => prefix.search(ODD) !== -1));
  if (odd.size === 0) return {};
  const rewriteUrl = (request: IncomingMessage) => {
    const { url = "" } = request;
    const path = pathOf(request);
    const isOdd = odd.has(path.slice(0, path.lastIndexOf("/")));
    return isOdd ? routedPath(path) + url.slice(path.length) : url;
  };
  return { rewriteUrl };
}
