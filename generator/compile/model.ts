/**
 * The model of a tool: plain readonly data without compiler objects. `types/lower` creates it and `emit/` reads it. All
 * lists are in declared order.
 */

import type { ToolHints } from "svc-runtime/internal/generator";
import type { Json } from "../text/json.js";

/** Generated file. `path` is relative to the project, with forward slashes. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

/** A place in a source file. */
export interface Place {
  /** Relative to the project, with forward slashes. */
  readonly file: string;
  /** Starts at 1. */
  readonly line: number;
  /** Starts at 1, in UTF-16 code units. */
  readonly column: number;
  /** Number of characters in the marked part. */
  readonly length: number;
  /** Text of the line, for code frames. */
  readonly source: string;
}

/** A place in the form of compilers: `src/sum.ts:12:5`. */
export function placeText({ file, line, column }: Pick<Place, "file" | "line" | "column">): string {
  return `${file}:${line}:${column}`;
}

/** Documentation and constraints of a member or type, as JSON Schema keywords. */
export interface Doc {
  readonly description?: string;
  readonly keywords: readonly (readonly [keyword: string, value: Json])[];
}

export type Literal = string | number | boolean | null;

/** Type of a value that is sent as JSON. */
export type Shape = { readonly doc?: Doc } & (
  | { readonly kind: "json"; readonly except?: "null" | "primitives" }
  | { readonly kind: "null" | "boolean" | "date" | "bytes" }
  | { readonly kind: "string"; readonly pattern?: string }
  | { readonly kind: "number"; readonly integer?: boolean }
  | { readonly kind: "bigint"; readonly format?: "int64" | "uint64" }
  | { readonly kind: "literal"; readonly values: readonly Literal[] }
  | { readonly kind: "array"; readonly item: Shape }
  /** A `WithSerdeErrorPath` of the item; only the item is sent. */
  | { readonly kind: "wrapped"; readonly item: Shape }
  | TupleShape
  | ObjectShape
  | { readonly kind: "union"; readonly branches: readonly Shape[] }
  | { readonly kind: "ref"; readonly name: string }
);

/** First the `items`, of which the last `optional` ones may be missing; then any number of `rest`; then the `tail`. */
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
  /** Index signatures. Without a `pattern`, one applies to all undeclared names. */
  readonly indexes: readonly { readonly pattern?: string; readonly shape: Shape }[];
  /** Whether undeclared members are forbidden: by the type (`[name: string]: never`), or only by a tag. */
  readonly closed: boolean | "tag";
  readonly doc?: Doc;
}

/** Declared member. `subject` is its full name: `Sum.Input.items[].when`. */
export interface Member {
  readonly name: string;
  readonly subject: string;
  readonly place: Place;
  readonly optional: boolean;
  /** For an output port of type `DataRef`: whether a reference replaces the whole value, or each item of its list. */
  readonly byReference?: "value" | "items";
  readonly shape: Shape;
  readonly doc?: Doc;
}

/** Output variant. `text` is true if it is declared as a string literal. */
export interface OutputVariant {
  readonly name: string;
  readonly subject: string;
  readonly place: Place;
  readonly text: boolean;
  readonly payload: ObjectShape;
  readonly doc?: Doc;
}

/** Named type that is recursive or used more than once. The name is unique within the tool. */
export interface Definition {
  readonly name: string;
  readonly shape: Shape;
}

/** Import of a tool class in generated code. */
export interface ClassImport {
  /** Relative to the project, as in {@link Place}. */
  readonly file: string;
  /** Exported name, or `default`. */
  readonly exportName: string;
  /** Name of the class in its own file, or one derived from the export or the file. */
  readonly className: string;
}

/** Values of a class's static methods, read without running code. */
export interface StaticMetadata {
  /** Canonical form: the version has no superfluous parts. */
  readonly fqn: string;
  readonly description: string;
  readonly path: string;
  readonly timeout: number;
  /** Environment variables with their descriptions. */
  readonly variables: readonly (readonly [name: string, description: string])[];
  readonly hints: ToolHints;
}

export interface Tool extends StaticMetadata {
  readonly import: ClassImport;
  readonly place: Place;
  readonly input: ObjectShape;
  readonly output: readonly OutputVariant[];
  readonly definitions: readonly Definition[];
}

/** Shape after following references. */
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

/** Value of a keyword of a shape or member; undefined if it is not set. */
export function keywordValue({ doc }: { readonly doc?: Doc | undefined }, name: string): Json | undefined {
  return doc?.keywords.find(([keyword]) => keyword === name)?.[1];
}

/** Minimum and maximum number of items that the type of a tuple allows. */
export function tupleLengths({ items, optional, rest, tail }: TupleShape): readonly [least: number, most: number] {
  return [items.length - optional + tail.length, rest === undefined ? items.length : Number.POSITIVE_INFINITY];
}

/** Full name of a member: `Sum.Input.tags`, `Sum.Input["odd name"]`. */
export function memberSubject(subject: string, name: string): string {
  return /^[\p{ID_Start}$_#][\p{ID_Continue}$]*$/u.test(name)
    ? `${subject}.${name}`
    : `${subject}[${JSON.stringify(name)}]`;
}

export function forEachRef(shape: Shape, visit: (name: string) => void): void {
  if (shape.kind === "ref") visit(shape.name);
  else for (const part of partsOf(shape)) forEachRef(part, visit);
}

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

/** Whether a shape has no values: it is a union without branches, which does not occur in a finished model. */
export function isNever(shape: Shape): boolean {
  return shape.kind === "union" && shape.branches.length === 0;
}

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

/** The shapes without those that are equal to earlier ones. */
export function distinctShapes(shapes: readonly Shape[]): readonly Shape[] {
  const texts = shapes.map((shape) =>
    JSON.stringify(shape, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value)),
  );
  return shapes.filter((_, index) => texts.indexOf(texts[index] as string) === index);
}

/** Value of a `@default` or `@example`, to be checked against the type. */
export interface Example {
  readonly value: Json;
  readonly shape: Shape;
  /** Whether `null` means an absent value. */
  readonly optional: boolean;
  readonly subject: string;
  /** Position of the tag. */
  readonly place: Place;
  /** Keyword of a dependency's tag, which is dropped in place of a diagnostic. */
  readonly foreign?: Doc["keywords"][number];
}
