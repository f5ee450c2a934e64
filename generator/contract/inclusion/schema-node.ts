/**
 * Normal form of schemas. A node is a conjunction of schemas. Its values are those of its atoms; an atom has values of
 * one JSON type. References are followed on demand, so recursive schemas stay finite.
 */

import { formats } from "svc-runtime/internal/generator";
import { INTEGER_RANGES, plainInteger } from "../../compile/keywords.js";
import { type Json, JsonObject, object, printJson } from "../../text/json.js";
import {
  dereferenced,
  listAt,
  namedSchemas,
  pointerStep,
  referenceOf,
  referencePointer,
  resolveReference,
  typeNames,
  valuesOf,
} from "../schema-reader.js";

export type Bound = number | bigint;

/** Values of one JSON type. The keywords in `unjudged`, which cannot be evaluated, may exclude some of them. */
export type Atom = { readonly unjudged: readonly string[] } & (
  | { readonly kind: "literal"; readonly value: SampleValue }
  | NumberAtom
  | TextAtom
  | ListAtom
  | ObjectAtom
);

export interface NumberAtom {
  readonly kind: "number";
  readonly integer: boolean;
  readonly min: Bound;
  readonly max: Bound;
  readonly minOpen: boolean;
  readonly maxOpen: boolean;
  readonly multiples: readonly number[];
  readonly wide: (typeof WIDE)[keyof typeof WIDE];
}

/**
 * Whether an atom accepts integers beyond ±(2^53−1). `number` does not; for `integer` without a format the metadata
 * does not say. A conjunction has the larger of two values.
 */
export const WIDE = { any: 0, unknown: 1, yes: 2, no: 3 } as const;

export interface TextAtom {
  readonly kind: "string";
  readonly min: number;
  readonly max: number;
  readonly patterns: readonly string[];
  readonly formats: readonly string[];
}

export interface ListAtom {
  readonly kind: "array";
  readonly prefix: readonly Node[];
  readonly rest: Node;
  readonly min: number;
  readonly max: number;
  readonly unique: boolean;
}

export interface ObjectAtom {
  readonly kind: "object";
  readonly members: ReadonlyMap<string, ObjectMember>;
  readonly patterns: ReadonlyMap<string, Node>;
  /**
   * Type of other members. `undeclared`: the receiver accepts any value, and the sender sends no such member.
   * `unsaid`: the schema has no keyword for members.
   */
  readonly rest: Node | "undeclared" | "unsaid";
  readonly nodes: SchemaNodes;
}

export interface ObjectMember {
  readonly node: Node;
  readonly required: boolean;
}

/** Value without an example, such as a string with a pattern. */
export class Unspecified {
  constructor(readonly node: Node) {}
}

export type SampleValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly SampleValue[]
  | ReadonlyMap<string, SampleValue>
  | Unspecified;

export interface SchemaPlace {
  /** JSON pointer in the metadata document. */
  readonly pointer: string;
  readonly schema: Json;
}

/** Document in which references are resolved. */
export interface SchemaDocument extends SchemaPlace {
  readonly schema: JsonObject;
}

interface Part extends SchemaDocument {
  readonly id: number;
  readonly document: SchemaDocument;
}

export class Node {
  #atoms: readonly Atom[] | undefined;

  constructor(
    readonly id: string,
    /** Undefined for the nodes `any` and `never`. */
    readonly place: SchemaPlace | undefined,
    readonly parts: readonly Part[],
    readonly isNever: boolean,
    readonly nodes: SchemaNodes,
  ) {}

  get isAny(): boolean {
    return !this.isNever && this.parts.length === 0 && this.#atoms === undefined;
  }

  get atoms(): readonly Atom[] {
    if (this.isNever) return [];
    if (this.#atoms !== undefined) return this.#atoms;
    const { atoms, isComplete } = this.nodes.atomsOf(this.parts);
    if (isComplete && this.parts.length > 0) this.#atoms = atoms;
    return atoms;
  }

  set atoms(atoms: readonly Atom[]) {
    this.#atoms = atoms;
  }
}

/** Thrown if the normal form of a schema is too large. */
export class TooLarge extends Error {}

const MAX_ATOMS = 2000;

const TYPES = ["null", "boolean", "number", "string", "array", "object"];

/** Keywords that cannot be evaluated; their texts are compared. */
const UNJUDGED = [
  "not",
  "if",
  "then",
  "else",
  "contains",
  "minContains",
  "maxContains",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "$dynamicRef",
  "$recursiveRef",
];

/** Keywords that constrain a value directly, rather than by another schema. */
const OWN = [
  ...["type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"],
  ...["minLength", "maxLength", "pattern", "contentEncoding", "items", "prefixItems", "minItems", "maxItems"],
  ...["uniqueItems", "properties", "patternProperties", "additionalProperties", "required"],
  ...UNJUDGED,
];

/** Format name used for `contentEncoding: "base64"`. */
export const BASE64 = "base64";
const BASE64_TEXT = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Creates the nodes of a comparison, one for each conjunction of schemas. */
export class SchemaNodes {
  readonly #parts = new Map<JsonObject, Part>();
  readonly #nodes = new Map<string, Node>();
  readonly #ofAtoms = new Map<Atom, Node>();
  readonly #open = new Set<Part>();
  #isComplete = true;
  #ids = 0;
  readonly any = new Node("any", undefined, [], false, this);
  readonly never = new Node("never", undefined, [], true, this);
  readonly #all: readonly Atom[] = this.#ownAtoms({
    schema: object(),
    document: { schema: object(), pointer: "" },
    pointer: "",
  });

  node(document: SchemaDocument, schema: Json | undefined, pointer: string): Node {
    if (schema === false) return this.never;
    if (!(schema instanceof JsonObject)) return this.any;
    let part = this.#parts.get(schema);
    if (part === undefined) {
      part = { id: this.#ids++, document, schema, pointer };
      this.#parts.set(schema, part);
    }
    return this.#nodeOf([part]);
  }

  /** Returns the node whose values are valid for all of the nodes. */
  conjoin(...nodes: readonly Node[]): Node {
    const [only, ...more] = new Set(nodes.filter(({ isAny }) => !isAny));
    if (only === undefined) return this.any;
    if (more.length === 0) return only;
    if (nodes.some(({ isNever }) => isNever)) return this.never;
    return this.#nodeOf([...new Set([only, ...more].flatMap(({ parts }) => parts))]);
  }

  /**
   * Returns the node of an atom.
   *
   * @param origin node that has the position of the atom
   */
  ofAtom(atom: Atom, origin: Node): Node {
    let node = this.#ofAtoms.get(atom);
    if (node === undefined) {
      node = new Node(`atom ${this.#ids++}`, origin.place, origin.parts, false, this);
      node.atoms = [atom];
      this.#ofAtoms.set(atom, node);
    }
    return node;
  }

  #nodeOf(parts: readonly Part[]): Node {
    const id = parts
      .map((part) => part.id)
      .sort((a, b) => a - b)
      .join("&");
    let node = this.#nodes.get(id);
    if (node === undefined) {
      node = new Node(id, parts[0], parts, false, this);
      this.#nodes.set(id, node);
    }
    return node;
  }

  atomsOf(parts: readonly Part[]): { readonly atoms: readonly Atom[]; readonly isComplete: boolean } {
    const isOutermost = this.#open.size === 0;
    if (isOutermost) this.#isComplete = true;
    let atoms: readonly Atom[] | undefined;
    for (const part of parts) {
      const own = this.#atomsOfPart(part);
      atoms = atoms === undefined ? own : this.#meetAll(atoms, own);
    }
    return { atoms: atoms ?? this.#all, isComplete: isOutermost || this.#isComplete };
  }

  #atomsOfPart(part: Part): readonly Atom[] {
    // A schema that refers directly to itself adds no values.
    if (this.#open.has(part)) {
      this.#isComplete = false;
      return [];
    }
    this.#open.add(part);
    try {
      return this.#allKeywords(part);
    } finally {
      this.#open.delete(part);
    }
  }

  /** Atoms that satisfy all keywords of a schema. */
  #allKeywords(part: Part): readonly Atom[] {
    const { schema, document, pointer } = part;
    // Atoms of a referenced type are shared, not copied, so that each pair of atoms is compared once.
    let atoms = OWN.some((keyword) => schema.members.has(keyword)) ? this.#ownAtoms(part) : this.#all;
    const values = valuesOf(schema);
    if (values !== undefined) {
      const literals = values.map((each): Atom => ({ kind: "literal", value: sampleValueOf(each), unjudged: [] }));
      atoms = this.#meetAll(atoms, literals);
    }
    for (const keyword of ["anyOf", "oneOf", "allOf"]) {
      if (!schema.members.has(keyword)) continue;
      const nodes = listAt(schema, keyword).map((each, index) =>
        this.node(document, each, `${pointer}/${keyword}/${index}`),
      );
      if (keyword === "allOf") for (const node of nodes) atoms = this.#meetAll(atoms, node.atoms);
      else {
        const all = new Set(nodes.flatMap((node) => node.atoms));
        atoms = this.#meetAll(atoms, [...all]);
      }
    }
    const reference = referenceOf(schema);
    if (reference !== undefined) {
      const target = dereferenced(schema, document.schema);
      if (target === undefined) atoms = atoms.map((atom) => ({ ...atom, unjudged: [...atom.unjudged, reference] }));
      else
        atoms = this.#meetAll(atoms, this.node(document, target, referencePointer(document.pointer, reference)).atoms);
    }
    return atoms;
  }

  #ownAtoms({ schema, document, pointer }: Omit<Part, "id">): Atom[] {
    const isUntyped = schema.get("type") === undefined;
    const types = isUntyped ? TYPES : typeNames(schema);
    const count = (name: string, otherwise: number) => {
      const value = schema.get(name);
      return typeof value === "number" ? value : otherwise;
    };
    const child = (at: string, value: Json | undefined) => this.node(document, value, `${pointer}/${at}`);
    const unjudged = UNJUDGED.flatMap((name) => {
      const value = schema.get(name);
      return value === undefined ? [] : [`${name} ${textWithTargets(value, document.schema)}`];
    });
    const atoms: Atom[] = [];
    for (const type of types) {
      if (type === "null") atoms.push({ kind: "literal", value: null, unjudged });
      else if (type === "boolean") {
        for (const value of [false, true]) atoms.push({ kind: "literal", value, unjudged });
      } else if (type === "number" || type === "integer") {
        atoms.push({ ...numberAtom(schema, type, isUntyped || types.includes("object")), unjudged });
      } else if (type === "string") {
        const [pattern, format] = [schema.get("pattern"), schema.get("format")];
        const isBytes = schema.get("contentEncoding") === BASE64;
        const checked = typeof format === "string" && Object.hasOwn(formats, format) ? [format] : [];
        atoms.push({
          kind: "string",
          min: count("minLength", 0),
          max: count("maxLength", Number.POSITIVE_INFINITY),
          patterns: typeof pattern === "string" ? [pattern] : [],
          formats: isBytes ? [...checked, BASE64] : checked,
          unjudged,
        });
      } else if (type === "array") {
        const nodes = listAt(schema, "prefixItems").map((each, at) => child(`prefixItems/${at}`, each));
        const rest = child("items", schema.get("items"));
        const most = count("maxItems", Number.POSITIVE_INFINITY);
        atoms.push({
          kind: "array",
          prefix: nodes,
          rest,
          min: count("minItems", 0),
          max: rest.isNever ? Math.min(most, nodes.length) : most,
          unique: schema.get("uniqueItems") === true,
          unjudged,
        });
      } else if (type === "object") atoms.push({ ...this.#objectAtom(schema, child), unjudged });
    }
    return atoms;
  }

  #objectAtom(schema: JsonObject, child: (at: string, value: Json | undefined) => Node): ObjectAtom {
    const required = new Set(listAt(schema, "required"));
    const patterns = new Map(
      [...namedSchemas(schema, "patternProperties")].map(([name, value]) => [
        name,
        child(`patternProperties/${pointerStep(name)}`, value),
      ]),
    );
    const members = new Map<string, ObjectMember>();
    for (const [name, value] of namedSchemas(schema, "properties")) {
      const node = child(`properties/${pointerStep(name)}`, value);
      members.set(name, { node: this.conjoin(node, ...matching(patterns, name)), required: required.has(name) });
    }
    const others = schema.get("additionalProperties");
    const hasNames = schema.members.has("properties") || patterns.size > 0;
    const rest = others === undefined ? (hasNames ? "undeclared" : "unsaid") : child("additionalProperties", others);
    const atom: ObjectAtom = { kind: "object", members, patterns, rest, nodes: this };
    for (const name of required) {
      if (typeof name === "string" && !members.has(name))
        members.set(name, { node: admitted(atom, name), required: true });
    }
    return atom;
  }

  /** Atoms of the values that one of `some` and one of `others` accept. */
  #meetAll(some: readonly Atom[], others: readonly Atom[]): readonly Atom[] {
    if (some === this.#all || others === this.#all) return some === this.#all ? others : some;
    if (some.length * others.length > MAX_ATOMS * 10) throw new TooLarge();
    const met = some.flatMap((one) => others.flatMap((other) => this.#meet(one, other) ?? []));
    if (met.length > MAX_ATOMS) throw new TooLarge();
    return met;
  }

  /** Conjunction of two atoms; undefined if it has no values. */
  #meet(one: Atom, other: Atom): Atom | undefined {
    const unjudged = [...new Set([...one.unjudged, ...other.unjudged])];
    if (other.kind === "literal" && one.kind !== "literal") return this.#meet(other, one);
    if (one.kind === "literal") return accepts(other, one.value) === false ? undefined : { ...one, unjudged };
    if (one.kind === "number" && other.kind === "number") {
      const low = one.min > other.min || (one.min === other.min && one.minOpen) ? one : other;
      const top = one.max < other.max || (one.max === other.max && one.maxOpen) ? one : other;
      return {
        kind: "number",
        integer: one.integer || other.integer,
        min: low.min,
        minOpen: low.minOpen,
        max: top.max,
        maxOpen: top.maxOpen,
        multiples: [...new Set([...one.multiples, ...other.multiples])],
        wide: Math.max(one.wide, other.wide) as NumberAtom["wide"],
        unjudged,
      };
    }
    if (one.kind === "string" && other.kind === "string") {
      return {
        kind: "string",
        min: Math.max(one.min, other.min),
        max: Math.min(one.max, other.max),
        patterns: [...new Set([...one.patterns, ...other.patterns])],
        formats: [...new Set([...one.formats, ...other.formats])],
        unjudged,
      };
    }
    if (one.kind === "array" && other.kind === "array") {
      const places = Math.max(one.prefix.length, other.prefix.length);
      return {
        kind: "array",
        prefix: Array.from({ length: places }, (_, at) => this.conjoin(itemAt(one, at), itemAt(other, at))),
        rest: this.conjoin(one.rest, other.rest),
        min: Math.max(one.min, other.min),
        max: Math.min(one.max, other.max),
        unique: one.unique || other.unique,
        unjudged,
      };
    }
    if (one.kind === "object" && other.kind === "object") return this.#meetObjects(one, other, unjudged);
    return undefined;
  }

  #meetObjects(one: ObjectAtom, other: ObjectAtom, unjudged: readonly string[]): Atom {
    const members = new Map<string, ObjectMember>();
    for (const name of new Set([...one.members.keys(), ...other.members.keys()])) {
      const node = this.conjoin(admitted(one, name), admitted(other, name));
      const required = [one, other].some((each) => each.members.get(name)?.required === true);
      members.set(name, { node, required });
    }
    const names = new Set([...one.patterns.keys(), ...other.patterns.keys()]);
    const patterns = new Map(
      [...names].map((name) => [name, this.conjoin(...[one, other].flatMap((each) => each.patterns.get(name) ?? []))]),
    );
    // The names that `additionalProperties` covers depend on its sibling `patternProperties`.
    const differ = names.size !== one.patterns.size || names.size !== other.patterns.size;
    const nodes = [one.rest, other.rest].filter((rest) => rest instanceof Node);
    const rest =
      nodes.length > 0
        ? this.conjoin(...nodes)
        : one.rest === "unsaid" && other.rest === "unsaid"
          ? "unsaid"
          : "undeclared";
    const doubt = differ && nodes.length > 0 ? [`patternProperties ${this.#ids++}`] : [];
    return { kind: "object", members, patterns, rest, nodes: this, unjudged: [...unjudged, ...doubt] };
  }
}

/** @param isAny whether the schema also allows values of other types, so that large integers are not excluded */
function numberAtom(schema: JsonObject, type: string, isAny: boolean): NumberAtom {
  const bound = (name: string) => {
    const value = schema.get(name);
    return typeof value === "number" || typeof value === "bigint" ? value : undefined;
  };
  const known = type === "integer" ? INTEGER_RANGES.get(schema.get("format")) : undefined;
  const [lowest, highest] = known ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let [min, max]: [Bound, Bound] = [bound("minimum") ?? lowest, bound("maximum") ?? highest];
  let [minOpen, maxOpen] = [false, false];
  if (min < lowest) min = lowest;
  if (max > highest) max = highest;
  const [above, below] = [bound("exclusiveMinimum"), bound("exclusiveMaximum")];
  if (above !== undefined && above >= min) [min, minOpen] = [above, true];
  if (below !== undefined && below <= max) [max, maxOpen] = [below, true];
  const multiple = schema.get("multipleOf");
  const multiples = typeof multiple === "number" && multiple > 0 ? [multiple] : [];
  const integer = type === "integer";
  const named = integer ? (known === undefined ? WIDE.unknown : WIDE.yes) : WIDE.no;
  const atom = { integer, min, max, minOpen, maxOpen, multiples, wide: isAny ? WIDE.any : named };
  return { kind: "number", ...(integer ? closed(atom) : atom) };
}

type Bounds = Pick<NumberAtom, "min" | "max" | "minOpen" | "maxOpen">;

/** Converts bounds of integers to inclusive bounds. */
export function closed<T extends Bounds>(atom: T): T {
  const { min, max, minOpen, maxOpen } = atom;
  const up = typeof min === "bigint" ? min : Math.ceil(min);
  const down = typeof max === "bigint" ? max : Math.floor(max);
  return {
    ...atom,
    min: minOpen && up === min ? next(up, 1) : up,
    max: maxOpen && down === max ? next(down, -1) : down,
    minOpen: false,
    maxOpen: false,
  };
}

/** Adds a step to a bound, without rounding. */
export function next(bound: Bound, step: 1 | -1): Bound {
  return Number.isInteger(bound) || typeof bound === "bigint"
    ? plainInteger(BigInt(bound) + BigInt(step))
    : bound + step;
}

/** Text of a keyword's value, followed by all definitions that the value refers to. */
function textWithTargets(value: Json, document: JsonObject): string {
  const seen = new Set<string>();
  const texts: string[] = [];
  const visit = (json: Json): void => {
    if (Array.isArray(json)) for (const each of json) visit(each);
    if (!(json instanceof JsonObject)) return;
    for (const [name, each] of json.members) {
      if (name === "$ref" && typeof each === "string" && !seen.has(each)) {
        seen.add(each);
        const target = resolveReference(document, each);
        texts.push(`${each} ${target === undefined ? "" : printJson(target)}`);
        if (target !== undefined) visit(target);
      } else visit(each);
    }
  };
  visit(value);
  return [printJson(value), ...texts].join(" ");
}

export function itemAt({ prefix, rest }: ListAtom, index: number): Node {
  return prefix[index] ?? rest;
}

/** Node of the values that a member of this name may have. */
export function admitted(atom: ObjectAtom, name: string): Node {
  const declared = atom.members.get(name);
  if (declared !== undefined) return declared.node;
  const byPattern = matching(atom.patterns, name);
  if (byPattern.length > 0) return atom.nodes.conjoin(...byPattern);
  return restOf(atom);
}

/** Node of the values of undeclared members. */
export function restOf({ rest, nodes }: ObjectAtom): Node {
  return rest instanceof Node ? rest : nodes.any;
}

function matching(patterns: ReadonlyMap<string, Node>, name: string): Node[] {
  return [...patterns].flatMap(([pattern, node]) => (regExp(pattern)?.test(name) ? [node] : []));
}

const compiled = new Map<string, RegExp | undefined>();

function regExp(pattern: string): RegExp | undefined {
  if (!compiled.has(pattern)) {
    let made: RegExp | undefined;
    try {
      made = new RegExp(pattern, "u");
    } catch {}
    compiled.set(pattern, made);
  }
  return compiled.get(pattern);
}

function sampleValueOf(json: Json): SampleValue {
  if (Array.isArray(json)) return json.map(sampleValueOf);
  if (json instanceof JsonObject) return new Map([...json.members].map(([name, each]) => [name, sampleValueOf(each)]));
  return json as SampleValue;
}

/** Compares the nodes of values without an example; undefined if unknown. */
type IsWithin = (inner: Node, outer: Node) => boolean | undefined;

const unknown: IsWithin = () => undefined;

/** Whether one of the atoms accepts a value; undefined if that is not decided. */
export function acceptsAny(
  atoms: readonly Atom[],
  value: SampleValue,
  isWithin: IsWithin = unknown,
): boolean | undefined {
  let verdict: boolean | undefined = false;
  for (const atom of atoms) {
    const fits = accepts(atom, value, isWithin);
    if (fits) return true;
    if (fits === undefined) verdict = undefined;
  }
  return verdict;
}

function acceptsNode(node: Node, value: SampleValue, isWithin: IsWithin): boolean | undefined {
  if (node.isAny) return true;
  return value instanceof Unspecified ? isWithin(value.node, node) : acceptsAny(node.atoms, value, isWithin);
}

/** Whether an atom accepts a value; undefined if that depends on keywords that are not judged. */
export function accepts(atom: Atom, value: SampleValue, isWithin: IsWithin = unknown): boolean | undefined {
  const fits = acceptsJudged(atom, value, isWithin);
  return fits && atom.unjudged.length > 0 ? undefined : fits;
}

/** The same without the keywords that are not judged. */
function acceptsJudged(atom: Atom, value: SampleValue, isWithin: IsWithin): boolean | undefined {
  if (value instanceof Unspecified) return isWithin(value.node, value.node.nodes.ofAtom(atom, value.node));
  switch (atom.kind) {
    case "literal":
      return isEqual(atom.value, value);
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? acceptsNumber(atom, value) : false;
    case "string":
      return typeof value === "string" && acceptsText(atom, value);
    case "array": {
      if (!Array.isArray(value)) return false;
      if (value.length < atom.min || value.length > atom.max) return false;
      const fits = every(value.map((item: SampleValue, at) => acceptsNode(itemAt(atom, at), item, isWithin)));
      if (!atom.unique || !fits) return fits;
      const pairs = value.flatMap((one, at) => value.slice(at + 1).map((other) => isEqual(one, other)));
      return pairs.includes(true) ? false : pairs.includes(undefined) ? undefined : true;
    }
    case "object": {
      if (!(value instanceof Map)) return false;
      for (const [name, { required }] of atom.members) if (required && !value.has(name)) return false;
      return every([...value].map(([name, each]) => acceptsNode(admitted(atom, name), each as SampleValue, isWithin)));
    }
  }
}

function every(verdicts: readonly (boolean | undefined)[]): boolean | undefined {
  if (verdicts.includes(false)) return false;
  return verdicts.includes(undefined) ? undefined : true;
}

function acceptsNumber(atom: NumberAtom, value: Bound): boolean | undefined {
  const { min, max, minOpen, maxOpen, multiples, integer, wide } = atom;
  if (value < min || value > max || (minOpen && value === min) || (maxOpen && value === max)) return false;
  const isBig = typeof value === "bigint";
  if (integer && !isBig && !Number.isInteger(value)) return false;
  if (!multiples.every((each) => Number.isInteger(isBig ? Number(value) / each : value / each))) return false;
  if (!isBig || wide === WIDE.any || wide === WIDE.yes) return true;
  return wide === WIDE.no ? false : undefined;
}

function acceptsText({ min, max, patterns, formats: names }: TextAtom, text: string): boolean | undefined {
  const length = text.length < min ? text.length : [...text].length;
  if (length < min || length > max) return false;
  if (names.some((name) => !(name === BASE64 ? BASE64_TEXT.test(text) : formats[name]?.(text)))) return false;
  const verdicts = patterns.map((pattern) => regExp(pattern)?.test(text));
  return every(verdicts);
}

/** Undefined if the result depends on a value without an example. */
export function isEqual(one: SampleValue, other: SampleValue): boolean | undefined {
  if (one instanceof Unspecified || other instanceof Unspecified) return undefined;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return every(one.map((each: SampleValue, at) => isEqual(each, other[at] as SampleValue)));
  }
  if (one instanceof Map) {
    if (!(other instanceof Map) || one.size !== other.size) return false;
    return every(
      [...one].map(([name, each]) => other.has(name) && isEqual(each as SampleValue, other.get(name) as SampleValue)),
    );
  }
  // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint may be the same integer
  return one === other || (isNumeric(one) && isNumeric(other) && one == other);
}

function isNumeric(value: SampleValue): value is Bound {
  return typeof value === "number" || typeof value === "bigint";
}
