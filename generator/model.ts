/**
 * What the generator knows about a project: plain readonly data by `kind`, without compiler objects. `lower` makes it;
 * `schema`, `encoders` and `ports` read it. Order everywhere is the declared order.
 */

import type { Json } from "./json.js";

/** A place in a source file, 1-based, the file relative to the project with forward slashes. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
  /** The text of that line, for code frames. */
  readonly source: string;
}

/** What JSDoc says about a member or a type: keywords of JSON Schema, in the order of the allow-list. */
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
  /** Index signatures. A `pattern` limits the names; without one it is every name that no member declares. */
  readonly indexes: readonly { readonly pattern?: string; readonly shape: Shape }[];
  /** True when the type forbids members that it does not declare (`[name: string]: never`). */
  readonly closed: boolean;
  readonly doc?: Doc;
}

/** One declared member; it names itself (`Sum.Input.items[].when`). */
export interface Member {
  readonly name: string;
  readonly subject: string;
  readonly place: Place;
  readonly optional: boolean;
  /** Of an output port: what a reference may stand for (`DataRef`), its value as a whole or each item of its list. */
  readonly byReference?: "value" | "items";
  readonly shape: Shape;
  readonly doc?: Doc;
}

/** One output variant; `text` when declared as a string literal. */
export interface OutputVariant {
  readonly name: string;
  readonly subject: string;
  readonly place: Place;
  readonly text: boolean;
  readonly payload: ObjectShape;
  readonly doc?: Doc;
}

/** A type that contains itself or is used in several places, by a name that is unique within the tool. */
export interface Definition {
  readonly name: string;
  readonly shape: Shape;
}

/** Where generated code finds the class. */
export interface ClassImport {
  /** Relative to the project, as in {@link Place}. */
  readonly file: string;
  /** The exported name; `default` for a default export. */
  readonly exportName: string;
  /** What the class is called in its own file, when it has a name. */
  readonly className: string;
}

/** What a class says about itself without being run. */
export interface StaticMetadata {
  /** With the version in shortest form. */
  readonly fqn: string;
  readonly description: string;
  readonly path: string;
  readonly timeout: number;
}

/** One tool, complete. */
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

/** How a member is called: `Sum.Input.tags`, `Sum.Input["odd name"]`. */
export function memberSubject(subject: string, name: string): string {
  return /^[\p{ID_Start}$_#][\p{ID_Continue}$]*$/u.test(name)
    ? `${subject}.${name}`
    : `${subject}[${JSON.stringify(name)}]`;
}

/** Every reference in a shape, in order. */
export function forEachRef(shape: Shape, visit: (name: string) => void): void {
  mapRefs(shape, (ref) => {
    visit(ref.name);
    return ref;
  });
}

/** The same shape with its references replaced. */
export function mapRefs(shape: Shape, replace: (ref: Shape & { kind: "ref" }) => Shape): Shape {
  const into = (inner: Shape) => mapRefs(inner, replace);
  switch (shape.kind) {
    case "ref":
      return replace(shape);
    case "array":
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

/** One value of a comment, as the wire would carry it. */
export interface Example {
  readonly value: Json;
  readonly shape: Shape;
  /** Whether `null` stands for an absent value. */
  readonly optional: boolean;
  readonly subject: string;
  /** Of the tag. */
  readonly place: Place;
}
