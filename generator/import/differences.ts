/**
 * Compares an imported schema with the one that svc-gen generates from the written types. The order of keywords, of
 * `required` and of several types is ignored; the order of properties is not.
 */

import {
  DEFINITIONS,
  dereferenced,
  namedSchemas,
  nestingOf,
  pointerStep,
  referenceOf,
  referencePointer,
  withoutKeywords,
} from "../contract/schema-reader.js";
import { type Json, JsonObject } from "../text/json.js";
import { isSame } from "./merge-schemas.js";

export interface SchemaDifference {
  /** Position in the imported metadata; for a keyword that only the generated schema has, where it would be. */
  readonly pointer: string;
  /** Undefined if the imported schema lacks it. */
  readonly imported: Json | undefined;
  /** Undefined if the generated schema lacks it. */
  readonly generated: Json | undefined;
}

/** Maximum number of references and inlined definitions that are followed. */
const MAX_HOPS = 64;

export interface SchemaComparison {
  readonly differences: readonly SchemaDifference[];
  /** JSON pointers of definitions that are inlined where they are used. */
  readonly inlined: readonly string[];
}

/** @param pointer position of the schemas in the metadata, such as `/input_schema` */
export function compareSchemas(imported: JsonObject, generated: JsonObject, pointer: string): SchemaComparison {
  const walk = new Walk(imported, generated, pointer);
  walk.schemas(imported, generated, pointer, 0);
  return walk.result();
}

const UNORDERED = ["required", "type"];

class Walk {
  /** Differences by pointer, because a definition is compared at each use. */
  readonly #found = new Map<string, SchemaDifference>();
  /** For each imported definition, the generated ones with which it was compared. */
  readonly #compared = new Map<Json, Set<Json>>();
  /** Definitions to which both schemas refer by `$ref`, so that neither inlines them. */
  readonly #kept = new Set<Json>();
  readonly #inlined = new Set<string>();

  readonly #imported: JsonObject;
  readonly #generated: JsonObject;
  readonly #root: string;

  constructor(imported: JsonObject, generated: JsonObject, root: string) {
    this.#imported = imported;
    this.#generated = generated;
    this.#root = root;
  }

  #add(pointer: string, imported: Json | undefined, generated: Json | undefined): void {
    if (!this.#found.has(pointer)) this.#found.set(pointer, { pointer, imported, generated });
  }

  schemas(one: Json, other: Json, pointer: string, hops: number): void {
    if (!(one instanceof JsonObject) || !(other instanceof JsonObject)) {
      if (!isSame(one, other)) this.#add(pointer, one, other);
      return;
    }
    if (one === other) return;
    const [from, to] = [referenceOf(one), referenceOf(other)];
    if (from === undefined && to === undefined) this.#keywords(one, other, pointer, hops);
    else if (hops > MAX_HOPS) this.#add(pointer, one, other);
    else this.#references(one, from, other, to, pointer, hops + 1);
  }

  /** Compares schemas if at least one is a reference. */
  #references(
    one: JsonObject,
    from: string | undefined,
    other: JsonObject,
    to: string | undefined,
    pointer: string,
    hops: number,
  ): void {
    const target = from === undefined ? undefined : dereferenced(one, this.#imported);
    const built = to === undefined ? undefined : dereferenced(other, this.#generated);
    const at = from === undefined ? pointer : referencePointer(this.#root, from);
    if (from !== undefined && target === undefined) this.#add(`${pointer}/$ref`, from, to);
    else if (from !== undefined && to !== undefined) {
      if (target !== undefined) this.#kept.add(target);
      if (from !== to) this.#add(`${pointer}/$ref`, from, to);
      this.#keywords(withoutKeywords(one, ["$ref"]), withoutKeywords(other, ["$ref"]), pointer, hops);
      if (target !== undefined && built !== undefined && this.#isNew(target, built)) {
        this.schemas(target, built, at, hops);
      }
    } else if (from !== undefined && target !== undefined) {
      this.#inlined.add(at);
      this.schemas(withSiblings(target, one), other, at, hops);
    } else if (built !== undefined) {
      this.#add(`${pointer}/$ref`, undefined, to);
      if (this.#isNew(one, built)) this.schemas(one, withSiblings(built, other), pointer, hops);
    }
  }

  #isNew(one: Json, other: Json): boolean {
    const known = this.#compared.get(one) ?? new Set();
    this.#compared.set(one, known);
    const isNew = !known.has(other);
    known.add(other);
    return isNew;
  }

  #keywords(one: JsonObject, other: JsonObject, pointer: string, hops: number): void {
    const [alternatives, branches] = [one.get("oneOf"), other.get("anyOf")];
    const isOnly = one.get("anyOf") === undefined && other.get("oneOf") === undefined;
    const isRenamed = isOnly && Array.isArray(alternatives) && Array.isArray(branches);
    if (isRenamed) {
      this.#add(`${pointer}/oneOf`, "oneOf", "anyOf");
      this.#keyword("anyOf", alternatives, branches, `${pointer}/oneOf`, hops);
    }
    for (const name of new Set([...one.members.keys(), ...other.members.keys()])) {
      if (isRenamed && (name === "oneOf" || name === "anyOf")) continue;
      // Definitions of the document are compared where they are used.
      if (pointer === this.#root && DEFINITIONS.includes(name)) continue;
      const at = `${pointer}/${pointerStep(name)}`;
      const [from, to] = [one.get(name), other.get(name)];
      if (from === undefined || to === undefined) this.#add(at, from, to);
      else this.#keyword(name, from, to, at, hops);
    }
  }

  #keyword(name: string, from: Json, to: Json, at: string, hops: number): void {
    const nesting = nestingOf(name, from);
    if (nesting === "named" && from instanceof JsonObject && to instanceof JsonObject) {
      this.#members(from, to, at, hops);
    } else if (nesting === "list" && Array.isArray(from) && Array.isArray(to)) {
      for (let index = 0; index < Math.max(from.length, to.length); index++) {
        const [branch, other] = [from[index] as Json | undefined, to[index] as Json | undefined];
        if (branch === undefined || other === undefined) this.#add(`${at}/${index}`, branch, other);
        else this.schemas(branch, other, `${at}/${index}`, hops);
      }
    } else if (nesting === "one") this.schemas(from, to, at, hops);
    else if (UNORDERED.includes(name) && Array.isArray(from) && Array.isArray(to)) {
      if (!isSame([...from].sort(), [...to].sort())) this.#add(at, from, to);
    } else if (!isSame(from, to)) this.#add(at, from, to);
  }

  #members(from: JsonObject, to: JsonObject, at: string, hops: number): void {
    const names = [...from.members.keys()];
    const others = [...to.members.keys()];
    for (const name of new Set([...names, ...others])) {
      const [one, other] = [from.get(name), to.get(name)];
      if (one === undefined || other === undefined) this.#add(`${at}/${pointerStep(name)}`, one, other);
      else this.schemas(one, other, `${at}/${pointerStep(name)}`, hops);
    }
    const common = names.filter((name) => to.members.has(name));
    if (
      !isSame(
        common,
        others.filter((name) => from.members.has(name)),
      )
    )
      this.#add(at, names, others);
  }

  result(): SchemaComparison {
    for (const keyword of DEFINITIONS) {
      for (const [name, schema] of namedSchemas(this.#imported, keyword)) {
        const pointer = `${this.#root}/${keyword}/${pointerStep(name)}`;
        if (!this.#kept.has(schema) && !this.#inlined.has(pointer)) this.#add(pointer, schema, undefined);
      }
    }
    return { differences: [...this.#found.values()], inlined: [...this.#inlined] };
  }
}

/** A definition merged with the sibling keywords of a reference to it. */
function withSiblings(target: Json, reference: JsonObject): Json {
  const siblings = withoutKeywords(reference, ["$ref"]).members;
  if (siblings.size === 0 || !(target instanceof JsonObject)) return target;
  return new JsonObject(new Map([...target.members, ...siblings]));
}
