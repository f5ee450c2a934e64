/**
 * Order of members and of union constituents. The order of ports is that of their declarations, because it is part of the
 * wire format. Every other order only has to be stable, which that of the checker is not: it sorts the constituents of
 * unions, and the members of types mapped over them, by type ids, which change with unrelated files.
 */

import type { Program } from "../project/program.js";
import { ts } from "../project/typescript.js";
import {
  argumentsOf,
  linksOf,
  MAX_DEPTH,
  type MappedType,
  type SyntaxReader,
  type TypeSyntax,
  typeAnnotation,
} from "./type-syntax.js";

export class DeclaredOrder {
  readonly #checker: ts.TypeChecker;
  readonly #isForeign: Program["isForeign"];
  readonly #syntax: SyntaxReader;
  readonly #texts = new WeakMap<ts.Type, string>();

  constructor({ checker, isForeign }: Program, syntax: SyntaxReader) {
    this.#checker = checker;
    this.#isForeign = isForeign;
    this.#syntax = syntax;
  }

  /**
   * Ports in declared order: first those of base types; those of intersections from left to right; those of mapped types
   * in the order of their source, or in that of their keys.
   */
  portOrder(type: ts.Type, syntax: TypeSyntax | undefined): readonly ts.Symbol[] {
    return this.#members(type, syntax, true);
  }

  /** Members in the order of {@link portOrder}. Keys that a package declares are ordered by name. */
  memberOrder(type: ts.Type, syntax: TypeSyntax | undefined): readonly ts.Symbol[] {
    return this.#members(type, syntax, false);
  }

  /**
   * Constituents of a union, in the order of the syntax where the project states it; otherwise by place of declaration,
   * and then by text.
   */
  unionOrder(types: readonly ts.Type[], syntax: TypeSyntax | undefined): readonly ts.Type[] {
    if (types.length < 2) return types;
    const places = new Places();
    if (syntax !== undefined) this.#collect(syntax, places, false);
    return [...types].sort(
      (one, other) => compareLists(places.of(one), places.of(other)) || this.#compareTypes(one, other),
    );
  }

  #compareTypes(one: ts.Type, other: ts.Type): number {
    if (one.isNumberLiteral() && other.isNumberLiteral()) return one.value - other.value;
    return (
      comparePlaces(declarationOf(one), declarationOf(other)) ||
      compare(this.#textOf(one), this.#textOf(other)) ||
      compare(this.#fullTextOf(one), this.#fullTextOf(other))
    );
  }

  #textOf(type: ts.Type): string {
    if (type.isStringLiteral()) return JSON.stringify(type.value);
    const text = this.#texts.get(type) ?? this.#checker.typeToString(type);
    this.#texts.set(type, text);
    return text;
  }

  #fullTextOf(type: ts.Type): string {
    return this.#checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
  }

  /** Collects the constituents of a type in the order of its syntax. */
  #collect(syntax: TypeSyntax, places: Places, foreign: boolean, depth = 0): void {
    const at = this.#syntax.resolve(syntax);
    if (at === undefined || depth > MAX_DEPTH) return;
    const { node, environment } = at;
    if (!foreign && this.#isForeign(node.getSourceFile())) return;
    const into = (inner: ts.TypeNode | undefined) => {
      if (inner !== undefined) this.#collect({ node: inner, environment }, places, foreign, depth + 1);
    };
    if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node)) node.types.forEach(into);
    else if (ts.isConditionalTypeNode(node)) [node.trueType, node.falseType].forEach(into);
    else if (ts.isMappedTypeNode(node)) {
      places.add(this.#checker.getTypeFromTypeNode(node));
      into(node.typeParameter.constraint);
    } else if (ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.KeyOfKeyword) {
      const source = this.#syntax.resolve({ node: node.type, environment });
      const type = this.#checker.getTypeFromTypeNode(source?.node ?? node.type);
      for (const { name } of this.#members(type, source, foreign)) places.addName(name);
    } else if (ts.isIndexedAccessTypeNode(node)) {
      this.#collectAccess(node, places, into);
    } else if (ts.isTemplateLiteralTypeNode(node)) {
      for (const text of this.#templateTexts(node, at, foreign)) places.addName(text);
    } else {
      const type = this.#checker.getTypeFromTypeNode(node);
      places.add(type);
      const alias = this.#syntax.alias(at);
      if (alias !== undefined) {
        places.expand(alias.declaration, () => this.#collect(alias.body, places, foreign, depth + 1));
      } else if (type.isUnion()) {
        const isBoolean = (type.flags & ts.TypeFlags.Boolean) !== 0;
        for (const part of isBoolean ? type.types : this.unionOrder(type.types, undefined)) places.add(part);
      }
      // The results of conditional and intrinsic types have no syntax; they differ by the type arguments.
      places.newArguments(argumentsOf(node)).forEach(into);
    }
  }

  /** Collects the elements of a list or the types of members: `(typeof COLORS)[number]`, `Shape["kind"]`. */
  #collectAccess(node: ts.IndexedAccessTypeNode, places: Places, into: (inner: ts.TypeNode | undefined) => void): void {
    const type = this.#checker.getTypeFromTypeNode(node.objectType);
    const index = this.#checker.getTypeFromTypeNode(node.indexType);
    for (const part of type.isUnion() ? this.unionOrder(type.types, undefined) : [type]) {
      if (this.#checker.isTupleType(part)) {
        for (const element of this.#checker.getTypeArguments(part as ts.TypeReference)) places.add(element);
        continue;
      }
      const properties = this.#checker.getPropertiesOfType(part);
      for (const property of properties.filter(({ name }) => !index.isStringLiteral() || name === index.value)) {
        places.add(this.#checker.getTypeOfSymbol(property));
        into(typeAnnotation(property));
      }
    }
    // The types of a generic type's members are not known, but their names may be part of the result.
    if (ts.isTypeOperatorNode(node.indexType)) into(node.indexType);
  }

  /** All texts of a template literal type whose placeholders are literals. The first placeholder changes slowest. */
  #templateTexts(
    { head, templateSpans }: ts.TemplateLiteralTypeNode,
    { environment }: TypeSyntax,
    foreign: boolean,
  ): string[] {
    let texts = [head.text];
    for (const { type, literal } of templateSpans) {
      const places = new Places();
      this.#collect({ node: type, environment }, places, foreign);
      texts = texts.flatMap((text) => places.names().map((each) => `${text}${each}${literal.text}`));
    }
    return texts;
  }

  #members(type: ts.Type, syntax: TypeSyntax | undefined, foreign: boolean): readonly ts.Symbol[] {
    const properties = this.#checker.getPropertiesOfType(type);
    if (properties.length < 2) return properties;
    return sortByName(properties, this.#memberNames(type, syntax, foreign, 0), ({ name }) => name);
  }

  #memberNames(type: ts.Type, syntax: TypeSyntax | undefined, foreign: boolean, depth: number): readonly string[] {
    const properties = this.#checker.getPropertiesOfType(type);
    if (depth > MAX_DEPTH) return properties.map(({ name }) => name);
    if (type.isIntersection()) {
      const nodes = this.#syntax.intersectionParts(syntax);
      return type.types.flatMap((part, index) => {
        const use = nodes?.length === type.types.length ? nodes[index] : syntax;
        return this.#memberNames(part, use, foreign, depth + 1);
      });
    }
    const mapped: MappedType = type as ts.ObjectType;
    if (mapped.declaration !== undefined && ts.isMappedTypeNode(mapped.declaration)) {
      return this.#mappedNames(mapped, syntax, properties, foreign, depth);
    }
    const { target = type } = type as Partial<ts.TypeReference>;
    const bases = target.isClassOrInterface() ? this.#checker.getBaseTypes(target) : [];
    const inherited = bases.flatMap((base) => this.#memberNames(base, undefined, foreign, depth + 1));
    const own = properties.filter(({ name }) => !inherited.includes(name));
    const isDeclared = own.every(({ declarations }) => declarations?.[0] !== undefined);
    const sorted = isDeclared
      ? [...own].sort((one, other) => comparePlaces(one.declarations?.[0], other.declarations?.[0]))
      : own;
    return [...inherited, ...sorted.map(({ name }) => name)];
  }

  #mappedNames(
    { modifiersType: source }: MappedType,
    syntax: TypeSyntax | undefined,
    properties: readonly ts.Symbol[],
    foreign: boolean,
    depth: number,
  ): readonly string[] {
    const isObject = source !== undefined && (source.flags & ts.TypeFlags.StructuredType) !== 0;
    const order = isObject ? this.#memberNames(source, syntax, foreign, depth + 1) : [];
    const known = new Set(order);
    const origin = (property: ts.Symbol) => linksOf(property).syntheticOrigin?.name ?? property.name;
    const copied = properties.filter((property) => known.has(origin(property)));
    const names = sortByName(copied, order, origin).map(({ name }) => name);
    const rest = properties.filter((property) => !known.has(origin(property)));
    if (rest.length < 2) return [...names, ...rest.map(({ name }) => name)];
    const places = new Places();
    if (syntax !== undefined) this.#collect(syntax, places, foreign);
    const key = (property: ts.Symbol) => linksOf(property).keyType;
    const keys = [...rest].sort(
      (one, other) =>
        places.ofName(one.name) - places.ofName(other.name) ||
        comparePlaces(declarationOf(key(one)), declarationOf(key(other))) ||
        compare(one.name, other.name),
    );
    return [...names, ...keys.map(({ name }) => name)];
  }
}

/** Positions of types, of their declarations and of literals, in the order in which they are first added. */
class Places {
  readonly #places = new Map<ts.Type | ts.Node | string, number>();
  readonly #arguments = new Set<ts.TypeNode>();
  /** Aliases that are being expanded; those without parameters remain. */
  readonly #expanded = new Set<ts.TypeAliasDeclaration>();
  #expansions = 0;

  add(type: ts.Type): void {
    this.#put(type);
    const literal = literalText(type);
    if (literal !== undefined) this.#put(literal);
    const declaration = declarationOf(type);
    if (declaration !== undefined) this.#put(declaration);
  }

  addName(name: string): void {
    this.#put(name);
  }

  /** Runs a walk of an alias, unless it would repeat one or is one of too many. */
  expand(alias: ts.TypeAliasDeclaration, walk: () => void): void {
    if (this.#expanded.has(alias) || ++this.#expansions > MAX_EXPANSIONS) return;
    this.#expanded.add(alias);
    walk();
    if (alias.typeParameters !== undefined) this.#expanded.delete(alias);
  }

  /** Arguments of a reference that were not requested before. */
  newArguments(args: readonly ts.TypeNode[] = []): readonly ts.TypeNode[] {
    const found = args.filter((argument) => !this.#arguments.has(argument));
    for (const argument of found) this.#arguments.add(argument);
    return found;
  }

  #put(key: ts.Type | ts.Node | string): void {
    if (!this.#places.has(key)) this.#places.set(key, this.#places.size);
  }

  names(): readonly string[] {
    return [...this.#places.keys()].filter((key) => typeof key === "string");
  }

  ofName(name: string): number {
    return this.#places.get(name) ?? NO_PLACE;
  }

  /** Places of a type. An intersection has those of its parts. */
  of(type: ts.Type): readonly number[] {
    const known = this.#places.get(type) ?? this.#places.get(literalText(type) ?? type);
    if (known !== undefined) return [known];
    if (type.isIntersection()) return type.types.flatMap((part) => this.of(part));
    return [this.#places.get(declarationOf(type) ?? type) ?? NO_PLACE];
  }
}

const NO_PLACE = Number.MAX_SAFE_INTEGER;

/** Maximum number of aliases that are expanded for one type. */
const MAX_EXPANSIONS = 1_000;

/** Members of an enum; those of merged declarations are ordered by position. */
export function enumMembers(symbol: ts.Symbol): ts.EnumMember[] {
  return (symbol.declarations ?? [])
    .filter(ts.isEnumDeclaration)
    .sort(comparePlaces)
    .flatMap(({ members }) => [...members]);
}

/** Sorts members by the first occurrence of a name in a list; others follow. */
function sortByName(
  properties: readonly ts.Symbol[],
  names: readonly string[],
  nameOf: (property: ts.Symbol) => string,
): readonly ts.Symbol[] {
  const places = new Map([...new Set(names)].map((name, place) => [name, place]));
  const place = (property: ts.Symbol) => places.get(nameOf(property)) ?? NO_PLACE;
  return [...properties].sort((one, other) => place(one) - place(other));
}

function literalText(type: ts.Type): string | undefined {
  if (type.flags & ts.TypeFlags.EnumLiteral) return undefined;
  return type.isStringLiteral() || type.isNumberLiteral() ? String(type.value) : undefined;
}

function declarationOf(type: ts.Type | undefined): ts.Node | undefined {
  return type?.getSymbol()?.declarations?.[0];
}

function compareLists(one: readonly number[], other: readonly number[]): number {
  const differs = one.findIndex((place, at) => place !== other[at]);
  return differs < 0 || differs >= other.length
    ? one.length - other.length
    : (one[differs] as number) - (other[differs] as number);
}

function comparePlaces(one: ts.Node | undefined, other: ts.Node | undefined): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
  return compare(one.getSourceFile().fileName, other.getSourceFile().fileName) || one.pos - other.pos;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
