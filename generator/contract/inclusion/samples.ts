import { truncated } from "svc-runtime/internal/generator";
import { FORMAT_SAMPLES } from "../format-samples.js";
import {
  type Atom,
  accepts,
  BASE64,
  closed,
  isEqual,
  itemAt,
  type ListAtom,
  type Node,
  type NumberAtom,
  next,
  type ObjectAtom,
  type SampleValue,
  type TextAtom,
  Unspecified,
} from "./schema-node.js";

/** Maximum nesting of examples; deeper values are left unspecified. */
const MAX_DEPTH = 12;

/** Maximum number of repeated characters or items in an example. */
const MAX_LENGTH = 4096;

/** Sample texts by format. */
const TEXTS: Readonly<Record<string, readonly [string, string]>> = { ...FORMAT_SAMPLES, [BASE64]: ["AAAA", "AAAB"] };

const WORDS = ["x", "", "a", "A", "0", "-", " ", "other", "aaa", "a-b", "é"];

const samples = new WeakMap<Node, SampleValue>();

/** Example value of a node; unspecified if none can be constructed. */
export function sampleOf(node: Node, depth = 0): SampleValue {
  if (node.isAny) return "x";
  if (depth > MAX_DEPTH) return new Unspecified(node);
  const known = samples.get(node);
  if (known !== undefined) return known;
  const value = findSample(node, depth);
  if (depth === 0 || !(value instanceof Unspecified)) samples.set(node, value);
  return value;
}

function findSample(node: Node, depth: number): SampleValue {
  for (const atom of node.atoms) {
    const value = samplesOf(atom, node, depth)[0];
    if (value !== undefined) return value;
  }
  return new Unspecified(node);
}

/**
 * Example values of an atom, simplest first. Lists and objects may contain unspecified values.
 *
 * @param limits numbers and lengths of texts to try, such as the bounds of the other schema
 */
export function samplesOf(
  atom: Atom,
  origin: Node,
  depth = 0,
  limits: readonly (number | bigint)[] = [],
): SampleValue[] {
  switch (atom.kind) {
    case "literal":
      return [atom.value];
    case "number":
      return numbers(atom, limits).filter((each) => accepts({ ...atom, unjudged: [] }, each) === true);
    case "string": {
      const found = texts(atom, limits).filter((each) => accepts({ ...atom, unjudged: [] }, each) === true);
      return found.length > 0 ? found : [new Unspecified(origin.nodes.ofAtom(atom, origin))];
    }
    case "array":
      return listSamples(atom, depth);
    case "object":
      return objectSamples(atom, depth);
  }
}

function numbers({ min, max, multiples }: NumberAtom, limits: readonly (number | bigint)[]): (number | bigint)[] {
  const near = [min, max, ...limits].flatMap((each) =>
    typeof each === "bigint" || Number.isFinite(each) ? around(each) : [],
  );
  const wide = [2n ** 53n, -(2n ** 53n), 2n ** 63n, 2n ** 64n, -(2n ** 63n) - 1n];
  return [1, 0, -1, 0.5, -0.5, ...near, ...multiples.flatMap((each) => [each, -each, 2 * each, 3 * each]), ...wide];
}

function around(bound: number | bigint): (number | bigint)[] {
  const whole = typeof bound === "bigint" ? bound : Math.floor(bound);
  const integers = [next(whole, -1), whole, next(whole, 1), next(next(whole, 1), 1)];
  if (typeof bound === "bigint") return integers;
  return [bound, ...integers, bound + 0.5, bound - 0.5];
}

function texts({ min, max, formats }: TextAtom, limits: readonly (number | bigint)[]): string[] {
  const lengths = [min, max, ...limits.flatMap((each) => [Number(each) - 1, Number(each), Number(each) + 1])];
  const repeated = lengths.flatMap((each) => (each >= 0 && each <= MAX_LENGTH ? ["x".repeat(each)] : []));
  return [...formats.flatMap((name) => TEXTS[name] ?? []), ...WORDS, ...repeated, ...Object.values(TEXTS).flat()];
}

function listSamples(atom: ListAtom, depth: number): SampleValue[] {
  return [atom.min, atom.min + 1, atom.prefix.length].flatMap((length) => {
    if (length < atom.min || length > atom.max) return [];
    const list = listOf(atom, length, depth + 1);
    return list === undefined ? [] : [list];
  });
}

/** Example list of the given length; undefined if none can be constructed. */
export function listOf(atom: ListAtom, length: number, depth = 1): SampleValue[] | undefined {
  if (length > MAX_LENGTH) return undefined;
  const list: SampleValue[] = [];
  for (let at = 0; at < length; at++) {
    const item = itemAt(atom, at);
    if (isEmpty(item)) return undefined;
    const [value] = atom.unique && at > 0 ? othersThan(list, item, depth) : [sampleOf(item, depth)];
    if (value === undefined) return undefined;
    list.push(value);
  }
  return list;
}

/** Example values of an item that are not in the list. */
function othersThan(list: readonly SampleValue[], item: Node, depth: number): SampleValue[] {
  const all: readonly SampleValue[] = item.isAny
    ? Array.from({ length: list.length + 1 }, (_, at) => at)
    : item.atoms.flatMap((atom) => (depth > MAX_DEPTH ? [] : samplesOf(atom, item, depth)));
  return all.filter((value) => list.every((each) => isEqual(each, value) === false));
}

function objectSamples({ members, rest }: ObjectAtom, depth: number): SampleValue[] {
  const all = [...members].filter(([, { node, required }]) => required || !isEmpty(node));
  if (all.some(([, { node }]) => isEmpty(node))) return [];
  const required = all.filter(([, each]) => each.required);
  const valued = (some: typeof all) => new Map(some.map(([name, { node }]) => [name, sampleOf(node, depth + 1)]));
  const least = valued(required);
  if (depth > 0) return [least];
  const more = typeof rest === "object" && !isEmpty(rest) ? [new Map(least).set("x", sampleOf(rest, depth + 1))] : [];
  return [least, valued(all), ...more];
}

const empty = new WeakMap<Node, boolean>();

/** Whether a node provably has no value. */
export function isEmpty(node: Node): boolean {
  let known = empty.get(node);
  if (known === undefined) {
    // A recursive type is not empty just because it refers to itself.
    empty.set(node, false);
    known = !node.isAny && node.atoms.every((atom) => isEmptyAtom(atom));
    empty.set(node, known);
  }
  return known;
}

export function isEmptyAtom(atom: Atom): boolean {
  switch (atom.kind) {
    case "literal":
      return false;
    case "number": {
      const { min, max, minOpen, maxOpen } = atom.integer ? closed(atom) : atom;
      return min > max || (min === max && (minOpen || maxOpen));
    }
    case "string":
      return atom.min > atom.max;
    case "array":
      return atom.min > atom.max || atom.prefix.slice(0, atom.min).some(isEmpty);
    case "object":
      return [...atom.members.values()].some(({ node, required }) => required && isEmpty(node));
  }
}

/** Short form of a value, for messages. */
export function describe(value: SampleValue): string {
  return truncated(printValue(value), 60);
}

function printValue(value: SampleValue): string {
  if (value instanceof Unspecified) return "…";
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(printValue).join(",")}]`;
  if (value instanceof Map)
    return `{${[...value].map(([name, each]) => `${JSON.stringify(name)}:${printValue(each as SampleValue)}`).join(",")}}`;
  return JSON.stringify(value);
}
