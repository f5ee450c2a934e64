/** Finds the members of an input that its type does not declare, which the decoder ignores. */

import type { Codec, Contract } from "../contract.js";
import { pathText } from "../fault.js";
import { ARRAY, after, firstIn, type JsonDocument, kindAt, OBJECT, valueOfKey } from "../json/document.js";
import { stringOf } from "../json/read.js";
import { parseJson } from "../json/scan.js";

/** An undeclared member. */
export interface Undeclared {
  /** The path of the object that has the member: declared names, and `[]` for items. Empty for the input itself. */
  readonly at: string;
  /** The name of the member, which is text of the caller. */
  readonly name: string;
  /** The declared names of that object. */
  readonly declared: readonly string[];
}

/** Maximum number of values that are visited. */
const MAX_VISITS = 1_000;
/** Maximum number of members that are returned. */
const MAX_FOUND = 10;

/**
 * The first undeclared members of a body of plain JSON. Unions and objects with index signatures are skipped: in a
 * union the name may be meant for another branch, and an index signature leaves names to the caller.
 */
export function undeclaredMembers({ input, definitions = [] }: Contract, body: Uint8Array): Undeclared[] {
  const document = parseJson(body);
  const named = new Map(definitions);
  const found: Undeclared[] = [];
  let visits = 0;
  const members = (entry: number, at: string, declared: ReadonlyMap<string, Codec>) => {
    const end = after(document, entry);
    for (let key = firstIn(entry); key < end && found.length < MAX_FOUND; key = after(document, valueOfKey(key))) {
      if (visits++ >= MAX_VISITS) return;
      const name = stringOf(document, key);
      const codec = declared.get(name);
      if (codec === undefined) found.push({ at, name, declared: [...declared.keys()] });
      else visit(valueOfKey(key), below(at, name), codec);
    }
  };
  const visit = (entry: number, at: string, codec: Codec): void => {
    const known = codec.kind === "ref" ? named.get(codec.name) : codec;
    const kind = kindAt(document, entry);
    if (known?.kind === "object" && kind === OBJECT && known.rest === undefined && known.patterns === undefined) {
      members(entry, at, new Map(known.members.map((member) => [member.name, member.codec])));
    } else if (known?.kind === "array" && kind === ARRAY) items(entry, at, known.item);
    else if (known?.kind === "wrapped") visit(entry, at, known.item);
  };
  const items = (entry: number, at: string, codec: Codec) => {
    const end = after(document, entry);
    for (let item = firstIn(entry); item < end && visits++ < MAX_VISITS; item = after(document, item)) {
      visit(item, `${at}[]`, codec);
    }
  };
  const codecOf = ({ many, codec, list }: (typeof input)[number]): Codec =>
    many ? (list ?? { kind: "array", item: codec }) : codec;
  if (isObject(document)) members(0, "", new Map(input.map((port) => [port.name, codecOf(port)])));
  return found;
}

function isObject(document: JsonDocument): boolean {
  return kindAt(document, 0) === OBJECT;
}

function below(at: string, name: string): string {
  const step = pathText([name]);
  return at === "" || step.startsWith("[") ? `${at}${step}` : `${at}.${step}`;
}
