/**
 * JSON whose objects keep their textual order. JavaScript objects sort integer-like keys, and the order of members is
 * the order of ports, so schemas never pass through one.
 */

export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

/** An object as an ordered map. A repeated name keeps its first position and its last value, as in `Map.set`. */
export class JsonObject {
  constructor(readonly members: ReadonlyMap<string, Json>) {}

  get(name: string): Json | undefined {
    return this.members.get(name);
  }
}

/** Makes an ordered object from pairs. Pairs that are `undefined` or `false` are left out. */
export function object(...pairs: readonly (readonly [string, Json] | undefined | false)[]): JsonObject {
  const members = new Map<string, Json>();
  for (const pair of pairs) if (pair) members.set(pair[0], pair[1]);
  return new JsonObject(members);
}

/** Prints JSON: compact, or with `indent` spaces a level in the layout of `serde_json` and `JSON.stringify`. */
export function printJson(value: Json, indent = 0, level = 0): string {
  if (typeof value === "bigint") return value.toString();
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const margin = indent > 0 ? `\n${" ".repeat(indent * (level + 1))}` : "";
  let text = "";
  const add = (item: string) => {
    text += `${text === "" ? "" : ","}${margin}${item}`;
  };
  if (Array.isArray(value)) for (const item of value) add(printJson(item, indent, level + 1));
  else {
    const colon = indent > 0 ? ": " : ":";
    for (const [name, member] of (value as JsonObject).members) {
      add(`${JSON.stringify(name)}${colon}${printJson(member, indent, level + 1)}`);
    }
  }
  const end = text === "" || indent === 0 ? "" : `\n${" ".repeat(indent * level)}`;
  return Array.isArray(value) ? `[${text}${end}]` : `{${text}${end}}`;
}

const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in texts
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;

/**
 * Parses JSON. Integers beyond ±(2^53−1) become bigints.
 *
 * @throws {SyntaxError} that names the offset
 */
export function readJson(text: string): Json {
  let at = 0;
  const fail = (wanted: string): never => {
    throw new SyntaxError(`JSON: ${wanted} expected at offset ${at}`);
  };
  const next = (): RegExpExecArray => {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text) ?? fail("a value");
    at = TOKEN.lastIndex;
    return token;
  };
  const value = (token: RegExpExecArray, depth: number): Json => {
    if (depth > 127) fail("less nesting");
    if (token[2] !== undefined) return JSON.parse(token[2]) as string;
    if (token[3] !== undefined) return number(token[3]) ?? fail("a number within the doubles");
    if (token[4] !== undefined) return JSON.parse(token[4]) as boolean | null;
    if (token[1] === "[") return array(depth);
    if (token[1] === "{") return members(depth);
    return fail("a value");
  };
  const array = (depth: number): Json => {
    const items: Json[] = [];
    for (let token = next(); token[1] !== "]"; token = next()) {
      items.push(value(token, depth + 1));
      const after = next();
      if (after[1] === "]") return items;
      if (after[1] !== ",") fail("a comma");
    }
    return items.length === 0 ? items : fail("a value");
  };
  const members = (depth: number): Json => {
    const map = new Map<string, Json>();
    for (let token = next(); token[1] !== "}"; token = next()) {
      const name = token[2] === undefined ? fail("a member name") : (JSON.parse(token[2]) as string);
      if (next()[1] !== ":") fail("a colon");
      map.set(name, value(next(), depth + 1));
      const after = next();
      if (after[1] === "}") return new JsonObject(map);
      if (after[1] !== ",") fail("a comma");
    }
    return map.size === 0 ? new JsonObject(map) : fail("a member name");
  };
  const result = value(next(), 0);
  if (text.slice(at).trim() !== "") fail("the end");
  return result;
}

/** Undefined beyond the range of doubles, where `Number` gives an infinity. */
function number(text: string): number | bigint | undefined {
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}
