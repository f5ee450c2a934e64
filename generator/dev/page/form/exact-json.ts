/** JSON that preserves the digits of numbers. */

import { parse } from "lossless-json";
import { MAX_DEPTH } from "svc-runtime/internal/protocol";

/** A number, with its digits as written. */
export class Num {
  constructor(readonly text: string) {}
}

export type Value = null | boolean | string | Num | readonly Value[] | ReadonlyMap<string, Value>;

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

/** Invalid JSON. `message` has the line and column. */
export class JsonFault extends Error {}

export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** @throws JsonFault */
export function parseValue(text: string): Value {
  try {
    const parseNumber = (digits: string) => new Num(digits);
    return withMaps(parse(text, undefined, { parseNumber, onDuplicateKey: ({ newValue }) => newValue }));
  } catch (error) {
    const { message } = error as Error;
    const position = / at position (\d+)$/.exec(message);
    const before = text.slice(0, Number(position?.[1] ?? 0)).split("\n");
    const column = (before.at(-1) ?? "").length + 1;
    throw new JsonFault(`line ${before.length}, column ${column}: ${message.slice(0, position?.index)}`);
  }
}

/** Converts objects to maps, in which a name such as `constructor` is nothing special. */
function withMaps(parsed: unknown, depth = 0): Value {
  if (depth > MAX_DEPTH) throw new RangeError(`more than ${MAX_DEPTH} levels`);
  if (typeof parsed !== "object" || parsed === null || parsed instanceof Num) return parsed as Value;
  if (Array.isArray(parsed)) return parsed.map((item) => withMaps(item, depth + 1));
  return new Map(Object.entries(parsed).map(([name, member]) => [name, withMaps(member, depth + 1)]));
}

/** Prints JSON indented by two spaces, with short lists on one line. */
export function printValue(value: Value, indent = ""): string {
  if (value instanceof Num) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}  `;
  const block = (open: string, parts: readonly string[], close: string) =>
    parts.length === 0 ? open + close : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
  if (isList(value)) {
    const parts = value.map((item) => printValue(item, inner));
    const line = `[${parts.join(", ")}]`;
    return line.length <= 60 && !line.includes("\n") ? line : block("[", parts, "]");
  }
  const members = [...value].map(([name, member]) => `${JSON.stringify(name)}: ${printValue(member, inner)}`);
  return block("{", members, "}");
}

export function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && printValue(a) === printValue(b));
}

export type ValueStep = string | number;

/** The value at a path; undefined if there is none. */
export function valueAt(value: Value | undefined, path: readonly ValueStep[]): Value | undefined {
  let at = value;
  for (const step of path) {
    at = isList(at)
      ? at[Number(step)]
      : at instanceof Map
        ? (at as ReadonlyMap<string, Value>).get(String(step))
        : undefined;
  }
  return at;
}

/** A copy of `value` with `next` at a path; undefined removes the member or item. */
export function replaceAt(value: Value, path: readonly ValueStep[], next: Value | undefined): Value {
  const [step, ...rest] = path;
  if (step === undefined) return next ?? null;
  if (isList(value)) {
    const at = Number(step);
    if (rest.length === 0 && next === undefined) return value.filter((_, i) => i !== at);
    const items = [...value];
    items[at] = replaceAt(items[at] ?? null, rest, next);
    return items;
  }
  const members = new Map(value instanceof Map ? (value as ReadonlyMap<string, Value>) : []);
  if (rest.length === 0 && next === undefined) members.delete(String(step));
  else members.set(String(step), replaceAt(members.get(String(step)) ?? null, rest, next));
  return members;
}
