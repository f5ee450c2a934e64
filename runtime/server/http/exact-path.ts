/**
 * Exact paths. fastify's router decodes `%`, and reads `:` and `*` as patterns; a tool's path is matched byte for byte
 * (protocol.md section 9).
 */

import type { IncomingMessage } from "node:http";
import { StartupError } from "../errors/startup-error.js";

/** A character that fastify's router does not match literally. */
const ODD = /[^\w\-.~/@!$&'+,;=]/g;

/** The path of a request as it was sent, without the query. */
export function pathOf({ url = "" }: IncomingMessage): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}

/** @throws {@link StartupError} for a path that fastify's router does not match literally */
export function plainPath(path: string): string {
  if (path.search(ODD) === -1) return path;
  throw new StartupError(
    `path ${JSON.stringify(path)}: expected letters, digits and -._~/@!$&'+,;= for a tool mounted in an application, got other characters; change path(), or use bootstrap`,
  );
}

/** Replaces odd characters of a path by characters that no request line contains, for the router. */
export function routedPath(path: string): string {
  return path.replace(ODD, (character) => String.fromCharCode(character.charCodeAt(0) + 0x100));
}

/** The fastify option `rewriteUrl`, which maps request paths to {@link routedPath}; empty when no prefix needs it. */
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
