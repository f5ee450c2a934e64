/**
 * typescript-json-schema as the second reader: it derives schemas from the types of a tool without svc-gen's model. It
 * gets no comments, because it would call `require()` for paths in them and follow `@$ref`, `@ignore` and `@type`.
 */

import { escapeRegex } from "../../text/escape-regex.js";
import { type JsonObject, readJson } from "../../text/json.js";
import { loadSchemaLibrary, type Program } from "../project/program.js";
import { ts } from "../project/typescript.js";
import {
  ABSENT,
  isDataReference,
  isErrorPathWrapper,
  TypePredicates,
  unionConstituents,
} from "../types/type-predicates.js";

const { TypeFlags } = ts;

type Definition = Record<string, unknown> & {
  properties?: Record<string, Definition>;
  required?: string[];
  patternProperties?: Record<string, Definition>;
};

/** Part of the library's generator that is used. Its type declarations make most of it private. */
interface LibraryGenerator {
  readonly ReffedDefinitions: Readonly<Record<string, Definition>>;
  readonly tc: ts.TypeChecker;
  resetSchemaSpecificProperties(): void;
  getTypeDefinition(type: ts.Type, ...more: unknown[]): Definition;
  getDefinitionForRootType(type: ts.Type, ...more: [unknown, Definition, ...unknown[]]): Definition;
  getIntersectionDefinition(type: ts.IntersectionType, definition: Definition): Definition;
  getClassDefinition(type: ts.Type, definition: Definition): Definition;
  getReferencedTypeSymbol(property: ts.Symbol): ts.Symbol | undefined;
}

type Library = {
  readonly JsonSchemaGenerator: new (...args: unknown[]) => LibraryGenerator;
  readonly getDefaultArgs: () => object;
};

/**
 * Reads a type of a program.
 *
 * @param plain object types that are an input or a payload; without members, they are empty JSON objects
 * @throws {@link NotCompared}, or any error that the library throws for an unsupported type
 */
export type ReadType = (type: ts.Type, plain: readonly ts.Type[]) => JsonObject;

/** Pattern that the library writes for names of a number index signature. */
export const NUMBER_INDEX = "^[0-9]+$";

/**
 * Thrown for a type that the library misreads, and for which a correction is not worth its code: an interface that
 * extends Array (the library derives an object with Array's members), a member whose name is a symbol or `__proto__`, a
 * tuple `[...A[], B]` (it repeats B instead of A), an alias named integer (it derives an integer), and a template literal
 * type with other placeholders than string, number and bigint (it omits them from the pattern).
 */
export class NotCompared extends Error {}

/** Returns a function that reads types with the library and corrects its known faults. */
export function openLibrary(program: Program): ReadType {
  const { JsonSchemaGenerator, getDefaultArgs } = loadSchemaLibrary() as Library;
  const predicates = new TypePredicates(program);
  let objects: readonly ts.Type[] = [];
  /** Structured types of one reading. The names are numbers, which cannot collide with names of types. */
  let once = new Map<ts.Type, { readonly name: string; readonly definition: Definition }>();
  let shared: Record<string, Definition> = {};

  const orNull = (definition: Definition): Definition => ({ anyOf: [definition, { type: "null" }] });

  /**
   * The library's reader, without comments, because it would call `require()` for paths in them. It corrects what the
   * library cannot know about the wire format, and what it misreads:
   *
   * - A bigint is an integer, and a Uint8Array base64 text; the library derives a number with properties, and an array.
   * - DataRef<T> and WithSerdeErrorPath<T> have the schema of T; the library derives the schemas of the classes.
   * - `object` also accepts arrays, and `{}` everything except null; the library accepts only objects for both.
   * - `never` has no value; the library throws an error.
   * - A branded type has the schema of its base; the library also requires an object.
   * - An intersection is one object with the members of all parts; the library applies each part separately, even one
   *   that allows no other members.
   * - Index signatures: the library omits those of mapped types, throws for template literals, does not substitute T in a
   *   generic interface, and applies patterns to declared members too.
   * - `a: T | undefined` may be absent; the library requires it unless the type is instantiated.
   * - An optional member or tuple element may be null, also `a?: never` and `a?: undefined`; `undefined` in an array of a
   *   result is written as null.
   */
  class Reader extends JsonSchemaGenerator {
    parseCommentsIntoDefinition(): void {}

    override getReferencedTypeSymbol(property: ts.Symbol): ts.Symbol | undefined {
      const symbol = super.getReferencedTypeSymbol(property);
      if (symbol?.name === "integer") throw new NotCompared();
      return symbol;
    }

    override getTypeDefinition(type: ts.Type, ...more: unknown[]): Definition {
      const instead = this.#replacement(type);
      if (instead !== undefined) return this.getTypeDefinition(instead, ...more);
      return this.#correction(type) ?? this.#readOnce(type, more);
    }

    /**
     * Makes each structured type a definition. The library would inline types without a name at each use, which doubles
     * the schema with each level of nested generic types.
     */
    #readOnce(type: ts.Type, more: readonly unknown[]): Definition {
      const before = once.get(type);
      if (before !== undefined) {
        shared[before.name] = before.definition;
        return { $ref: `#/definitions/${before.name}` };
      }
      const definition = super.getTypeDefinition(type, ...more);
      const isStructured = ["properties", "items", "anyOf"].some((name) => Object.hasOwn(definition, name));
      // A recursive type was added while its members were read.
      if (isStructured && !once.has(type)) once.set(type, { name: String(once.size), definition });
      return definition;
    }

    /** Type that the library reads instead of this one. */
    #replacement(type: ts.Type): ts.Type | undefined {
      const reference = unionConstituents(type).find(isDataReference);
      const [data] = reference === undefined ? [] : this.tc.getTypeArguments(reference);
      if (data !== undefined) return data;
      const [wrapped] = isErrorPathWrapper(type) ? this.tc.getTypeArguments(type as ts.TypeReference) : [];
      if (wrapped !== undefined) return wrapped;
      if (!type.isIntersection()) return undefined;
      return type.types.find(
        (part) =>
          !(part.flags & (TypeFlags.Object | TypeFlags.NonPrimitive)) ||
          predicates.isList(part) ||
          predicates.isSpecial(part),
      );
    }

    #correction(type: ts.Type): Definition | undefined {
      const { flags } = type;
      if (flags & TypeFlags.BigInt) return { type: "integer" };
      if (
        flags & TypeFlags.Never ||
        (type.isIntersection() && this.tc.isTypeAssignableTo(type, this.tc.getNeverType()))
      ) {
        return { not: {} };
      }
      if (flags & ABSENT) return { type: "null" };
      if (isUnreadTemplate(type)) throw new NotCompared();
      if (flags & TypeFlags.NonPrimitive) return anyOf("object", "array");
      if (!(flags & TypeFlags.Object) || predicates.isList(type)) return undefined;
      const name = predicates.builtIn(type);
      if (name === "Uint8Array") return { type: "string", contentEncoding: "base64" };
      if (name === "Date") return undefined;
      if (predicates.inheritedElement(type) !== undefined) throw new NotCompared();
      if (!predicates.isEmpty(type)) return undefined;
      return objects.includes(type) ? { type: "object" } : anyOf("boolean", "number", "string", "array", "object");
    }

    override getIntersectionDefinition(type: ts.IntersectionType, definition: Definition): Definition {
      return this.getClassDefinition(type, definition);
    }

    override getDefinitionForRootType(type: ts.Type, ...more: [unknown, Definition, ...unknown[]]): Definition {
      const [, definition] = more;
      if (this.tc.isTupleType(type)) {
        super.getDefinitionForRootType(type, ...more);
        return this.#correctTuple(type as ts.TupleTypeReference, definition);
      }
      const isIndexed =
        (type.flags & TypeFlags.Object) !== 0 && !predicates.isList(type) && predicates.builtIn(type) === undefined;
      return isIndexed ? this.getClassDefinition(type, definition) : super.getDefinitionForRootType(type, ...more);
    }

    #correctTuple(type: ts.TupleTypeReference, definition: Definition): Definition {
      const { elementFlags, minLength } = type.target;
      const rest = elementFlags.findIndex((flag) => flag & ts.ElementFlags.Rest);
      if (rest >= 0 && rest < elementFlags.length - 1) throw new NotCompared();
      const places = Array.isArray(definition.items) ? definition.items : [];
      for (let at = minLength; at < places.length; at++) places[at] = orNull(places[at]);
      return definition;
    }

    override getClassDefinition(type: ts.Type, definition: Definition): Definition {
      const properties = this.tc.getPropertiesOfType(type);
      super.getClassDefinition(withoutIndexSyntax(type, program.sources[0] as ts.Node), definition);
      for (const property of properties) this.#correctMember(property, definition);
      for (const { keyType, type: value } of this.tc.getIndexInfosOfType(type)) {
        if (keyType.flags & TypeFlags.ESSymbol) continue;
        const given = unionConstituents(value).map((part) => this.getTypeDefinition(part));
        const values =
          value.isUnion() && given.length < value.types.length ? { anyOf: given } : this.getTypeDefinition(value);
        if (keyType.flags & TypeFlags.String) definition.additionalProperties = values;
        else {
          const pattern = keyType.flags & TypeFlags.Number ? NUMBER_INDEX : this.getTypeDefinition(keyType).pattern;
          const undeclared = `(?!(?:${properties.map(({ name }) => escapeRegex(name)).join("|")})$)`;
          const names = `^${properties.length === 0 ? "" : undeclared}${String(pattern).slice(1)}`;
          definition.patternProperties = { ...definition.patternProperties, [names]: values };
          definition.additionalProperties ??= false;
        }
      }
      return definition;
    }

    /**
     * Corrects what the library derives from a member: `never` is one, a union with `undefined` is not required, and
     * what is not required may be null.
     */
    #correctMember(property: ts.Symbol, definition: Definition): void {
      if (String(property.escapedName).startsWith("__@")) throw new NotCompared();
      if (property.name === "__proto__") throw new NotCompared();
      const type = this.tc.getTypeOfSymbol(property);
      const parts = type.isUnion() ? type.types : [type];
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      if (type.flags & TypeFlags.Never && !isOptional) {
        definition.properties = { ...definition.properties, [property.name]: this.getTypeDefinition(type) };
        definition.required = [...(definition.required ?? []), property.name];
        return;
      }
      const isAbsent = ({ flags }: ts.Type) => (flags & (ABSENT | TypeFlags.Never)) !== 0;
      if (parts.some(isAbsent) && definition.required?.includes(property.name)) {
        definition.required = definition.required.filter((name) => name !== property.name);
      }
      if (definition.required?.includes(property.name)) return;
      const own = Object.entries(definition.properties ?? {}).find(([name]) => name === property.name)?.[1];
      const schema = parts.every(isAbsent) ? { type: "null" } : own && orNull(own);
      if (schema !== undefined) definition.properties = { ...definition.properties, [property.name]: schema };
    }
  }

  const reader = new Reader([], {}, {}, {}, program.checker, { ...getDefaultArgs(), required: true });
  return (type, plain) => {
    objects = plain;
    once = new Map();
    shared = {};
    reader.resetSchemaSpecificProperties();
    const definition = silently(() => reader.getTypeDefinition(type));
    const text = JSON.stringify({ ...definition, definitions: { ...reader.ReffedDefinitions, ...shared } });
    return readJson(text) as JsonObject;
  };
}

/** Whether a template literal type has placeholders that the library omits from its pattern. */
function isUnreadTemplate(type: ts.Type): boolean {
  const read = TypeFlags.String | TypeFlags.Number | TypeFlags.BigInt;
  return (
    (type.flags & TypeFlags.TemplateLiteral) !== 0 &&
    (type as ts.TemplateLiteralType).types.some(({ flags }) => !(flags & read))
  );
}

const anyOf = (...types: readonly string[]): Definition => ({ anyOf: types.map((type) => ({ type })) });

/** Type without index signatures. The library takes those from the declaration, but properties from the checker. */
function withoutIndexSyntax(type: ts.Type, fallback: ts.Node): ts.Type {
  const node = type.getSymbol()?.declarations?.[0] ?? fallback;
  const declarations = [Object.create(node, { members: { value: undefined } })];
  return Object.create(type, { getSymbol: { value: () => ({ getDeclarations: () => declarations }) } });
}

/** Suppresses the library's console warnings about initializers of class members, which do not affect types. */
function silently<T>(read: () => T): T {
  const { warn } = console;
  console.warn = () => {};
  try {
    return read();
  } finally {
    console.warn = warn;
  }
}
