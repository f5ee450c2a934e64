/** Sample values of a schema: values that fit, and neighbours that differ from one in a single place. */

import { type Json, JsonObject } from "../../text/json.js";
import { alternativesOf, type ListForm, type ObjectForm } from "./alternatives.js";

/** Maximum number of values for one schema. */
const MAX_VALUES = 2_000;

/** Maximum number of objects and lists in the samples; nested types may double that number with each level. */
const MAX_PARTS = 5_000;

/** Values of all types, tried at each place. */
const STRANGERS: readonly unknown[] = [null, true, 0, 1.5, "text", "2026-01-01T00:00:00Z", [], [1.5], {}, { "~": 1 }];

/** Name of a member that no type declares. */
const UNDECLARED = "~";

/** A place in a sample value, with a function that builds the whole value. */
interface ValueSlot {
  readonly schema: Json;
  readonly whole: (value: unknown) => unknown;
  /** Number of levels down to the ports: 0 for a port. */
  readonly above: number;
  /** For an optional item of a `many` port, null is not tried: such ports and other lists differ there. */
  readonly optional?: boolean;
  /** Variants of an output get no undeclared member, because a second tag is always an error. */
  readonly variants?: boolean;
}

/**
 * Values that fit a schema, and their neighbours: one member removed, added or of another type; one item fewer or more;
 * a text outside a set of literals.
 *
 * @param variants whether the branches of the root are the variants of an output
 */
export function neighboursOf(root: JsonObject, variants: boolean): readonly unknown[] {
  const values: unknown[] = [];
  const seen = new Set<JsonObject>();
  let parts = 0;

  const sample = (schema: Json, open: readonly JsonObject[]): unknown => {
    const values = samplesOf(schema, open);
    return values.find((value) => value !== null) ?? values[0];
  };

  /** A value for each alternative, except those that recurse without end. */
  const samplesOf = (schema: Json, open: readonly JsonObject[]): unknown[] => {
    if (schema === true) return ["any"];
    if (++parts > MAX_PARTS) return [];
    const { any, scalars, patterns, objects, lists } = alternativesOf(schema, root);
    const structured = [
      ...objects.map((form) => (open.includes(form.node) ? undefined : objectOf(form, [...open, form.node]))),
      ...lists.map((form) => (open.includes(form.node) ? undefined : listOf(form, [...open, form.node]))),
    ];
    return [
      ...(any ? ["any"] : []),
      ...[...scalars].map(scalarOf),
      ...(patterns.size > 0 ? ["text"] : []),
      ...structured.filter((value) => value !== undefined),
    ];
  };

  /** Object with all members, except those that recurse without end; undefined if such a member is required. */
  const objectOf = (
    { members }: ObjectForm,
    open: readonly JsonObject[],
  ): Readonly<Record<string, unknown>> | undefined => {
    const pairs = [...members].map(([name, { schema, required }]) => ({ name, required, value: sample(schema, open) }));
    if (pairs.some(({ required, value }) => required && value === undefined)) return undefined;
    return Object.fromEntries(pairs.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  };

  const listOf = ({ items, others, least }: ListForm, open: readonly JsonObject[]): unknown[] | undefined => {
    const places = Array.from({ length: Math.max(items.length, least) }, (_, at) => sample(items[at] ?? others, open));
    const more = others === false || places.length > items.length ? undefined : sample(others, open);
    if (places.includes(undefined)) return undefined;
    return more === undefined ? places : [...places, more];
  };

  const add = (value: unknown): void => {
    if (values.length < MAX_VALUES) values.push(value);
  };

  const visit = ({ schema, whole, above, optional = false, variants = false }: ValueSlot): void => {
    if (values.length >= MAX_VALUES) return;
    const { objects, lists, scalars } = alternativesOf(schema, root);
    const texts = [...scalars].flatMap((each) => (each.startsWith('"') ? [`${scalarOf(each)}x`] : []));
    for (const value of [...samplesOf(schema, []), ...STRANGERS, ...texts]) {
      if (value !== null || !optional) add(whole(value));
    }
    for (const form of objects) if (isNew(form.node)) visitObject(form, whole, variants, above - 1);
    for (const form of lists) if (isNew(form.node)) visitList(form, whole, above === 0);
  };

  const isNew = (node: JsonObject) => !seen.has(node) && seen.add(node) !== undefined;

  const visitObject = (form: ObjectForm, whole: ValueSlot["whole"], variants: boolean, above: number): void => {
    const base = objectOf(form, [form.node]);
    if (base === undefined) return;
    for (const [name, { schema }] of form.members) {
      // ajv ignores a member of this name.
      if (name === "__proto__") continue;
      add(whole(Object.fromEntries(Object.entries(base).filter(([other]) => other !== name))));
      visit({ schema, whole: (value) => whole({ ...base, [name]: value }), above });
    }
    if (variants) return;
    add(whole({ ...base, [UNDECLARED]: 1.5 }));
    const others = (schema: Json, name: string) =>
      visit({ schema, whole: (value) => whole({ ...base, [name]: value }), above: -1 });
    if (form.others instanceof JsonObject) others(form.others, UNDECLARED);
    // Patterns of numeric names match "7"; for other patterns no matching name is known.
    for (const [pattern, schema] of form.patterns) if (new RegExp(pattern, "u").test("7")) others(schema, "7");
  };

  const visitList = (form: ListForm, whole: ValueSlot["whole"], port: boolean): void => {
    const base = listOf(form, [form.node]);
    if (base === undefined) return;
    add(whole(base.slice(0, -1)));
    add(whole([...base, base.at(-1) ?? 1.5]));
    for (const [at, schema] of [...form.items, ...(form.others instanceof JsonObject ? [form.others] : [])].entries()) {
      visit({
        schema,
        whole: (value) => whole([...base.slice(0, at), value, ...base.slice(at + 1)]),
        above: -1,
        optional: port && at >= form.least && at < form.items.length,
      });
    }
  };

  visit({ schema: root, whole: (value) => value, variants, above: variants ? 2 : 1 });
  return values;
}

const SCALARS: Readonly<Record<string, unknown>> = {
  string: "text",
  "date-time": "2026-01-01T00:00:00Z",
  base64: "AA==",
  number: 1.5,
  integer: 7,
};

const scalarOf = (name: string): unknown => (Object.hasOwn(SCALARS, name) ? SCALARS[name] : JSON.parse(name));
