/**
 * The declared order. The checker sorts union members, and the members of mapped types over them, by its own type ids,
 * which unrelated files change; here the order comes from the type as it is written in the source.
 */

import { ts } from "./compiler.js";

/** A type as written, with what its type parameters stand for there. */
export interface Written {
  readonly node: ts.TypeNode;
  readonly environment: Environment;
}
export type Environment = ReadonlyMap<ts.Symbol, Written>;

/** What TypeScript keeps about mapped types and does not publish (5.9). */
interface MappedType extends ts.ObjectType {
  readonly declaration?: ts.MappedTypeNode;
  /** `T` in `{ [K in keyof T]: … }` and in `Pick<T, K>`; set once the members were asked for. */
  readonly modifiersType?: ts.Type;
}

const DEEPEST = 40;

export class DeclaredOrder {
  private readonly symbols = new Map<ts.Node, ts.Symbol | undefined>();

  constructor(private readonly checker: ts.TypeChecker) {}

  /** The symbol that a reference names, imports followed. */
  referenced(name: ts.Node): ts.Symbol | undefined {
    if (!this.symbols.has(name)) this.symbols.set(name, this.symbolAt(name));
    return this.symbols.get(name);
  }

  private symbolAt(name: ts.Node): ts.Symbol | undefined {
    const symbol = this.checker.getSymbolAtLocation(name);
    return symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  /** Parentheses, `readonly` and type parameters followed, as far as the environment knows them. */
  settle(written: Written | undefined): Written | undefined {
    let at = written;
    for (let hops = 0; at !== undefined && hops < DEEPEST; hops++) {
      const { node, environment }: Written = at;
      if (ts.isParenthesizedTypeNode(node)) at = { node: node.type, environment };
      else if (ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.ReadonlyKeyword) {
        at = { node: node.type, environment };
      } else if (ts.isTypeReferenceNode(node)) {
        const symbol = this.referenced(node.typeName);
        const argument = symbol === undefined ? undefined : environment.get(symbol);
        if (argument === undefined || argument === at) return at;
        at = argument;
      } else return at;
    }
    return at;
  }

  /** The alias that a reference names and its type as declared, type parameters bound to the arguments. */
  alias(written: Written): { readonly declaration: ts.TypeAliasDeclaration; readonly body: Written } | undefined {
    const { node, environment } = written;
    if (!ts.isTypeReferenceNode(node)) return undefined;
    const declaration = this.referenced(node.typeName)?.declarations?.find(ts.isTypeAliasDeclaration);
    if (declaration === undefined) return undefined;
    return {
      declaration,
      body: {
        node: declaration.type,
        environment: this.bind(declaration.typeParameters, node.typeArguments, environment),
      },
    };
  }

  /** An environment in which the parameters stand for the arguments (or their defaults). */
  bind(
    parameters: readonly ts.TypeParameterDeclaration[] | undefined,
    args: readonly ts.TypeNode[] | undefined,
    environment: Environment,
  ): Environment {
    if (parameters === undefined) return environment;
    const inner = new Map(environment);
    parameters.forEach((parameter, index) => {
      const key = this.checker.getSymbolAtLocation(parameter.name);
      const argument = args?.[index];
      if (key === undefined) return;
      if (argument !== undefined)
        inner.set(key, this.settle({ node: argument, environment }) ?? { node: argument, environment });
      else if (parameter.default !== undefined) inner.set(key, { node: parameter.default, environment: inner });
      else inner.delete(key);
    });
    return inner;
  }

  /** The environment for the members of a type that was written like this: arguments of the reference and of its bases. */
  inside(written: Written | undefined): Environment {
    const at = this.settle(written);
    if (at === undefined) return new Map();
    const { node } = at;
    const alias = this.alias(at);
    if (alias !== undefined) return this.inside(alias.body);
    if (ts.isIntersectionTypeNode(node)) {
      const inner = new Map(at.environment);
      for (const type of node.types) {
        for (const [key, value] of this.inside({ node: type, environment: at.environment })) inner.set(key, value);
      }
      return inner;
    }
    if (!ts.isTypeReferenceNode(node)) return at.environment;
    let inner = at.environment;
    const visit = (symbol: ts.Symbol | undefined, args: readonly ts.TypeNode[] | undefined, depth: number): void => {
      for (const declaration of symbol?.declarations ?? []) {
        if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) continue;
        inner = this.bind(declaration.typeParameters, args, inner);
        for (const clause of declaration.heritageClauses ?? []) {
          if (depth < DEEPEST) {
            for (const base of clause.types) visit(this.referenced(base.expression), base.typeArguments, depth + 1);
          }
        }
      }
    };
    visit(this.referenced(node.typeName), node.typeArguments, 0);
    return inner;
  }

  /** Constituents of a union, as written. */
  union(types: readonly ts.Type[], written: Written | undefined): readonly ts.Type[] {
    const ranks = new Ranks(this.checker);
    if (written !== undefined) this.rank(written, ranks, 0);
    for (const type of types) this.rankAliases(type, ranks);
    return ranks.sort(types);
  }

  /** The order of the names in a key type (`"b" | "a"`), as written. */
  private names(written: Written | undefined, names: readonly string[]): string[] {
    const ranks = new Ranks(this.checker);
    if (written !== undefined) this.rank(written, ranks, 0);
    return [...names].sort((one, other) => ranks.ofName(one) - ranks.ofName(other) || compare(one, other));
  }

  private rankAliases(type: ts.Type, ranks: Ranks): void {
    const declaration = type.aliasSymbol?.declarations?.find(ts.isTypeAliasDeclaration);
    if (declaration !== undefined && type.isUnion()) {
      this.rank({ node: declaration.type, environment: new Map() }, ranks, 0);
    }
  }

  /** Walks a written type in order and gives each constituent that it meets the next rank. */
  rank(written: Written, ranks: Ranks, depth: number): void {
    const at = this.settle(written);
    if (at === undefined || depth > DEEPEST) return;
    const { node, environment } = at;
    const into = (inner: ts.TypeNode, bound: Environment = environment) =>
      this.rank({ node: inner, environment: bound }, ranks, depth + 1);
    if (ts.isUnionTypeNode(node)) {
      for (const type of node.types) into(type);
      return;
    }
    if (ts.isConditionalTypeNode(node)) {
      into(node.trueType);
      into(node.falseType);
      return;
    }
    if (ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.KeyOfKeyword) {
      const type = this.checker.getTypeFromTypeNode(node.type);
      for (const { name } of this.properties(type, { node: node.type, environment })) ranks.addName(name);
      return;
    }
    if (ts.isIndexedAccessTypeNode(node)) {
      this.rankAccess(node, environment, ranks, depth);
      return;
    }
    const type = this.checker.getTypeFromTypeNode(node);
    if (ts.isTypeReferenceNode(node)) {
      const alias = this.alias(at);
      ranks.add(type);
      if (alias !== undefined) {
        into(alias.body.node, alias.body.environment);
        return;
      }
      const symbol = this.referenced(node.typeName);
      if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Enum)
        for (const each of enumMembers(symbol)) ranks.addNode(each);
      return;
    }
    ranks.add(type);
    if (type.isUnion()) this.rankAliases(type, ranks);
  }

  /** `(typeof COLORS)[number]`, `Shapes[keyof Shapes]`: elements and members in order. */
  private rankAccess(node: ts.IndexedAccessTypeNode, environment: Environment, ranks: Ranks, depth: number): void {
    const target = this.settle({ node: node.objectType, environment });
    const type = this.checker.getTypeFromTypeNode(target?.node ?? node.objectType);
    if (this.checker.isTupleType(type)) {
      for (const element of this.checker.getTypeArguments(type as ts.TypeReference)) ranks.add(element);
      return;
    }
    const bound = this.inside(target);
    for (const property of this.properties(type, target)) {
      ranks.add(this.checker.getTypeOfSymbol(property));
      const written = writtenOf(property);
      if (written !== undefined) this.rank({ node: written, environment: bound }, ranks, depth + 1);
    }
  }

  /** The members of an object type in declared order: bases first, intersections left to right, mapped types by source. */
  properties(type: ts.Type, written: Written | undefined): readonly ts.Symbol[] {
    const properties = this.checker.getPropertiesOfType(type);
    const places = new Map<string, number>();
    for (const name of this.memberNames(type, written, properties, 0))
      if (!places.has(name)) places.set(name, places.size);
    const place = ({ name }: ts.Symbol) => places.get(name) ?? Number.MAX_SAFE_INTEGER;
    return [...properties].sort((one, other) => place(one) - place(other));
  }

  private memberNames(
    type: ts.Type,
    written: Written | undefined,
    properties: readonly ts.Symbol[],
    depth: number,
  ): readonly string[] {
    if (depth > DEEPEST) return properties.map(({ name }) => name);
    const at = this.settle(written);
    if (type.isIntersection()) {
      const nodes = this.intersected(at);
      return type.types.flatMap((part, index) => {
        const use = nodes?.length === type.types.length ? nodes[index] : undefined;
        return this.memberNames(part, use, this.checker.getPropertiesOfType(part), depth + 1);
      });
    }
    const mapped = type as MappedType;
    if (mapped.declaration !== undefined && ts.isMappedTypeNode(mapped.declaration)) {
      return this.mappedNames(mapped, mapped.declaration, at, properties, depth);
    }
    const symbol = type.getSymbol();
    if (symbol === undefined) return properties.map(({ name }) => name);
    const names: string[] = [];
    if (type.isClassOrInterface() || isReference(type)) {
      const target = isReference(type) ? (type.target as ts.InterfaceType) : (type as ts.InterfaceType);
      for (const base of this.checker.getBaseTypes(target)) {
        names.push(...this.memberNames(base, undefined, this.checker.getPropertiesOfType(base), depth + 1));
      }
    }
    const own = properties.filter((property) => !names.includes(property.name));
    return [...names, ...byPlace(own).map(({ name }) => name)];
  }

  private mappedNames(
    type: MappedType,
    declaration: ts.MappedTypeNode,
    written: Written | undefined,
    properties: readonly ts.Symbol[],
    depth: number,
  ): readonly string[] {
    const environment = this.environmentOf(declaration, written);
    const source = type.modifiersType;
    const known: string[] = [];
    if (source !== undefined && source.flags & ts.TypeFlags.StructuredType) {
      const use = environment && this.mappedSource(declaration, environment);
      const order = this.memberNames(source, use, this.checker.getPropertiesOfType(source), depth + 1);
      const origin = (property: ts.Symbol) =>
        (property as { links?: { syntheticOrigin?: ts.Symbol } }).links?.syntheticOrigin?.name ?? property.name;
      const place = (property: ts.Symbol) => order.indexOf(origin(property));
      const found = properties.filter((property) => place(property) >= 0);
      known.push(...found.sort((one, other) => place(one) - place(other)).map(({ name }) => name));
    }
    const rest = properties.map(({ name }) => name).filter((name) => !known.includes(name));
    if (rest.length === 0) return known;
    return [...known, ...this.names(this.mappedKeys(type, declaration, environment), rest)];
  }

  /** What the type parameters stand for inside a mapped type, when the way from the written type leads there. */
  private environmentOf(declaration: ts.MappedTypeNode, written: Written | undefined): Environment | undefined {
    let at = written;
    for (let hops = 0; at !== undefined && hops < DEEPEST; hops++) {
      if (at.node === declaration) return at.environment;
      at = this.settle(this.alias(at)?.body);
    }
    return undefined;
  }

  /** The `T` of `{ [K in keyof T]: … }`, and of `{ [P in K]: … }` where `K extends keyof T`, as written. */
  private mappedSource(declaration: ts.MappedTypeNode, environment: Environment): Written | undefined {
    let node = declaration.typeParameter.constraint;
    if (node !== undefined && ts.isTypeReferenceNode(node)) {
      const parameter = this.referenced(node.typeName)?.declarations?.find(ts.isTypeParameterDeclaration);
      node = parameter?.constraint ?? node;
    }
    if (node === undefined || !ts.isTypeOperatorNode(node)) return undefined;
    return this.settle({ node: node.type, environment });
  }

  /** The `K` of `{ [P in K]: … }`, as written. */
  private mappedKeys(
    type: ts.Type,
    declaration: ts.MappedTypeNode,
    environment: Environment | undefined,
  ): Written | undefined {
    const node = declaration.typeParameter.constraint;
    if (node === undefined || environment !== undefined) return node && { node, environment: environment ?? new Map() };
    const [keys] = type.aliasTypeArguments ?? [];
    const named = keys?.aliasSymbol?.declarations?.find(ts.isTypeAliasDeclaration);
    return { node: named?.type ?? node, environment: new Map() };
  }

  private intersected(written: Written | undefined): readonly Written[] | undefined {
    if (written === undefined) return undefined;
    const { node, environment } = written;
    if (ts.isIntersectionTypeNode(node)) {
      return node.types.flatMap((type) => {
        const inner = this.settle({ node: type, environment });
        return inner === undefined ? [] : (this.intersected(inner) ?? [inner]);
      });
    }
    const alias = this.alias(written);
    return alias === undefined ? undefined : this.intersected(alias.body);
  }
}

/** Which constituent comes first, by what is known: the type itself, a name, or its declaration. */
class Ranks {
  private readonly types = new Map<ts.Type, number>();
  private readonly keys = new Map<string, number>();
  private readonly nodes = new Map<ts.Node, number>();
  private next = 0;

  constructor(private readonly checker: ts.TypeChecker) {}

  add(type: ts.Type): void {
    const rank = this.next++;
    if (!this.types.has(type)) this.types.set(type, rank);
    const key = keyOf(type);
    if (key !== undefined && !this.keys.has(key)) this.keys.set(key, rank);
    const node = declarationOf(type);
    if (node !== undefined && !this.nodes.has(node)) this.nodes.set(node, rank);
  }

  addName(name: string): void {
    const rank = this.next++;
    for (const key of [`string ${name}`, `number ${name}`]) if (!this.keys.has(key)) this.keys.set(key, rank);
  }

  addNode(node: ts.Node): void {
    const rank = this.next++;
    if (!this.nodes.has(node)) this.nodes.set(node, rank);
  }

  ofName(name: string): number {
    return this.keys.get(`string ${name}`) ?? this.keys.get(`number ${name}`) ?? Number.MAX_SAFE_INTEGER;
  }

  private of(type: ts.Type): number {
    const key = keyOf(type);
    const node = declarationOf(type);
    return (
      this.types.get(type) ??
      (key === undefined ? undefined : this.keys.get(key)) ??
      (node === undefined ? undefined : this.nodes.get(node)) ??
      Number.MAX_SAFE_INTEGER
    );
  }

  /** By rank; what was never met follows by place of declaration, then by its text: never by type id. */
  sort(types: readonly ts.Type[]): ts.Type[] {
    if (types.length < 2) return [...types];
    return [...types].sort((one, other) => {
      const ranked = this.of(one) - this.of(other);
      if (ranked !== 0) return ranked;
      if (one.isNumberLiteral() && other.isNumberLiteral()) return one.value - other.value;
      const declared = comparePlaces(declarationOf(one), declarationOf(other));
      return declared || compare(this.checker.typeToString(one), this.checker.typeToString(other));
    });
  }
}

function keyOf(type: ts.Type): string | undefined {
  if (type.flags & ts.TypeFlags.EnumLiteral) return undefined;
  if (type.isStringLiteral()) return `string ${type.value}`;
  if (type.isNumberLiteral()) return `number ${type.value}`;
  return undefined;
}

function declarationOf(type: ts.Type): ts.Node | undefined {
  return type.getSymbol()?.declarations?.[0];
}

/** The type annotation of a member, if it has one. */
export function writtenOf(property: ts.Symbol): ts.TypeNode | undefined {
  const declaration = property.valueDeclaration ?? property.declarations?.[0];
  if (declaration === undefined) return undefined;
  if (ts.isPropertySignature(declaration) || ts.isPropertyDeclaration(declaration) || ts.isParameter(declaration)) {
    return declaration.type;
  }
  return ts.isGetAccessorDeclaration(declaration) ? declaration.type : undefined;
}

/** The members of an enum as written, merged declarations by place. */
export function enumMembers(symbol: ts.Symbol): ts.EnumMember[] {
  return (symbol.declarations ?? [])
    .filter(ts.isEnumDeclaration)
    .sort(comparePlaces)
    .flatMap(({ members }) => [...members]);
}

function isReference(type: ts.Type): type is ts.TypeReference {
  return (
    ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference) !== 0 &&
    (type as ts.TypeReference).target !== undefined
  );
}

/** Own members by place of declaration; those without one keep the checker's order. */
function byPlace(properties: readonly ts.Symbol[]): ts.Symbol[] {
  return properties.every((property) => property.declarations?.[0] !== undefined)
    ? [...properties].sort((one, other) => comparePlaces(one.declarations?.[0], other.declarations?.[0]))
    : [...properties];
}

function comparePlaces(one: ts.Node | undefined, other: ts.Node | undefined): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
  return compare(one.getSourceFile().fileName, other.getSourceFile().fileName) || one.pos - other.pos;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
