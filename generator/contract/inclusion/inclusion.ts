/**
 * Checks that the receiving schema accepts every value of the sending schema. The result is a proof, counterexamples,
 * or "not decided". While two nodes are compared, they are assumed to be included, so that recursion ends.
 */

import { isMultiple } from "svc-runtime/internal/generator";
import { describe, isEmpty, isEmptyAtom, listOf, sampleOf, samplesOf } from "./samples.js";
import {
  type Atom,
  accepts,
  acceptsAny,
  admitted,
  itemAt,
  type ListAtom,
  Node,
  type NumberAtom,
  type ObjectAtom,
  type ObjectMember,
  restOf,
  type SampleValue,
  type SchemaPlace,
  type TextAtom,
  TooLarge,
  Unspecified,
  WIDE,
} from "./schema-node.js";

/** A value of the sending schema that the receiving schema rejects. */
export interface ExcludedValue {
  /** False if the comparison could not be decided. */
  readonly certain: boolean;
  readonly sent: SchemaPlace | undefined;
  readonly taken: SchemaPlace | undefined;
  /** Description of the value, or the reason why the comparison could not be decided. */
  readonly what: string;
  readonly witness: SampleValue | undefined;
}

export interface InclusionOptions {
  /** Whether the sender sends null for an absent optional member whose type allows null. */
  readonly sendsNull: boolean;
  /** Whether both sides must declare the same members. */
  readonly exact: boolean;
  /** Whether the sender may send undeclared members, which a closed object refuses. */
  readonly sendsUndeclared?: boolean;
  /** Whether two patterns match the same texts; by default if they are equal. */
  readonly isSamePattern?: (sent: string, taken: string) => boolean;
}

/** Maximum number of comparisons of atoms. */
const MAX_STEPS = 50_000;
const MAX_SPLITS = 6;
const MAX_PARTS = 64;

/** Finds values of `sent` that `taken` rejects; empty if it accepts all. */
export function findExcluded(sent: Node, taken: Node, options: InclusionOptions): readonly ExcludedValue[] {
  try {
    return excludedValues(sent, taken, options);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    const what = "the types are too large to compare";
    return [{ certain: false, sent: sent.place, taken: taken.place, what, witness: undefined }];
  }
}

/**
 * Like {@link findExcluded}.
 *
 * @throws TooLarge if the types are too large to compare
 */
export function excludedValues(sent: Node, taken: Node, options: InclusionOptions): readonly ExcludedValue[] {
  return new Inclusion(options).nodes(sent, taken);
}

type Kind<K extends Atom["kind"]> = Atom & { readonly kind: K };

class Inclusion {
  readonly #options: InclusionOptions;
  readonly #isSamePattern: (sent: string, taken: string) => boolean;
  /** Pairs that are proved to be included, or assumed to be while they are compared. */
  readonly #included = new Set<string>();
  readonly #excluded = new Map<string, readonly ExcludedValue[]>();
  readonly #ids = new Map<object, number>();
  #exact: Inclusion | undefined;
  #steps = 0;

  constructor(options: InclusionOptions) {
    this.#options = options;
    this.#isSamePattern = options.isSamePattern ?? ((sent, taken) => sent === taken);
  }

  nodes(sent: Node, taken: Node): readonly ExcludedValue[] {
    if (taken.isAny) return [];
    return this.#compare(sent, taken, () =>
      sent.atoms.flatMap((atom) => this.#atom(atom, sent, taken, taken.atoms, 0)),
    );
  }

  /** Compares a pair, unless it was compared before or is being compared. */
  #compare(sent: object, taken: object, compare: () => readonly ExcludedValue[]): readonly ExcludedValue[] {
    const pair = `${this.#idOf(sent)} ${this.#idOf(taken)}`;
    if (this.#included.has(pair)) return [];
    const known = this.#excluded.get(pair);
    if (known !== undefined) return known;
    const before = this.#included.size;
    this.#included.add(pair);
    const failures = compare();
    if (failures.length === 0) return [];
    // This pair is not included. Pairs that were proved during the comparison may depend on the assumption that it is.
    for (const each of [...this.#included].slice(before)) this.#included.delete(each);
    const distinct = distinctFailures(failures);
    this.#excluded.set(pair, distinct);
    return distinct;
  }

  #idOf(compared: object): number {
    const id = this.#ids.get(compared) ?? this.#ids.size;
    this.#ids.set(compared, id);
    return id;
  }

  #atom(atom: Atom, sent: Node, taken: Node, branches: readonly Atom[], splits: number): readonly ExcludedValue[] {
    if (isEmptyAtom(atom)) return [];
    const fail = (certain: boolean, what: string, witness?: SampleValue): readonly ExcludedValue[] => [
      { certain, sent: sent.place, taken: taken.place, what, witness },
    ];
    if (atom.kind === "literal") {
      const fits = acceptsAny(branches, atom.value, this.#isWithin);
      if (fits) return [];
      if (fits === false) return fail(true, describe(atom.value), atom.value);
      const isSame = branches.some((each) => judges(atom, each) && accepts({ ...each, unjudged: [] }, atom.value));
      return isSame ? [] : fail(false, "keywords that svc-gen does not compare differ", atom.value);
    }
    const possible = branches.filter((each) => !this.#areDisjoint(atom, each));
    const results: (readonly ExcludedValue[])[] = [];
    for (const branch of possible) {
      const found = this.#pair(atom, branch, sent, taken);
      if (found.length === 0) return [];
      results.push(found);
    }
    const [only, ...more] = results;
    if (only !== undefined && more.length === 0 && possible[0]?.kind !== "literal") return only;
    if (possible.length === 0) {
      const [witness] = samplesOf(atom, sent);
      if (witness === undefined) return fail(false, "cannot tell whether the type has any value");
      return fail(true, phrase(witness, sent), witness);
    }
    for (const parts of splits < MAX_SPLITS ? this.#splits(atom, sent, possible) : []) {
      const failures = parts.flatMap((part) => this.#atom(part, sent, taken, possible, splits + 1));
      if (failures.length === 0) return [];
      if (failures.some(({ certain }) => certain)) return failures.filter(({ certain }) => certain);
    }
    const witnesses = results.flat().flatMap(({ witness }) => (witness === undefined ? [] : [witness]));
    const candidates = [...witnesses, ...merged(witnesses), ...samplesOf(atom, sent, 0, limitsOf(branches))];
    const excluded = candidates.find(
      (each) => accepts(atom, each, this.#isWithin) !== false && acceptsAny(branches, each, this.#isWithin) === false,
    );
    if (excluded !== undefined) return fail(true, phrase(excluded, sent), excluded);
    return fail(false, "cannot tell whether the branches together accept every value");
  }

  readonly #isWithin = (inner: Node, outer: Node): boolean | undefined => {
    if (outer.isAny) return true;
    if (inner.atoms.every((one) => outer.atoms.every((other) => this.#areDisjoint(one, other)))) return false;
    return this.nodes(inner, outer).length === 0 ? true : undefined;
  };

  /** Whether two atoms provably have no value in common. */
  #areDisjoint(one: Atom, other: Atom, depth = 0): boolean {
    if (other.kind === "literal") return accepts(one, other.value) === false;
    if (one.kind === "literal") return accepts(other, one.value) === false;
    if (one.kind !== other.kind) return true;
    if (one.kind === "object" && other.kind === "object" && depth < 3) {
      for (const name of new Set([...one.members.keys(), ...other.members.keys()])) {
        const [own, its] = [one.members.get(name), other.members.get(name)];
        if (own?.required !== true && its?.required !== true) continue;
        if (its?.required && own === undefined && one.rest === "undeclared" && one.patterns.size === 0) return true;
        const [mine, yours] = [admitted(one, name), admitted(other, name)];
        if (mine.isAny || yours.isAny) continue;
        if (mine.atoms.every((a) => yours.atoms.every((b) => this.#areDisjoint(a, b, depth + 1)))) return true;
      }
      return false;
    }
    return haveDisjointRanges(one, other);
  }

  #pair(atom: Exclude<Atom, Kind<"literal">>, branch: Atom, sent: Node, taken: Node): readonly ExcludedValue[] {
    if (++this.#steps > MAX_STEPS) throw new TooLarge();
    const found = this.#compare(atom, branch, () => this.#typed(atom, branch, sent, taken));
    if (judges(atom, branch)) return found;
    if (found.some(({ certain }) => certain)) return found;
    const keyword = branch.unjudged.find((each) => !atom.unjudged.includes(each))?.split(" ")[0] ?? "";
    const what = `svc-gen does not compare ${keyword}`;
    return [...found, { certain: false, sent: sent.place, taken: taken.place, what, witness: undefined }];
  }

  #typed(atom: Exclude<Atom, Kind<"literal">>, branch: Atom, sent: Node, taken: Node): readonly ExcludedValue[] {
    if (atom.kind === "number" && branch.kind === "number") return this.#scalar(numberFits, atom, branch, sent, taken);
    if (atom.kind === "string" && branch.kind === "string")
      return this.#scalar(this.#textFits, atom, branch, sent, taken);
    if (atom.kind === "array" && branch.kind === "array") return this.#lists(atom, branch, sent, taken);
    if (atom.kind === "object" && branch.kind === "object") return this.#objects(atom, branch, sent, taken);
    const witness = samplesOf(atom, sent, 0, limitsOf([branch])).find((each) => accepts(branch, each) === false);
    return [{ certain: witness !== undefined, sent: sent.place, taken: taken.place, what: "a value", witness }];
  }

  #scalar<K extends "number" | "string">(
    fits: (one: Kind<K>, other: Kind<K>) => true | string,
    atom: Kind<K>,
    branch: Kind<K>,
    sent: Node,
    taken: Node,
  ): readonly ExcludedValue[] {
    const doubt = fits(atom, branch);
    if (doubt === true) return [];
    const witness = samplesOf(atom, sent, 0, limitsOf([branch])).find(
      (each) => acceptsAny([branch], each, this.#isWithin) === false,
    );
    const certain = witness !== undefined;
    const what = certain ? phrase(witness, sent) : doubt;
    return [{ certain, sent: sent.place, taken: taken.place, what, witness }];
  }

  readonly #textFits = (one: TextAtom, other: TextAtom): true | string => {
    if (one.min < other.min || one.max > other.max) return "the lengths differ";
    const isKept = (pattern: string) => one.patterns.some((each) => this.#isSamePattern(each, pattern));
    if (!other.patterns.every(isKept)) return "patterns are not compared";
    return other.formats.every((each) => one.formats.includes(each)) || "formats are not compared with patterns";
  };

  #lists(atom: Kind<"array">, branch: Kind<"array">, sent: Node, taken: Node): readonly ExcludedValue[] {
    const places = { sent: sent.place, taken: taken.place };
    const failures: ExcludedValue[] = [];
    const length = (count: number) => {
      const witness = listOf(atom, count);
      const certain = witness !== undefined || !atom.unique;
      const what = certain ? `a list of ${count}` : "cannot compare lengths of lists with uniqueItems";
      failures.push({ certain, ...places, what, witness });
    };
    if (atom.min < branch.min) length(atom.min);
    const most = longest(atom);
    if (most > branch.max) length(Math.max(branch.max + 1, atom.min));
    if (branch.unique && !atom.unique && most > 1) {
      const witness = listOf(atom, Math.max(2, atom.min));
      const certain = witness !== undefined && accepts(branch, witness, this.#isWithin) === false;
      const what = certain ? "a list with equal items" : "cannot compare uniqueItems for these items";
      failures.push({ certain, ...places, what, witness: certain ? witness : undefined });
    }
    if (branch.unique && atom.unique && most > 1 && !this.#options.exact) {
      // After decoding, items that differ only in an undeclared member are equal.
      this.#exact ??= new Inclusion({ ...this.#options, exact: true });
      const exact = this.#exact;
      const pairs = [...atom.prefix.keys(), atom.prefix.length].map(
        (at) => [itemAt(atom, at), itemAt(branch, at)] as const,
      );
      if (pairs.some(([one, other]) => exact.nodes(one, other).length > 0)) {
        const what = "cannot compare uniqueItems if items have undeclared members";
        failures.push({ certain: false, ...places, what, witness: undefined });
      }
    }
    const fixed = Math.max(atom.prefix.length, branch.prefix.length);
    for (let at = 0; at <= fixed && at < Math.min(most, branch.max); at++) {
      for (const failure of this.nodes(itemAt(atom, at), itemAt(branch, at))) {
        const whole = listOf(atom, Math.max(at + 1, atom.min));
        const { witness } = failure;
        if (whole !== undefined && witness !== undefined) whole[at] = witness;
        const lifted = witness === undefined ? undefined : whole;
        failures.push(withPlaces({ ...failure, witness: lifted }, sent, taken));
      }
    }
    return failures;
  }

  #objects(atom: Kind<"object">, branch: Kind<"object">, sent: Node, taken: Node): readonly ExcludedValue[] {
    const failures: ExcludedValue[] = [];
    const seen = new Set<string>();
    const least = (): Map<string, SampleValue> => {
      const required = [...atom.members].filter(([, each]) => this.#isSent(each));
      return new Map(required.map(([name, { node }]) => [name, sampleOf(node, 1)]));
    };
    const fail = (certain: boolean, what: string, witness: SampleValue | undefined) =>
      failures.push({ certain, sent: sent.place, taken: taken.place, what, witness });
    const lift = (name: string, found: readonly ExcludedValue[], certain = true) => {
      for (const { witness, ...failure } of found) {
        // One example for each position is enough: a member may refer to many definitions.
        if (seen.has(failureKey(failure))) continue;
        seen.add(failureKey(failure));
        const lifted = witness === undefined ? undefined : least().set(name, witness);
        const each = withPlaces({ ...failure, witness: lifted }, sent, taken);
        failures.push(certain ? each : { ...each, certain: false, witness: undefined });
      }
    };
    const quotedName = (name: string) => JSON.stringify(name);
    for (const name of new Set([...atom.members.keys(), ...branch.members.keys()])) {
      const [member, other] = [atom.members.get(name), branch.members.get(name)];
      if (member?.node.isNever && !member.required) {
        if (other?.required) fail(true, `an object without ${quotedName(name)}`, least());
        continue;
      }
      if (other?.required && !(member !== undefined && this.#isSent(member))) {
        fail(true, `an object without ${quotedName(name)}`, least());
      }
      if (member !== undefined) {
        if (isEmpty(member.node)) continue;
        const target = admitted(branch, name);
        if (other === undefined && target.isNever) {
          const value = sampleOf(member.node, 1);
          fail(true, `the member ${quotedName(name)}`, least().set(name, value));
        } else if (this.#options.exact && other === undefined && branch.rest === "undeclared") {
          fail(true, `the member ${quotedName(name)}`, undefined);
        } else lift(name, this.nodes(member.node, target));
      } else if (other !== undefined) {
        const rest = admitted(atom, name);
        if (atom.rest === "unsaid") lift(name, this.nodes(rest, other.node), false);
        else if (atom.rest !== "undeclared" || !rest.isAny) lift(name, this.nodes(rest, other.node));
      }
    }
    const isSentPattern = (taken: string) => [...atom.patterns.keys()].some((each) => this.#isSamePattern(each, taken));
    for (const [pattern, node] of atom.patterns) {
      const targets = [...branch.patterns].flatMap(([each, target]) =>
        this.#isSamePattern(pattern, each) ? [target] : [],
      );
      // Names that match two patterns of the sender have values of both.
      const others = [...branch.patterns.keys()].some((each) => !isSentPattern(each));
      const target = targets.length > 0 ? sent.nodes.conjoin(...targets) : restOf(branch);
      const found = others ? [...this.nodes(node, target), unlike(sent, taken)] : this.nodes(node, target);
      const name = ["x", "a", "0", "A", "x-a"].find(
        (each) => matchesOnly(atom, each, pattern) && !branch.members.has(each) && admitted(branch, each) === target,
      );
      lift(name ?? "x", found, name !== undefined && !others);
    }
    if (atom.rest instanceof Node && !isEmpty(atom.rest)) {
      const name = freshName(atom, branch);
      lift(name, this.nodes(atom.rest, restOf(branch)));
      for (const [pattern, target] of branch.patterns) {
        if (!isSentPattern(pattern)) lift(name, this.nodes(atom.rest, target), false);
      }
    } else if (atom.rest === "unsaid" && !restOf(branch).isAny) {
      lift("x", this.nodes(sent.nodes.any, restOf(branch)), false);
    } else if (atom.rest === "undeclared" && this.#options.sendsUndeclared) {
      const name = freshName(atom, branch);
      if (admitted(branch, name).isNever) fail(true, `the undeclared member "${name}"`, least().set(name, null));
    }
    return failures;
  }

  #isSent({ node, required }: ObjectMember): boolean {
    return required || (this.#options.sendsNull && (node.isAny || acceptsAny(node.atoms, null) === true));
  }

  /** Ways to split an object by the types of one member, so that each part may fit another branch. */
  #splits(atom: Exclude<Atom, Kind<"literal">>, sent: Node, branches: readonly Atom[]): Atom[][] {
    if (atom.kind !== "object") return [];
    const names = [...atom.members.keys()].filter((name) =>
      branches.some((each) => each.kind === "object" && each.members.has(name)),
    );
    return names.flatMap((name) => {
      const member = atom.members.get(name) as ObjectMember;
      const atoms = member.node.isAny ? [] : member.node.atoms;
      const isAbsent = !this.#isSent(member);
      if (atoms.length + (isAbsent ? 1 : 0) < 2 || atoms.length > MAX_PARTS) return [];
      const withMember = (node: Node, required: boolean): Atom => ({
        ...atom,
        members: new Map(atom.members).set(name, { node, required }),
      });
      const parts = atoms.map((each) => withMember(sent.nodes.ofAtom(each, member.node), true));
      return [isAbsent ? [...parts, withMember(sent.nodes.never, false)] : parts];
    });
  }
}

/** Whether the sender has every keyword of the receiver that cannot be evaluated. */
function judges(sent: Atom, taken: Atom): boolean {
  return taken.unjudged.every((each) => sent.unjudged.includes(each));
}

function numberFits(one: NumberAtom, other: NumberAtom): true | string {
  const low = one.min > other.min || (one.min === other.min && (one.minOpen || !other.minOpen));
  const high = one.max < other.max || (one.max === other.max && (one.maxOpen || !other.maxOpen));
  const whole = one.integer || one.multiples.some(Number.isInteger);
  if (other.integer && !whole) return "a number that is not an integer";
  if (!(low && high))
    return "the metadata does not say whether integers beyond 2^53 are accepted, and the ranges differ";
  const isDivided = (by: number) => one.multiples.some((each) => isMultiple(each, by)) || (whole && isMultiple(1, by));
  if (!other.multiples.every(isDivided)) return "multipleOf differs";
  const reachesFar = one.min < Number.MIN_SAFE_INTEGER || one.max > Number.MAX_SAFE_INTEGER;
  if (!reachesFar || one.wide === WIDE.no || other.wide === WIDE.any || other.wide === WIDE.yes) return true;
  const isSame = one.wide === WIDE.unknown && other.wide === WIDE.unknown;
  return isSame || "the metadata does not say whether an integer without a format may exceed 2^53";
}

/** Whether the ranges of two atoms (numbers, lengths of texts, lengths of lists) have no common value. */
function haveDisjointRanges(one: Atom, other: Atom): boolean {
  if (!("min" in one && "min" in other)) return false;
  return one.max < other.min || other.max < one.min;
}

function limitsOf(atoms: readonly Atom[]): (number | bigint)[] {
  const limits = atoms.flatMap((each) => ("min" in each ? [each.min, each.max] : []));
  return limits.filter((each) => typeof each === "bigint" || Number.isFinite(each));
}

/** Maximum length that the types of the items allow. */
function longest({ prefix, rest, max }: ListAtom): number {
  const end = prefix.findIndex(isEmpty);
  if (end !== -1) return Math.min(max, end);
  return isEmpty(rest) ? Math.min(max, prefix.length) : max;
}

function matchesOnly(atom: ObjectAtom, name: string, pattern: string): boolean {
  return !atom.members.has(name) && admitted(atom, name) === atom.patterns.get(pattern);
}

function freshName(...atoms: readonly ObjectAtom[]): string {
  for (let at = 0; ; at++) {
    const name = `x${at === 0 ? "" : at}`;
    if (atoms.every((each) => !each.members.has(name) && admitted(each, name) === restOf(each)) || at > 100)
      return name;
  }
}

function unlike(sent: Node, taken: Node): ExcludedValue {
  const what = "patterns of names are not compared";
  return { certain: false, sent: sent.place, taken: taken.place, what, witness: undefined };
}

/** Adds missing positions from the compared nodes; the nodes `any` and `never` have none. */
function withPlaces(failure: ExcludedValue, sent: Node, taken: Node): ExcludedValue {
  return { ...failure, sent: failure.sent ?? sent.place, taken: failure.taken ?? taken.place };
}

/** Combines counterexamples into one object or list, because another branch may reject each of them alone. */
function merged(values: readonly SampleValue[]): SampleValue[] {
  const lists = values.filter((each) => Array.isArray(each)) as (readonly SampleValue[])[];
  const objects = values.filter((each) => each instanceof Map) as ReadonlyMap<string, SampleValue>[];
  const made: SampleValue[] = [];
  if (lists.length > 1) made.push(lists.flat());
  if (objects.length > 1) {
    made.push(new Map(objects.flatMap((each) => [...each])));
    made.push(new Map(objects.toReversed().flatMap((each) => [...each])));
  }
  return made;
}

function phrase(value: SampleValue, sent: Node): string {
  if (!(value instanceof Unspecified)) return describe(value);
  return `a text of ${sent.place?.pointer ?? "any kind"}`;
}

function failureKey({ sent, taken, what }: Omit<ExcludedValue, "witness">): string {
  return `${sent?.pointer} ${taken?.pointer} ${what}`;
}

function distinctFailures(failures: readonly ExcludedValue[]): readonly ExcludedValue[] {
  const distinct = new Map<string, ExcludedValue>();
  for (const failure of failures) {
    const key = failureKey(failure);
    if (!distinct.has(key)) distinct.set(key, failure);
  }
  return [...distinct.values()];
}
