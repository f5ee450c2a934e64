/** JSON that preserves the digits of numbers and the order of members. */

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
  let at = 0;

  function fail(what: string): never {
    const before = text.slice(0, at).split("\n");
    throw new JsonFault(`line ${before.length}, column ${(before.at(-1) ?? "").length + 1}: ${what}`);
  }
  const space = () => {
    while (at < text.length && " \t\r\n".includes(text[at] as string)) at++;
  };
  const take = (sign: string) => {
    space();
    if (text[at] !== sign) return false;
    at++;
    return true;
  };

  function string(): string {
    const from = at;
    for (at++; text[at] !== '"'; at++) {
      if (at >= text.length) fail("unterminated string");
      if (text[at] === "\\") at++;
    }
    at++;
    try {
      return JSON.parse(text.slice(from, at)) as string;
    } catch {
      at = from;
      return fail("invalid string");
    }
  }

  function list(depth: number): Value[] {
    const items: Value[] = [];
    if (take("]")) return items;
    do items.push(value(depth));
    while (take(","));
    return take("]") ? items : fail("expected , or ]");
  }

  function object(depth: number): Map<string, Value> {
    const members = new Map<string, Value>();
    if (take("}")) return members;
    do {
      space();
      if (text[at] !== '"') fail('expected a member name in "quotes"');
      const name = string();
      if (!take(":")) fail("expected :");
      members.set(name, value(depth));
    } while (take(","));
    return take("}") ? members : fail("expected , or }");
  }

  function value(depth: number): Value {
    if (depth > MAX_DEPTH) fail(`more than ${MAX_DEPTH} levels`);
    if (take("{")) return object(depth + 1);
    if (take("[")) return list(depth + 1);
    if (text[at] === '"') return string();
    const word = /^[^\s,\]}[{":]+/.exec(text.slice(at, at + 400))?.[0] ?? "";
    if (word === "null" || word === "true" || word === "false") {
      at += word.length;
      return word === "null" ? null : word === "true";
    }
    if (!NUMBER.test(word)) fail(word === "" ? "expected a value" : "invalid value");
    at += word.length;
    return new Num(word);
  }

  const whole = value(0);
  space();
  return at < text.length ? fail("unexpected text after the value") : whole;
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
