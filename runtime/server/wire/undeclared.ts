/** Finds members of an input that its type does not declare. The decoder ignores such members. */

import type { Codec, Contract } from "svc-client/internal/wire/codec/contract";
import { pathText } from "svc-client/internal/wire/fault";
import { ARRAY, after, firstIn, kindAt, OBJECT, valueOfKey } from "svc-client/internal/wire/json/document";
import { stringOf } from "svc-client/internal/wire/json/read";
import { parseJson } from "svc-client/internal/wire/json/scan";

export interface Undeclared {
  /** Path of the object that has the member: declared names, and `[]` for items. Empty for the input itself. */
  readonly at: string;
  /** Name of the member, as the caller sent it. */
  readonly name: string;
  /** Declared names of that object. */
  readonly declared: readonly string[];
}

const MAX_VISITS = 1_000;
const MAX_FOUND = 10;

/**
 * First undeclared members of a body of plain JSON. Skips unions and objects with index signatures: another branch, or
 * the index signature, may allow the name.
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
  if (kindAt(document, 0) === OBJECT) members(0, "", new Map(input.map((port) => [port.name, codecOf(port)])));
  return found;
}

function below(at: string, name: string): string {
  const step = pathText([name]);
  return at === "" || step.startsWith("[") ? `${at}${step}` : `${at}.${step}`;
}
