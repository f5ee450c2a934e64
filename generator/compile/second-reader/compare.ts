/** Compares the structure of two schemas of one type. */

import { type Json, JsonObject } from "../../text/json.js";
import { memberSubject } from "../model.js";
import { type Alternatives, alternativesOf, type ListForm, type ObjectForm } from "./alternatives.js";
import type { EXCUSED } from "./differences.js";
import { NUMBER_INDEX } from "./library-reader.js";

/** Difference that is not in the list of known differences (differences.ts). */
export interface Disagreement {
  /** Path of the type or member, such as `Sum.Input.items[].when`. */
  readonly subject: string;
  readonly ours: string;
  readonly library: string;
}

type Excuse = keyof typeof EXCUSED;

export interface Comparison {
  readonly disagreements: readonly Disagreement[];
  readonly excused: ReadonlySet<Excuse>;
}

/** A part of the type in both schemas. */
interface Pair {
  readonly ours: Json;
  readonly library: Json;
  readonly subject: string;
  /** Number of levels down to the ports: 0 for a port. */
  readonly above: number;
  /** Whether the part is an optional item of a `many` port. */
  readonly optional?: boolean;
  /** Whether the alternatives are the variants of an output. */
  readonly variants?: boolean;
}

/**
 * Compares svc-gen's schema of an input or output with the library's.
 *
 * @param ours without the keywords of JSDoc tags, which the library does not read
 */
export function compareReadings(ours: JsonObject, library: JsonObject, subject: string, variants: boolean): Comparison {
  const excused = new Set<Excuse>();
  /** Pairs that were compared or are being compared; needed for recursive types. */
  const known = new Map<JsonObject, Map<JsonObject, readonly Disagreement[]>>();

  const compare = (pair: Pair): readonly Disagreement[] => {
    const [one, other] = [alternativesOf(pair.ours, ours), alternativesOf(pair.library, library)];
    const differ = [{ subject: pair.subject, ours: describe(one), library: describe(other) }];
    if (one.any || other.any) return one.any === other.any ? [] : differ;
    const missing = [...other.scalars].filter((each) => !one.scalars.has(each));
    const isListPort = pair.optional === true && missing.length === 1 && missing[0] === "null";
    if (isListPort) excused.add("list port");
    const more = [...one.scalars].some((each) => !other.scalars.has(each));
    if (more || (missing.length > 0 && !isListPort) || !samePatterns(one, other)) return differ;
    const objects = match(one.objects, other.objects, (a, b) => compareObjects(a, b, pair));
    const lists = match(one.lists, other.lists, (a, b) => compareLists(a, b, pair));
    return objects === undefined || lists === undefined ? differ : [...objects, ...lists];
  };

  const samePatterns = (one: Alternatives, other: Alternatives): boolean => {
    const [mine, theirs] = [[...one.patterns], [...other.patterns]];
    if (mine.length !== theirs.length) return false;
    if (theirs.some((pattern) => !one.patterns.has(pattern))) excused.add("template");
    return (
      theirs.every((pattern) => mine.some((each) => agree(each, pattern))) &&
      mine.every((each) => theirs.some((pattern) => agree(each, pattern)))
    );
  };

  /** Disagreements of the pairing with the fewest of them; undefined if the numbers of alternatives differ. */
  const match = <Form extends { readonly node: JsonObject }>(
    ours: readonly Form[],
    theirs: readonly Form[],
    compareForms: (one: Form, other: Form) => readonly Disagreement[],
  ): readonly Disagreement[] | undefined => {
    const between = (one: Form, other: Form): readonly Disagreement[] => {
      const of = known.get(one.node) ?? new Map<JsonObject, readonly Disagreement[]>();
      known.set(one.node, of);
      const before = of.get(other.node);
      if (before !== undefined) return before;
      of.set(other.node, []);
      const found = compareForms(one, other);
      of.set(other.node, found);
      return found;
    };
    if (ours.length !== theirs.length) return undefined;
    const left = [...theirs];
    const unmatched = ours.filter((one) => {
      const at = left.findIndex((other) => between(one, other).length === 0);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    return unmatched.flatMap((one, at) => between(one, left[at] as Form));
  };

  const compareObjects = (
    one: ObjectForm,
    other: ObjectForm,
    { subject, variants, above: outer }: Pair,
  ): readonly Disagreement[] => {
    const above = outer - 1;
    const found: Disagreement[] = [];
    for (const name of new Set([...one.members.keys(), ...other.members.keys()])) {
      const [mine, theirs] = [one.members.get(name), other.members.get(name)];
      const inner = memberSubject(subject, name);
      if (mine === undefined || theirs === undefined || mine.required !== theirs.required) {
        found.push({ subject: inner, ours: presence(mine), library: presence(theirs) });
      } else {
        found.push(...compare({ ours: mine.schema, library: theirs.schema, subject: inner, above }));
      }
    }
    return [...found, ...comparePatterns(one, other, subject), ...compareOthers(one, other, subject, variants)];
  };

  /** Index signatures with a pattern. Both schemas have the patterns in the checker's order. */
  const comparePatterns = (one: ObjectForm, other: ObjectForm, subject: string): readonly Disagreement[] => {
    const [mine, theirs] = [[...one.patterns], [...other.patterns]];
    if (mine.length !== theirs.length) {
      const count = ({ length }: readonly unknown[]) => `an object with ${length} patternProperties`;
      return [{ subject: `${subject}{}`, ours: count(mine), library: count(theirs) }];
    }
    const named = (pattern: string) => `names with the pattern ${pattern}`;
    return mine.flatMap(([own, schema], at) => {
      const [pattern, library] = theirs[at] as [string, Json];
      if (!agree(own, pattern)) return [{ subject: `${subject}{}`, ours: named(own), library: named(pattern) }];
      excused.add(pattern.endsWith(NUMBER_INDEX.slice(1)) ? "number index" : "template");
      return compare({ ours: schema, library, subject: `${subject}{}`, above: -1 });
    });
  };

  const compareOthers = (one: ObjectForm, other: ObjectForm, subject: string, variants = false) => {
    const [mine, theirs] = [one.others, other.others];
    if (variants && mine === false && theirs === true) {
      excused.add("variant");
      return [];
    }
    if (!(mine instanceof JsonObject) || !(theirs instanceof JsonObject)) {
      return mine === theirs ? [] : [{ subject, ours: openness(mine), library: openness(theirs) }];
    }
    return compare({ ours: mine, library: theirs, subject: `${subject}{}`, above: -1 });
  };

  const compareLists = (one: ListForm, other: ListForm, { subject, above }: Pair): readonly Disagreement[] => {
    const [mine, theirs] = [one, other].map(({ items, least, others }) => {
      return `a tuple of ${items.length} items, of which ${least} are required, with ${others === false ? "no" : "any"} further items`;
    });
    if (mine !== theirs) return [{ subject, ours: mine as string, library: theirs as string }];
    const places = one.items.flatMap((item, at) => {
      return compare({
        ours: item,
        library: other.items[at] as Json,
        subject: `${subject}[${at}]`,
        above: -1,
        optional: above === 0 && at >= one.least,
      });
    });
    return one.others === false
      ? places
      : [...places, ...compare({ ours: one.others, library: other.others, subject: `${subject}[]`, above: -1 })];
  };

  const above = variants ? 2 : 1;
  return { disagreements: compare({ ours, library, subject, variants, above }), excused };
}

/**
 * Whether two patterns agree about a text that the library's pattern accepts, and about that text with a character before
 * it. The patterns themselves differ: svc-gen's follow TypeScript's rules. A pattern without content is no opinion.
 */
function agree(ours: string, library: string): boolean {
  const content = library.replace(/^\^(?:\(\?!\(\?:.*?\)\$\))?/, "").replace(/\$$/, "");
  if (content === "") return true;
  const text = content
    .replaceAll(".*", "~")
    .replaceAll(/\[0-9\][*+]/g, "7")
    .replaceAll(/\\(.)/g, "$1");
  const [mine, theirs] = [new RegExp(ours, "u"), new RegExp(library, "u")];
  return [text, `?${text}`].every((each) => mine.test(each) === theirs.test(each));
}

function presence(member: { readonly required: boolean } | undefined): string {
  return member === undefined ? "no such member" : member.required ? "a required member" : "an optional member";
}

function openness(others: Json): string {
  if (others instanceof JsonObject) return "an object whose other members have one type";
  return others === false ? "an object without other members" : "an object with any other members";
}

/** Maximum number of alternatives in a message. */
const MAX_NAMED = 8;

function describe({ any, scalars, patterns, objects, lists }: Alternatives): string {
  if (any) return "any value";
  const texts = patterns.size === 0 ? [] : ["string with a pattern"];
  const forms = [...scalars, ...texts, ...objects.map(() => "object"), ...lists.map(() => "array")];
  const named = forms.length > MAX_NAMED ? [...forms.slice(0, MAX_NAMED), "…"] : forms;
  return named.length === 0 ? "no value" : named.join(" | ");
}
