/** Random types of ports, random edits of them, and random values of the types. */

import type { Random } from "../types/random.js";
import { toolSource } from "./project.js";

type Type =
  | { k: "leaf"; text: string }
  | { k: "literals"; texts: string[] }
  | { k: "list"; item: Type }
  | { k: "tuple"; items: Type[]; optional: number; rest?: Type }
  | { k: "object"; members: Member[]; rest?: Type }
  | { k: "union"; branches: Type[] }
  | { k: "ref"; name: string };

interface Member {
  name: string;
  optional: boolean;
  tags: string[];
  type: Type;
}

/** A port with its named types. */
export interface PortType {
  port: Member;
  named: { name: string; type: Type }[];
}

const NAMES = ["a", "b", "c", "kind", "x-y", "10"];
const LEAVES = ["string", "number", "boolean", "Date", "Uint8Array", "unknown", "null", "bigint"];
const LITERALS = ['"a"', '"b"', '"c"', '"other"', "1", "2", "2.5", "true"];
const TAGS: Readonly<Record<string, readonly string[]>> = {
  string: ["@minLength 1", "@maxLength 9", "@maxLength 3", "@pattern ^a*$", "@pattern ^[a-z]+$", "@format email"],
  number: [
    "@minimum 0",
    "@minimum 1",
    "@maximum 9.5",
    "@maximum 100",
    "@exclusiveMinimum 0",
    "@exclusiveMaximum 2",
    "@multipleOf 0.5",
  ],
  list: ["@minItems 1", "@minItems 2", "@maxItems 4", "@maxItems 2", "@uniqueItems"],
  bigint: ["@format int64", "@format uint64"],
};

function tagsOf(random: Random, type: Type): string[] {
  const kind = type.k === "leaf" ? type.text : type.k;
  const chosen = (TAGS[kind] ?? []).filter(() => random.chance(0.2));
  // One tag of each name.
  const tags = chosen.filter((tag, at) => at === chosen.findIndex((each) => each.split(" ")[0] === tag.split(" ")[0]));
  // Without texts that no value could fit.
  if (tags.includes("@format email")) return ["@format email"];
  if (kind === "number" && random.chance(0.3)) tags.push("@asType integer");
  return tags;
}

function member(random: Random, name: string, depth: number): Member {
  const type = randomType(random, depth);
  // A required member of a recursive type would never end.
  return { name, optional: mayRecur(type) || random.chance(0.35), tags: tagsOf(random, type), type };
}

/** Whether every value of a type may hold one of a named type. */
function mayRecur(type: Type): boolean {
  if (type.k === "ref") return true;
  if (type.k === "union") return type.branches.some(mayRecur);
  if (type.k === "object") return type.members.some((each) => !each.optional && mayRecur(each.type));
  return type.k === "list" ? mayRecur(type.item) : type.k === "tuple" && type.items.some(mayRecur);
}

function members(random: Random, depth: number): Member[] {
  return NAMES.filter(() => random.chance(0.4)).map((name) => member(random, name, depth));
}

function randomType(random: Random, depth: number): Type {
  const simple: (() => Type)[] = [
    () => ({ k: "leaf", text: random.pick(LEAVES) }),
    () => ({ k: "leaf", text: random.pick(["string", "number"]) }),
    () => ({
      k: "literals",
      texts: LITERALS.filter(() => random.chance(0.4))
        .concat('"a"')
        .slice(0, 3),
    }),
    () => ({ k: "ref", name: random.pick(["Node", "Shared"]) }),
  ];
  if (depth <= 0) return random.pick(simple)();
  const nested: (() => Type)[] = [
    () => ({ k: "list", item: randomType(random, depth - 1) }),
    () => {
      const items = [0, 1, 2].filter((at) => at === 0 || random.chance(0.5)).map(() => randomType(random, depth - 1));
      const rest = random.chance(0.3) ? { rest: randomType(random, 0) } : {};
      return { k: "tuple", items, optional: random.below(items.length), ...rest };
    },
    () => ({ k: "object", members: members(random, depth - 1) }),
    () => ({ k: "object", members: members(random, depth - 1) }),
    () => ({ k: "object", members: [], rest: randomType(random, depth - 1) }),
    () => ({ k: "union", branches: [randomType(random, depth - 1), randomType(random, depth - 1)] }),
    () => ({ k: "union", branches: ['"a"', '"b"', '"c"'].map((kind) => variant(random, kind, depth - 1)) }),
  ];
  return random.pick(random.chance(0.7) ? nested : simple)();
}

function variant(random: Random, kind: string, depth: number): Type {
  const type: Type = { k: "literals", texts: [kind] };
  const others = members(random, depth).filter(({ name }) => name !== "kind");
  return { k: "object", members: [{ name: "kind", optional: false, tags: [], type }, ...others] };
}

export function randomPort(random: Random): PortType {
  const label: Member = { name: "label", optional: false, tags: [], type: { k: "leaf", text: "string" } };
  const next: Member = { name: "next", optional: true, tags: [], type: { k: "ref", name: "Node" } };
  const named = [
    { name: "Node", type: { k: "object" as const, members: [label, next, ...members(random, 1).slice(0, 2)] } },
    { name: "Shared", type: { k: "object" as const, members: [member(random, "s", 1), member(random, "t", 0)] } },
  ];
  return { port: member(random, "p", 3), named };
}

// Source text

function textOf(type: Type): string {
  switch (type.k) {
    case "leaf":
      return type.text;
    case "literals":
      return [...new Set(type.texts)].join(" | ");
    case "list":
      return `(${textOf(type.item)})[]`;
    case "tuple": {
      const items = type.items.map((item, at) =>
        at < type.items.length - type.optional ? textOf(item) : `(${textOf(item)})?`,
      );
      return `[${[...items, ...(type.rest === undefined ? [] : [`...(${textOf(type.rest)})[]`])].join(", ")}]`;
    }
    case "object": {
      const rest = type.rest === undefined ? "" : `[name: string]: ${textOf(type.rest)};\n`;
      return `{\n${type.members.map(memberText).join("")}${rest}}`;
    }
    case "union":
      return type.branches.map((branch) => `(${textOf(branch)})`).join(" | ");
    case "ref":
      return type.name;
  }
}

function memberText({ name, optional, tags, type }: Member): string {
  const comment = tags.length === 0 ? "" : `/**\n${tags.map((tag) => ` * ${tag}\n`).join("")} */\n`;
  return `${comment}${JSON.stringify(name)}${optional ? "?" : ""}: ${textOf(type)};\n`;
}

/** A tool whose input has the port, and whose result has it too. */
export function sourceOf({ port, named }: PortType, name: string): string {
  const declared = named.map((each) => `export type ${each.name} = ${textOf(each.type)};\n`).join("");
  return toolSource(name, `{\n${memberText(port)}}`, `{ ok: {\n${memberText(port)}} }`, declared);
}

// Edits

interface Slot {
  readonly type: Type;
  readonly set: (type: Type) => void;
  /** The member that the type is of. */
  readonly member?: Member;
}

function slotsOf({ port, named }: PortType): Slot[] {
  const found: Slot[] = [];
  const visit = (type: Type, set: (type: Type) => void, of?: Member): void => {
    found.push({ type, set, ...(of && { member: of }) });
    if (type.k === "list") visit(type.item, (item) => Object.assign(type, { item }));
    if (type.k === "tuple") {
      for (const [at, item] of type.items.entries()) visit(item, (next) => type.items.splice(at, 1, next));
    }
    if (type.k === "object") {
      for (const each of type.members) visit(each.type, (next) => Object.assign(each, { type: next }), each);
    }
    if ((type.k === "object" || type.k === "tuple") && type.rest !== undefined)
      visit(type.rest, (rest) => Object.assign(type, { rest }));
    if (type.k === "union") {
      for (const [at, branch] of type.branches.entries()) visit(branch, (next) => type.branches.splice(at, 1, next));
    }
  };
  visit(port.type, (type) => Object.assign(port, { type }), port);
  for (const each of named) visit(each.type, (type) => Object.assign(each, { type }));
  return found;
}

/** The type after one to three edits. */
export function edited(random: Random, before: PortType): PortType {
  const after = structuredClone(before);
  for (let edits = 1 + random.below(2), tries = 0; edits > 0 && tries < 30; tries++) {
    if (edit(random, after)) edits--;
  }
  return after;
}

/** Edits in place; false where the picked edit does not apply. */
function edit(random: Random, after: PortType): boolean {
  const slot = random.pick(slotsOf(after));
  const { type, set, member: of } = slot;
  const reset = (next: Type) => {
    set(next);
    if (mayRecur(next) && of !== undefined) of.optional = true;
    if (of !== undefined) of.tags = tagsOf(random, next);
  };
  const objectEdits: (() => boolean)[] = [
    () => type.k === "object" && type.members.reverse().length > 1,
    () => type.k === "object" && type.members.length > 0 && type.members.splice(0, 1).length > 0,
    () => {
      if (type.k !== "object") return false;
      const added = member(random, `n${random.below(100)}`, 1);
      type.members.push({ ...added, optional: added.optional || random.chance(0.5) });
      return true;
    },
  ];
  const edits: (() => boolean)[] = [
    ...objectEdits,
    ...objectEdits,
    () => {
      if (of === undefined || mayRecur(type)) return false;
      of.optional = !of.optional;
      return true;
    },
    () => {
      if (of === undefined) return false;
      of.tags = tagsOf(random, type);
      return true;
    },
    () => type.k === "union" && type.branches.reverse().length > 1,
    () => type.k === "union" && type.branches.length > 1 && type.branches.splice(0, 1).length > 0,
    () => type.k === "union" && of !== undefined && of.optional && type.branches.push(randomType(random, 1)) > 0,
    () => type.k === "literals" && type.texts.push(random.pick(LITERALS)) > 0,
    () => type.k === "literals" && type.texts.length > 1 && type.texts.splice(0, 1).length > 0,
    () => {
      if (type.k !== "ref") return false;
      const target = after.named.find(({ name }) => name === type.name);
      if (target === undefined) return false;
      set(structuredClone(target.type));
      return true;
    },
    () => {
      const { name } = random.pick(after.named);
      for (const each of slotsOf(after))
        if (each.type.k === "ref" && each.type.name === name) each.type.name = `${name}2`;
      for (const each of after.named) if (each.name === name) each.name = `${name}2`;
      return true;
    },
    () => {
      reset({ k: "union", branches: [type, { k: "leaf", text: "null" }] });
      return true;
    },
    () => {
      const next = randomType(random, 1);
      if (of === undefined && mayRecur(next)) return false;
      reset(next);
      return true;
    },
    () => {
      reset({ k: "list", item: type });
      return true;
    },
    () => {
      if ((type.k !== "tuple" && type.k !== "list") || mayRecur(type)) return false;
      reset(
        type.k === "tuple"
          ? { k: "list", item: type.items[0] as Type }
          : { k: "tuple", items: [type.item], optional: 0, rest: type.item },
      );
      return true;
    },
    () => {
      if (type.k !== "object" || type.members.length === 0 || type.rest !== undefined) return false;
      const name = random.pick(["Other", "Extra"]);
      if (after.named.some((each) => each.name === name)) return false;
      after.named.push({ name, type });
      set({ k: "ref", name });
      return true;
    },
  ];
  return random.pick(edits)();
}

/** Takes all tags from a port. */
export function untagged(type: PortType): PortType {
  for (const { member: of } of slotsOf(type)) if (of !== undefined) of.tags = [];
  return type;
}

// Values

/** A value as an expression and as JSON, with its inner values. */
export interface TypedValue {
  readonly text: string;
  readonly json: string;
  readonly members?: readonly (readonly [name: string, value: TypedValue])[];
  readonly items?: readonly TypedValue[];
}

const scalar = (text: string, json = text): TypedValue => ({ text, json });

const recordValue = (members: readonly (readonly [string, TypedValue])[]): TypedValue => ({
  text: `{ ${members.map(([name, { text }]) => `${JSON.stringify(name)}: ${text}`).join(", ")} }`,
  json: `{${members.map(([name, { json }]) => `${JSON.stringify(name)}:${json}`).join(",")}}`,
  members,
});

const listValue = (items: readonly TypedValue[]): TypedValue => ({
  text: `[${items.map(({ text }) => text).join(", ")}]`,
  json: `[${items.map(({ json }) => json).join(",")}]`,
  items,
});

/** Values of all kinds, in place of which a type has others. */
const ANY_VALUES: readonly TypedValue[] = [
  ...['"a"', '"x-"', '"é"', '"1970-01-01T00:00:00.000Z"', '"AQID"', "1.5", "3", "true", "false", "null"].map((text) =>
    scalar(text),
  ),
  recordValue([]),
  listValue([]),
];

/** At the limits of the tags too. */
const STRINGS = ["", "a", "aa", "aaa", "aaaa", "b", "x-", "é", "other", "a@b.cd", "x".repeat(9), "x".repeat(10)];
const NUMBERS = ["0", "1", "2", "0.5", "1.5", "2.25", "9.5", "10", "100", "101", "-1", "-7.125"];

const LEAF_VALUES: Readonly<Record<string, readonly TypedValue[]>> = {
  string: STRINGS.map((text) => scalar(JSON.stringify(text))),
  number: NUMBERS.map((text) => scalar(text)),
  boolean: [scalar("true"), scalar("false")],
  null: [scalar("null")],
  bigint: ["5", "-1", "-9007199254740993", "18446744073709551615"].map((digits) => scalar(`${digits}n`, digits)),
  Date: [scalar("new Date(0)", '"1970-01-01T00:00:00.000Z"')],
  Uint8Array: [scalar("new Uint8Array([1, 2, 3])", '"AQID"')],
  unknown: ANY_VALUES,
};

/**
 * A value of the type of a port, whatever its tags say.
 *
 * @param sendsNull whether an absent member is there as null, as in results
 */
export function typedValue(random: Random, { port, named }: PortType, sendsNull = false): TypedValue {
  const several = (depth: number, type: Type) => {
    const length = random.chance(0.2) ? 5 : random.below(4);
    return Array.from({ length: depth > 0 ? length : 0 }, () => make(type, depth - 1));
  };
  const make = (type: Type, depth: number): TypedValue => {
    switch (type.k) {
      case "leaf":
        return random.pick(LEAF_VALUES[type.text] ?? []);
      case "literals":
        return scalar(random.pick(type.texts));
      case "list":
        return listValue(several(depth, type.item));
      case "tuple": {
        const least = type.items.length - type.optional;
        const length = depth > 0 ? least + random.below(type.optional + 1) : least;
        const rest = type.rest !== undefined && length === type.items.length ? several(depth, type.rest) : [];
        return listValue([...type.items.slice(0, length).map((item) => make(item, depth - 1)), ...rest]);
      }
      case "object": {
        const rest = type.rest === undefined ? [] : several(depth, type.rest);
        return recordValue([
          ...type.members.flatMap((each) => memberValue(each, depth)),
          ...rest.map((value, at) => [NAMES[at] as string, value] as const),
        ]);
      }
      case "union": {
        const ends = type.branches.filter((branch) => !mayRecur(branch));
        return make(random.pick(depth > 0 || ends.length === 0 ? type.branches : ends), depth - 1);
      }
      case "ref":
        return make((named.find(({ name }) => name === type.name) as { type: Type }).type, depth - 1);
    }
  };
  const memberValue = ({ name, optional, type }: Member, depth: number): (readonly [string, TypedValue])[] => {
    if (!optional || (depth > 0 && random.chance(0.6))) return [[name, make(type, depth - 1)]];
    return sendsNull ? [[name, scalar("null")]] : [];
  };
  return make(port.type, 4);
}

/** The value with one random place replaced or one member left out. */
export function spoil(value: TypedValue, random: Random): TypedValue {
  const inner = value.members?.length ?? value.items?.length ?? 0;
  if (inner > 0 && random.chance(0.75)) {
    const at = random.below(inner);
    if (value.members !== undefined) {
      if (random.chance(0.3)) return recordValue(value.members.filter((_, index) => index !== at));
      return recordValue(
        value.members.map(([name, each], index) => [name, index === at ? spoil(each, random) : each] as const),
      );
    }
    if (value.items !== undefined) {
      if (random.chance(0.2)) return listValue(value.items.slice(0, at));
      return listValue(value.items.map((each, index) => (index === at ? spoil(each, random) : each)));
    }
  }
  return random.pick(ANY_VALUES);
}
