/**
 * Selects the branches of a union that can fit a value without decoding the value: by the kind of the JSON value and,
 * for an object, by the presence, kinds and literals of its required members.
 */

import {
  ARRAY,
  DOUBLE,
  ESCAPED_STRING,
  FALSE,
  type JsonDocument,
  kindAt,
  LARGE_INTEGER,
  NULL,
  OBJECT,
  SMALL_INTEGER,
  STRING,
  TRUE,
} from "../../json/document.js";
import { membersByName, scalarOf } from "../../json/read.js";
import type { Codec, CodecOf } from "../contract.js";
import type { Steps } from "../decode-context.js";
import type { ResolveDefinition } from "../definitions.js";

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

/** A required member of an object branch. */
interface Requirement {
  readonly name: string;
  readonly kinds: number;
  readonly literals: ReadonlySet<unknown> | undefined;
}

/** Index of a union's branches, built at start-up. */
export class BranchFilter {
  /** Branch indexes by entry kind. */
  readonly #byKind: readonly (readonly number[])[];
  /** Required members of each branch; none for a branch that is not an object. */
  readonly #requirements: readonly (readonly Requirement[])[];
  /** Object branches by the required member that the fewest branches require. */
  readonly #byMember = new Map<string, number[]>();
  /** Branches without required members that can fit an object. */
  readonly #open: readonly number[];

  constructor(branches: readonly Codec[], resolve: ResolveDefinition) {
    const taken = branches.map((branch) => kindsOf(branch, resolve));
    this.#byKind = Array.from({ length: OBJECT + 1 }, (_, kind) =>
      [...branches.keys()].filter((at) => ((taken[at] as number) & (1 << kind)) !== 0),
    );
    this.#requirements = branches.map((branch) =>
      (objectOf(branch, resolve)?.members ?? [])
        .filter(({ optional }) => !optional)
        .map(({ name, codec }) => ({
          name,
          kinds: kindsOf(codec, resolve),
          literals: codec.kind === "literal" ? new Set(codec.values) : undefined,
        })),
    );
    this.#open = (this.#byKind[OBJECT] as readonly number[]).filter((at) => this.#requirements[at]?.length === 0);
    const counts = new Map<string, number>();
    for (const { name } of this.#requirements.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
    const countOf = ({ name }: Requirement) => counts.get(name) as number;
    for (const [at, required] of this.#requirements.entries()) {
      const [rarest] = required.toSorted((one, other) => countOf(one) - countOf(other));
      if (rarest !== undefined) this.#byMember.set(rarest.name, [...(this.#byMember.get(rarest.name) ?? []), at]);
    }
  }

  /**
   * Indexes, in declared order, of the branches that may fit an entry. No other branch can fit.
   *
   * @param steps counts the members of an object and the branches that are compared with them
   */
  candidates(document: JsonDocument, entry: number, steps: Steps | undefined): readonly number[] {
    const kind = kindAt(document, entry);
    const ofKind = this.#byKind[kind] as readonly number[];
    if (kind !== OBJECT || ofKind.length < 2) return ofKind;
    const members = membersByName(document, entry);
    const compared = [...members.keys()].flatMap((name) => this.#byMember.get(name) ?? []);
    steps?.take((members.size + compared.length) >> 3);
    const fitting = compared.filter((at) =>
      this.#requirements[at]?.every((required) => fits(document, members.get(required.name), required)),
    );
    return [...this.#open, ...fitting].sort((one, other) => one - other);
  }
}

/** Whether a member, by its tape index, has one of the required kinds or literals. */
function fits(document: JsonDocument, member: number | undefined, { kinds, literals }: Requirement): boolean {
  if (member === undefined || ((1 << kindAt(document, member)) & kinds) === 0) return false;
  return literals === undefined || literals.has(scalarOf(document, member));
}
