/**
 * The structured types of one tool, by name. A type becomes a definition if it is recursive, used more than once, or
 * deeply nested; other types are inlined. This file must not load the compiler.
 */

import { type Definition, forEachRef, isNever, mapRefs, partsOf, type Shape } from "../model.js";

/** Maximum number of nesting levels of an inlined type. */
const MAX_INLINE_LEVELS = 12;

/** A structured type that was lowered or is being lowered (converted to a shape). */
interface Entry {
  readonly name: string;
  readonly named: boolean;
  shape?: Shape;
  referred: boolean;
}

/** Source of a definition's name. */
interface Naming {
  /** Declared name of the type. */
  readonly name: string | undefined;
  readonly isObject: boolean;
  /** Subject of the first use, such as `Sum.Input.items`. */
  readonly subject: string;
}

export class ShapeDefinitions {
  /** Entries by type identity. */
  readonly #entries = new Map<object, Entry>();
  readonly #byName = new Map<string, Entry>();

  /**
   * Lowers a structured type. Returns a reference for a named object type, a large type, and a use of a type inside
   * itself; returns the shape of any other type, which is lowered at each use.
   *
   * @param make returns undefined if {@link complete} will set the shape later
   */
  define(type: object, naming: Naming, make: (isNamed: boolean) => Shape | undefined): Shape {
    const known = this.#entries.get(type);
    if (known?.shape !== undefined && isNever(known.shape)) return known.shape;
    if (known !== undefined && (known.named || known.referred || known.shape === undefined)) {
      known.referred = true;
      return { kind: "ref", name: known.name };
    }
    const named = naming.isObject && naming.name !== undefined && !naming.name.startsWith("__");
    const entry: Entry = { name: this.#uniqueName(naming), named, referred: false };
    this.#byName.set(entry.name, entry);
    this.#entries.set(type, entry);
    const shape = make(named);
    if (shape === undefined) entry.referred = true;
    else entry.shape = shape;
    if (entry.shape === undefined) return { kind: "ref", name: entry.name };
    if (isNever(entry.shape)) return entry.shape;
    // A large shape is never inlined, because each level of nested generic types would double the schema.
    if (isLarge(entry.shape)) entry.referred = true;
    return named || entry.referred ? { kind: "ref", name: entry.name } : entry.shape;
  }

  /** Sets the shape of a type that was defined without one. */
  complete(type: object, shape: Shape): void {
    const entry = this.#entries.get(type);
    if (entry !== undefined) entry.shape = shape;
  }

  /** Shape that a reference refers to, if lowered already; any other shape unchanged. */
  resolve(shape: Shape): Shape {
    if (shape.kind !== "ref") return shape;
    return this.#byName.get(shape.name)?.shape ?? shape;
  }

  /**
   * Selects the types that stay definitions: recursive ones, those used more than once, and deeply nested ones (tsc
   * rejects values that are nested too deeply). `inline` replaces references to all other types by their shapes.
   */
  choose(roots: readonly Shape[]): { readonly kept: Definition[]; readonly inline: (shape: Shape) => Shape } {
    const shapes = new Map<string, Shape>();
    for (const { name, shape } of this.#entries.values()) if (shape !== undefined) shapes.set(name, shape);
    const uses = new Map<string, number>();
    const staying = new Set<string>();
    const heights = new Map<string, number>();
    const heightOf = (name: string) => (staying.has(name) ? 0 : (heights.get(name) ?? 0));
    const visit = (shape: Shape, open: readonly string[]): void => {
      // Collects names first and visits them later, so that each level of types takes fewer stack frames.
      const names: string[] = [];
      forEachRef(shape, (name) => names.push(name));
      for (const name of names) {
        uses.set(name, (uses.get(name) ?? 0) + 1);
        if (open.includes(name)) staying.add(name);
        const target = shapes.get(name);
        if (uses.get(name) !== 1 || target === undefined) continue;
        visit(target, [...open, name]);
        const levels = height(target, heightOf);
        heights.set(name, levels);
        if (levels > MAX_INLINE_LEVELS) staying.add(name);
      }
    };
    for (const root of roots) visit(root, []);
    const stays = (name: string) => staying.has(name) || (uses.get(name) ?? 0) > 1;
    const inline = (shape: Shape): Shape =>
      mapRefs(shape, (ref) => {
        const target = shapes.get(ref.name);
        if (stays(ref.name) || target === undefined) return ref;
        const inlined = inline(target);
        const doc = ref.doc ?? inlined.doc;
        return doc === undefined ? inlined : { ...inlined, doc };
      });
    const kept = [...uses.keys()]
      .filter(stays)
      .map((name) => ({ name, shape: inline(shapes.get(name) ?? { kind: "json" }) }));
    return { kept, inline };
  }

  #uniqueName({ name: declared, subject }: Naming): string {
    const base =
      declared === undefined || declared.startsWith("__") || declared === "Array" || declared === "ReadonlyArray"
        ? subject.split(".").slice(1).join("_")
        : declared;
    const clean = base.replace(/[^A-Za-z0-9_]+/g, "_").replace(/^_+|_+$/g, "") || "Type";
    let name = clean;
    for (let count = 2; this.#byName.has(name); count++) name = `${clean}_${count}`;
    return name;
  }
}

/** Whether a shape has at least 20 parts, not counting those of its definitions. */
function isLarge(shape: Shape): boolean {
  let left = 20;
  const visit = (part: Shape): boolean => --left <= 0 || partsOf(part).some(visit);
  return visit(shape);
}

/** Number of nesting levels of a shape, including the definitions that it refers to. */
function height(shape: Shape, heightOf: (name: string) => number): number {
  if (shape.kind === "ref") return heightOf(shape.name);
  return 1 + partsOf(shape).reduce((most, part) => Math.max(most, height(part, heightOf)), 0);
}
