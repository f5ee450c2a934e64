/**
 * The model of a tool: plain readonly data by `kind`, without compiler objects. `types/lower` makes it, `emit/`
 * reads it. Order everywhere is the declared order.
 */

import type { Json } from "../json.js";

/** A place in a source file. */
export interface Place {
  /** Relative to the project, with forward slashes. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** Characters from there on that are meant. */
  readonly length: number;
  /** The text of that line, for code frames. */
  readonly source: string;
}

/** Documentation and constraints of a member or a type, as keywords of JSON Schema in the order of the allow-list. */
export interface Doc {
  readonly description?: string;
  readonly keywords: readonly (readonly [keyword: string, value: Json])[];
}

export type Literal = string | number | boolean | null;

/** The type of a value that travels as JSON. */
export type Shape = { readonly doc?: Doc } & (
  | { readonly kind: "json"; readonly except?: "null" | "primitives" }
  | { readonly kind: "null" | "boolean" | "date" | "bytes" }
  | { readonly kind: "string"; readonly pattern?: string }
  | { readonly kind: "number"; readonly integer?: boolean }
  | { readonly kind: "bigint"; readonly format?: "int64" | "uint64" }
  | { readonly kind: "literal"; readonly values: readonly Literal[] }
  | { readonly kind: "array"; readonly item: Shape }
  /** A `WithSerdeErrorPath` of the item, which alone is on the wire. */
  | { readonly kind: "wrapped"; readonly item: Shape }
  | TupleShape
  | ObjectShape
  | { readonly kind: "union"; readonly branches: readonly Shape[] }
  | { readonly kind: "ref"; readonly name: string }
);

/** `items`, of which the last `optional` may be missing, then any number of `rest`, then exactly `tail`. */
export interface TupleShape {
  readonly kind: "tuple";
  readonly items: readonly Shape[];
  readonly optional: number;
  readonly rest?: Shape;
  readonly tail: readonly Shape[];
  readonly doc?: Doc;
}

export interface ObjectShape {
  readonly kind: "object";
  readonly members: readonly Member[];
  /** Index signatures. `pattern` limits the names; an index without one takes every undeclared name. */
  readonly indexes: readonly { readonly pattern?: string; readonly shape: Shape }[];
  /** True when the type forbids undeclared members (`[name: string]: never`). */
  readonly closed: boolean;
  readonly doc?: Doc;
}

/** One declared member. `subject` is its full name: `Sum.Input.items[].when`. */
export interface Member {
  readonly name: string;
  readonly subject: string;
  readonly place: Place;
  readonly optional: boolean;
  /** Of an output port of type `DataRef`: whether a reference replaces the whole value or each item of its list. */
  readonly byReference?: "value" | "items";
  readonly shape: Shape;
  readonly doc?: Doc;
}

/** One output variant. `text` is true for a string literal. */
export interface OutputVariant {
  readonly name: string;
  readonly subject: string;
  readonly place: Place;
  readonly text: boolean;
  readonly payload: ObjectShape;
  readonly doc?: Doc;
}

/** A named type that is recursive or used more than once. The name is unique within the tool. */
export interface Definition {
  readonly name: string;
  readonly shape: Shape;
}

/** The import of a tool class in generated code. */
export interface ClassImport {
  /** Relative to the project, as in {@link Place}. */
  readonly file: string;
  /** The exported name, or `default`. */
  readonly exportName: string;
  /** The name of the class in its own file, or one made from the name of the export or the file. */
  readonly className: string;
}

/** The values of a class's static methods, read without running it. */
export interface StaticMetadata {
  /** In canonical form: the version has no superfluous parts. */
  readonly fqn: string;
  readonly description: string;
  readonly path: string;
  readonly timeout: number;
  /** Environment variables, with what each is for. */
  readonly variables: readonly (readonly [name: string, description: string])[];
}

/** The model of one tool. */
export interface Tool extends StaticMetadata {
  readonly import: ClassImport;
  readonly place: Place;
  readonly input: ObjectShape;
  readonly output: readonly OutputVariant[];
  readonly definitions: readonly Definition[];
}

/** The shape behind a chain of references. */
export function resolve(shape: Shape, definitions: readonly Definition[]): Shape {
  let at = shape;
  for (let hops = 0; at.kind === "ref" && hops < 100; hops++) {
    const { name } = at;
    const found = definitions.find((definition) => definition.name === name);
    if (found === undefined) break;
    at = found.shape;
  }
  return at;
}

/** The full name of a member: `Sum.Input.tags`, `Sum.Input["odd name"]`. */
export function memberSubject(subject: string, name: string): string {
  return /^[\p{ID_Start}$_#][\p{ID_Continue}$]*$/u.test(name)
    ? `${subject}.${name}`
    : `${subject}[${JSON.stringify(name)}]`;
}

/** Visits every reference in a shape, in order. */
export function forEachRef(shape: Shape, visit: (name: string) => void): void {
  if (shape.kind === "ref") visit(shape.name);
  else for (const part of partsOf(shape)) forEachRef(part, visit);
}

/** Replaces the references in a shape. */
export function mapRefs(shape: Shape, replace: (ref: Shape & { kind: "ref" }) => Shape): Shape {
  const into = (inner: Shape) => mapRefs(inner, replace);
  switch (shape.kind) {
    case "ref":
      return replace(shape);
    case "array":
    case "wrapped":
      return { ...shape, item: into(shape.item) };
    case "union":
      return { ...shape, branches: shape.branches.map(into) };
    case "tuple":
      return {
        ...shape,
        items: shape.items.map(into),
        tail: shape.tail.map(into),
        ...(shape.rest === undefined ? {} : { rest: into(shape.rest) }),
      };
    case "object":
      return {
        ...shape,
        members: shape.members.map((member) => ({ ...member, shape: into(member.shape) })),
        indexes: shape.indexes.map((index) => ({ ...index, shape: into(index.shape) })),
      };
    default:
      return shape;
  }
}

/** Whether no value has a shape: a union without branches, which is in no finished model. */
export function isNever(shape: Shape): boolean {
  return shape.kind === "union" && shape.branches.length === 0;
}

/** The shapes directly in a shape. */
export function partsOf(shape: Shape): readonly Shape[] {
  switch (shape.kind) {
    case "array":
    case "wrapped":
      return [shape.item];
    case "union":
      return shape.branches;
    case "tuple":
      return [...shape.items, ...(shape.rest === undefined ? [] : [shape.rest]), ...shape.tail];
    case "object":
      return [...shape.members, ...shape.indexes].map((part) => part.shape);
    default:
      return [];
  }
}

/** The value of one `@default` or `@example`, to be checked against the type. */
export interface Example {
  readonly value: Json;
  readonly shape: Shape;
  /** Whether `null` means an absent value. */
  readonly optional: boolean;
  readonly subject: string;
  /** The place of the tag. */
  readonly place: Place;
}
