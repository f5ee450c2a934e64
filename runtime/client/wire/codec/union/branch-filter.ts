/**
 * Selects the branches of a union that can fit a value without decoding the value: by the kind of the JSON value and,
 * for an object, by the presence, kinds and literals of its required members.
 */

import {
  ARRAY,
  after,
  DOUBLE,
  ESCAPED_STRING,
  FALSE,
  firstIn,
  type JsonDocument,
  kindAt,
  LARGE_INTEGER,
  NULL,
  OBJECT,
  SMALL_INTEGER,
  STRING,
  TRUE,
  valueOfKey,
} from "../../json/document.js";
import { scalarOf } from "../../json/read.js";
import type { Codec, CodecOf } from "../contract.js";
import type { Steps } from "../decode-context.js";
import type { ResolveDefinition } from "../definitions.js";
import { MemberNames } from "../member-names.js";

/** A set of entry kinds, one bit each. */
const kinds = (...all: readonly number[]) => all.reduce((set, kind) => set | (1 << kind), 0);

const ALL = kinds(NULL, FALSE, TRUE, SMALL_INTEGER, LARGE_INTEGER, DOUBLE, STRING, ESCAPED_STRING, ARRAY, OBJECT);
const BOOLEANS = kinds(FALSE, TRUE);
const NUMBERS = kinds(SMALL_INTEGER, DOUBLE);
const STRINGS = kinds(STRING, ESCAPED_STRING);

/** Entry kinds that a codec can accept. Includes every kind if the codec's kinds are unknown. */
function kindsOf(codec: Codec, resolve: ResolveDefinition, seen: ReadonlySet<string> = new Set()): number {
  switch (codec.kind) {
    case "json":
      return codec.except === "primitives" ? kinds(ARRAY, OBJECT) : codec.except === "null" ? ALL & ~kinds(NULL) : ALL;
    case "null":
      return kinds(NULL);
    case "boolean":
      return BOOLEANS;
    case "number":
      return NUMBERS;
    case "bigint":
      return kinds(SMALL_INTEGER, LARGE_INTEGER);
    case "string":
    case "date":
    case "bytes":
      return STRINGS;
    case "literal":
      return codec.values.reduce<number>((set, value) => set | kindsOfLiteral(value), 0);
    case "array":
    case "tuple":
      return kinds(ARRAY);
    case "object":
      return kinds(OBJECT);
    case "wrapped":
      return kindsOf(codec.item, resolve, seen);
    case "union":
      return codec.branches.reduce((set, branch) => set | kindsOf(branch, resolve, seen), 0);
    case "ref": {
      const target = resolve(codec.name);
      return target === undefined || seen.has(codec.name)
        ? ALL
        : kindsOf(target, resolve, new Set([...seen, codec.name]));
    }
  }
}

function kindsOfLiteral(value: string | number | boolean | null): number {
  if (value === null) return kinds(NULL);
  return typeof value === "string" ? STRINGS : typeof value === "number" ? NUMBERS : BOOLEANS;
}

/** Object codec after following references and wrappers; undefined if there is another codec. */
function objectOf(codec: Codec, resolve: ResolveDefinition): CodecOf<"object"> | undefined {
  const seen = new Set<Codec>();
  let at: Codec | undefined = codec;
  while (at !== undefined && !seen.has(at) && (at.kind === "ref" || at.kind === "wrapped")) {
    seen.add(at);
    at = at.kind === "ref" ? resolve(at.name) : at.item;
  }
  return at?.kind === "object" ? at : undefined;
}

interface Requirement {
  /** Index of the member's name in the filter's names. */
  readonly name: number;
  readonly kinds: number;
  readonly literals: ReadonlySet<unknown> | undefined;
}

/**
 * Index of branches by one required member: `ofLiteral` has the branches that require a certain literal there, `ofAny` the
 * others.
 */
interface Group {
  readonly ofLiteral: Map<unknown, number[]>;
  readonly ofAny: number[];
}

/** Index of a union's branches, built at start-up. */
export class BranchFilter {
  /** Branch indexes by entry kind. */
  readonly #byKind: readonly (readonly number[])[];
  readonly #names: MemberNames;
  readonly #requirements: readonly (readonly Requirement[])[];
  /** Object branches, each in the group of its most selective member (see `#group`). */
  readonly #groups: readonly Group[];
  /** Object branches without required members; they can fit any object. */
  readonly #open: readonly number[];
  /** For each required name, tape index of its value in the object read last; 0 if absent. */
  readonly #found: Int32Array;
  /** Indexes of the required names that the object read last has. */
  readonly #present: number[] = [];

  constructor(branches: readonly Codec[], resolve: ResolveDefinition) {
    const taken = branches.map((branch) => kindsOf(branch, resolve));
    this.#byKind = Array.from({ length: OBJECT + 1 }, (_, kind) =>
      [...branches.keys()].filter((at) => ((taken[at] as number) & (1 << kind)) !== 0),
    );
    const required = branches.map((branch) =>
      (objectOf(branch, resolve)?.members ?? []).filter(({ optional }) => !optional),
    );
    const indexes = new Map<string, number>();
    for (const { name } of required.flat()) if (!indexes.has(name)) indexes.set(name, indexes.size);
    this.#names = new MemberNames([...indexes.keys()]);
    this.#found = new Int32Array(indexes.size);
    this.#requirements = required.map((members) =>
      members.map(({ name, codec }) => ({
        name: indexes.get(name) as number,
        kinds: kindsOf(codec, resolve),
        literals: codec.kind === "literal" ? new Set(codec.values) : undefined,
      })),
    );
    this.#groups = Array.from(indexes, () => ({ ofLiteral: new Map(), ofAny: [] }));
    this.#open = (this.#byKind[OBJECT] as readonly number[]).filter((at) => this.#requirements[at]?.length === 0);
    this.#group();
  }

  /**
   * Indexes each branch by its most selective required member: the one whose name or literals occur in the fewest
   * branches.
   */
  #group(): void {
    const counts = new Map<unknown, number>();
    const keysOf = ({ name, literals }: Requirement) =>
      literals === undefined ? [`${name}`] : [...literals].map((value) => `${name} ${typeof value} ${value}`);
    const all = this.#requirements.flat();
    for (const key of all.flatMap(keysOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
    const score = (each: Requirement) => Math.max(...keysOf(each).map((key) => counts.get(key) as number));
    for (const [at, [first, ...others]] of this.#requirements.entries()) {
      if (first === undefined) continue;
      const rarest = others.reduce((best, each) => (score(each) < score(best) ? each : best), first);
      const { ofLiteral, ofAny } = this.#groups[rarest.name] as Group;
      if (rarest.literals === undefined) ofAny.push(at);
      for (const value of rarest.literals ?? []) ofLiteral.set(value, [...(ofLiteral.get(value) ?? []), at]);
    }
  }

  /**
   * Indexes, in declared order, of the branches that may fit an entry. No other branch can fit.
   *
   * @param steps counts the branches that are compared with the members of an object
   */
  candidates(document: JsonDocument, entry: number, steps: Steps | undefined): readonly number[] {
    const kind = kindAt(document, entry);
    const ofKind = this.#byKind[kind] as readonly number[];
    if (kind !== OBJECT || ofKind.length < 2) return ofKind;
    const found = this.#found;
    const groups = this.#groups;
    const names = this.#names;
    const open = this.#open;
    const present = this.#present;
    for (const name of present) found[name] = 0;
    present.length = 0;
    const end = after(document, entry);
    for (let key = firstIn(entry), next = 0; key < end; key = after(document, valueOfKey(key))) {
      const index = names.indexOf(document, key, next);
      if (index < 0) continue;
      if (found[index] === 0) present.push(index);
      found[index] = valueOfKey(key);
      next = index + 1;
    }
    const fitting: number[] = [...open];
    for (const name of present) {
      const { ofAny, ofLiteral } = groups[name] as Group;
      const ofValue = ofLiteral.size > 0 ? ofLiteral.get(literalOf(document, found[name] as number)) : undefined;
      steps?.take((ofAny.length + (ofValue?.length ?? 0)) >> 3);
      for (const at of ofAny) if (this.#fits(document, at)) fitting.push(at);
      for (const at of ofValue ?? []) if (this.#fits(document, at)) fitting.push(at);
    }
    return fitting.length > 1 ? fitting.sort((one, other) => one - other) : fitting;
  }

  /** Whether the object read last has all required members of a branch. */
  #fits(document: JsonDocument, branch: number): boolean {
    for (const { name, kinds, literals } of this.#requirements[branch] as readonly Requirement[]) {
      const value = this.#found[name] as number;
      if (value === 0 || ((1 << kindAt(document, value)) & kinds) === 0) return false;
      if (literals !== undefined && !literals.has(literalOf(document, value))) return false;
    }
    return true;
  }
}

/** Value of a scalar entry, for comparison with literals; undefined for arrays and objects. */
function literalOf(document: JsonDocument, entry: number): unknown {
  return kindAt(document, entry) < ARRAY ? scalarOf(document, entry) : undefined;
}
