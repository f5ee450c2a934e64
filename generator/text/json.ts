/** Ordered JSON: created from pairs and literals, printed, parsed. */

import { type Json, JsonError, JsonObject, readOrdered } from "svc-runtime/internal/generator";

export { type Json, JsonObject };

/** Creates an ordered object from pairs; omits pairs that are `undefined` or `false`. */
export function object(...pairs: readonly (readonly [string, Json] | undefined | false)[]): JsonObject {
  const members = new Map<string, Json>();
  for (const pair of pairs) if (pair) members.set(pair[0], pair[1]);
  return new JsonObject(members);
}

type Plain = Json | readonly Plain[] | { readonly [name: string]: Plain | undefined };

/**
 * Creates ordered JSON from an object literal; omits members that are `undefined`. Not for names that are integers,
 * which JavaScript sorts: use {@link object} for those.
 */
export function ordered(members: { readonly [name: string]: Plain | undefined }): JsonObject {
  return orderedValue(members) as JsonObject;
}

function orderedValue(value: Plain): Json {
  if (value === null || typeof value !== "object" || value instanceof JsonObject) return value;
  if (Array.isArray(value)) return value.map(orderedValue);
  return object(
    ...Object.entries(value).map(([name, member]) => member !== undefined && ([name, orderedValue(member)] as const)),
  );
}

/** Prints compact JSON. */
export function printJson(value: Json): string {
  if (typeof value === "bigint") return value.toString();
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (!(value instanceof JsonObject)) return `[${value.map(printJson).join(",")}]`;
  return `{${Array.from(value.members, ([name, member]) => `${JSON.stringify(name)}:${printJson(member)}`).join(",")}}`;
}

/** @throws {@link JsonError} with the byte offset, or with the line of a merge conflict */
export function readJson(text: string): Json {
  const conflict = /^<{7} /m.exec(text)?.index;
  if (conflict !== undefined) {
    const line = text.slice(0, conflict).split("\n").length;
    const message = `line ${line} begins a merge conflict (<<<<<<<): resolve it, or let svc-gen write the file anew`;
    throw Object.assign(new JsonError("expected no merge conflict", conflict), { message });
  }
  return readOrdered(Buffer.from(text));
}

/** Whether an error is a stack overflow, because the data is nested too deeply for recursion. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.startsWith("Maximum call stack");
}
