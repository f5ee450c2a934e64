/**
 * Declared order of union members and object members, from the syntax of a type. The checker sorts union members, and
 * the members of types mapped over them, by internal type ids, which change with unrelated files.
 */

import { aliasTarget } from "../project/program.js";
import { ts } from "../project/typescript.js";
import {
  comparePlaces,
  isTypeReference,
  type MappedSymbol,
  type MappedType,
  mappedSource,
  Ranks,
  type Walks,
} from "./ranks.js";

/** Syntax of a type, with the arguments of the type parameters in scope. */
export interface TypeSyntax {
  readonly node: ts.TypeNode;
  readonly environment: TypeArguments;
}
export type TypeArguments = ReadonlyMap<ts.Symbol, TypeSyntax>;

const NO_ARGUMENTS: TypeArguments = new Map();

const MAX_DEPTH = 40;
/** TypeScript's intrinsic string types. */
const TEXT_MAPPINGS: Readonly<Record<string, (text: string) => string>> = {
  Uppercase: (text) => text.toUpperCase(),
  Lowercase: (text) => text.toLowerCase(),
  Capitalize: (text) => text.charAt(0).toUpperCase() + text.slice(1),
  Uncapitalize: (text) => text.charAt(0).toLowerCase() + text.slice(1),
};

export class DeclaredOrder {
  readonly #symbols = new Map<ts.Node, ts.Symbol | undefined>();
  readonly #walks: Walks = { open: new Map(), cut: 0 };

  readonly #checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  /** Symbol that a reference refers to; follows imports. */
  referenced(name: ts.Node): ts.Symbol | undefined {
    if (!this.#symbols.has(name)) {
      const symbol = this.#checker.getSymbolAtLocation(name);
      this.#symbols.set(name, symbol && aliasTarget(this.#checker, symbol));
    }
    return this.#symbols.get(name);
  }

  /** Removes parentheses and `readonly`, and replaces type parameters by their arguments. */
  resolveSyntax(syntax: TypeSyntax | undefined): TypeSyntax | undefined {
    let at = syntax;
    for (let hops = 0; at !== undefined && hops < MAX_DEPTH; hops++) {
      const { node, environment }: TypeSyntax = at;
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

  /** Alias that a reference refers to, and its type with the arguments bound to its type parameters. */
  resolveAlias(
    syntax: TypeSyntax,
  ): { readonly declaration: ts.TypeAliasDeclaration; readonly body: TypeSyntax } | undefined {
    const { node, environment } = syntax;
    if (!ts.isTypeReferenceNode(node)) return undefined;
    const declaration = this.referenced(node.typeName)?.declarations?.find(ts.isTypeAliasDeclaration);
    if (declaration === undefined) return undefined;
    const { type, typeParameters } = declaration;
    const bound =
      typeParameters === undefined ? NO_ARGUMENTS : this.#bind(typeParameters, node.typeArguments, environment);
    return { declaration, body: { node: type, environment: bound } };
  }

  #bind(
    parameters: readonly ts.TypeParameterDeclaration[] | undefined,
    args: readonly ts.TypeNode[] | undefined,
    environment: TypeArguments,
  ): TypeArguments {
    if (parameters === undefined) return environment;
    const inner = new Map(environment);
    parameters.forEach((parameter, index) => {
      const key = this.#checker.getSymbolAtLocation(parameter.name);
      const argument = args?.[index];
      if (key === undefined) return;
      if (argument !== undefined)
        inner.set(key, this.resolveSyntax({ node: argument, environment }) ?? { node: argument, environment });
      else if (parameter.default !== undefined) inner.set(key, { node: parameter.default, environment: inner });
      else inner.delete(key);
    });
    return inner;
  }

  /** Environment for the members of a type: type arguments of the reference and of its bases. */
  memberEnvironment(syntax: TypeSyntax | undefined): TypeArguments {
    const at = this.resolveSyntax(syntax);
    if (at === undefined) return new Map();
    const { node } = at;
    const alias = this.resolveAlias(at);
    if (alias !== undefined) return this.memberEnvironment(alias.body);
    if (ts.isIntersectionTypeNode(node)) {
      const inner = new Map(at.environment);
      for (const type of node.types) {
        for (const [key, value] of this.memberEnvironment({ node: type, environment: at.environment }))
          inner.set(key, value);
      }
      return inner;
    }
    if (!ts.isTypeReferenceNode(node)) return at.environment;
    let inner = at.environment;
    const visit = (symbol: ts.Symbol | undefined, args: readonly ts.TypeNode[] | undefined, depth: number): void => {
      for (const declaration of symbol?.declarations ?? []) {
        if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) continue;
        inner = this.#bind(declaration.typeParameters, args, inner);
        for (const clause of declaration.heritageClauses ?? []) {
          if (depth < MAX_DEPTH) {
            for (const base of clause.types) visit(this.referenced(base.expression), base.typeArguments, depth + 1);
          }
        }
      }
    };
    visit(this.referenced(node.typeName), node.typeArguments, 0);
    return inner;
  }

  /** Sorts the constituents of a union in declared order. */
  sortUnion(types: readonly ts.Type[], syntax: TypeSyntax | undefined): readonly ts.Type[] {
    const ranks = new Ranks(this.#checker, this.#walks);
    if (syntax !== undefined) this.#rank(syntax, ranks, 0);
    for (const type of types) this.#rankAliases(type, ranks, 0);
    return ranks.sort(types);
  }

  /** Names of a mapped type's members, in the declared order of its keys (`"b" | "a"`). */
  #sortKeys(syntax: TypeSyntax | undefined, properties: readonly ts.Symbol[]): string[] {
    const ranks = new Ranks(this.#checker, this.#walks);
    if (syntax !== undefined) this.#rank(syntax, ranks, 0);
    return ranks.sortMapped(properties).map(({ name }) => name);
  }

  #rankAliases(type: ts.Type, ranks: Ranks, depth: number): void {
    const declaration = type.aliasSymbol?.declarations?.find(ts.isTypeAliasDeclaration);
    if (declaration !== undefined && type.isUnion()) {
      this.#rank({ node: declaration.type, environment: new Map() }, ranks, depth + 1);
    }
  }

  /** Walks the syntax of a type and assigns the next rank to each constituent. */
  #rank(syntax: TypeSyntax, ranks: Ranks, depth: number): void {
    const at = this.resolveSyntax(syntax);
    if (at === undefined) return;
    if (depth > MAX_DEPTH) {
      this.#walks.cut++;
      return;
    }
    const { node, environment } = at;
    const into = (inner: ts.TypeNode, bound: TypeArguments = environment) =>
      this.#rank({ node: inner, environment: bound }, ranks, depth + 1);
    // An intersection may consist of unions, so its parts are ranked too.
    if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node)) {
      for (const type of node.types) into(type);
      return;
    }
    if (ts.isConditionalTypeNode(node)) {
      into(node.trueType);
      into(node.falseType);
      return;
    }
    if (ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.KeyOfKeyword) {
      const source = this.resolveSyntax({ node: node.type, environment });
      const type = this.#checker.getTypeFromTypeNode(source?.node ?? node.type);
      for (const { name } of this.properties(type, source)) ranks.addName(name);
      return;
    }
    if (ts.isIndexedAccessTypeNode(node)) {
      this.#rankAccess(node, environment, ranks, depth);
      // The member types of a generic type may not be among the ranked types, so this ranks the names of its members
      // and the member type of a mapped type.
      if (ts.isTypeOperatorNode(node.indexType)) into(node.indexType);
      const mapped = this.#mappedMemberType({ node: node.objectType, environment });
      if (mapped !== undefined) into(mapped.node, mapped.environment);
      return;
    }
    if (ts.isTemplateLiteralTypeNode(node)) {
      for (const text of this.#templateTexts(node, environment)) ranks.addName(text);
      return;
    }
    const type = this.#checker.getTypeFromTypeNode(node);
    ranks.add(type);
    if (ts.isTypeReferenceNode(node)) {
      const alias = this.resolveAlias(at);
      if (alias !== undefined) {
        const { declaration, body } = alias;
        ranks.expand(declaration, () => into(body.node, body.environment));
      }
      // The constituents of a distributive conditional type have no syntax; they differ by literals in the type
      // arguments.
      for (const argument of node.typeArguments ?? []) if (ranks.visitOnce(argument)) into(argument);
      if (alias?.body.node.kind === ts.SyntaxKind.IntrinsicKeyword) this.#rankMapped(alias.declaration, at, ranks);
      const symbol = this.referenced(node.typeName);
      if (alias === undefined && symbol !== undefined && symbol.flags & ts.SymbolFlags.Enum)
        this.#rankEnum(symbol, ranks);
      return;
    }
    if (type.isUnion()) {
      this.#rankAliases(type, ranks, depth);
      if (type.flags & ts.TypeFlags.Boolean) for (const part of type.types) ranks.add(part);
    }
  }

  /** Member type of a mapped type; undefined for any other type. */
  #mappedMemberType(syntax: TypeSyntax): TypeSyntax | undefined {
    let at = this.resolveSyntax(syntax);
    for (let hops = 0; at !== undefined && hops < MAX_DEPTH; hops++) {
      const { node, environment }: TypeSyntax = at;
      if (ts.isMappedTypeNode(node)) return node.type && { node: node.type, environment };
      at = this.resolveSyntax(this.resolveAlias(at)?.body);
    }
    return undefined;
  }

  #rankEnum(symbol: ts.Symbol, ranks: Ranks): void {
    for (const each of enumMembers(symbol)) {
      ranks.addNode(each);
      const value = this.#checker.getConstantValue(each);
      if (value !== undefined) ranks.addName(String(value));
    }
  }

  /** Ranks an intrinsic string type such as `Uppercase<"b" | "a">`: maps each literal of the argument. */
  #rankMapped({ name }: ts.TypeAliasDeclaration, { node, environment }: TypeSyntax, ranks: Ranks): void {
    const [argument] = (node as ts.TypeReferenceNode).typeArguments ?? [];
    const map = TEXT_MAPPINGS[name.text];
    if (argument === undefined || map === undefined) return;
    for (const text of this.#literalTexts({ node: argument, environment })) ranks.addName(map(text));
  }

  /** Literals of a union as texts, in declared order; empty for any other type. */
  #literalTexts(syntax: TypeSyntax): readonly string[] {
    const at = this.resolveSyntax(syntax) ?? syntax;
    const type = this.#checker.getTypeFromTypeNode(at.node);
    const parts = type.isUnion() ? this.sortUnion(type.types, at) : [type];
    return parts.flatMap((part) =>
      part.isStringLiteral() || part.isNumberLiteral()
        ? [String(part.value)]
        : part.flags & ts.TypeFlags.BooleanLiteral
          ? [this.#checker.typeToString(part)]
          : [],
    );
  }

  /** All texts of a template literal type whose placeholders are literals. The first placeholder changes slowest. */
  #templateTexts({ head, templateSpans }: ts.TemplateLiteralTypeNode, environment: TypeArguments): string[] {
    let texts = [head.text];
    for (const { type, literal } of templateSpans) {
      const inner = this.#literalTexts({ node: type, environment });
      texts = texts.flatMap((text) => inner.map((each) => `${text}${each}${literal.text}`));
    }
    return texts;
  }

  /**
   * Ranks the elements or members of an indexed access: `(typeof COLORS)[number]`, `Shapes[keyof Shapes]`,
   * `Shape["kind"]`.
   */
  #rankAccess(
    { objectType, indexType }: ts.IndexedAccessTypeNode,
    environment: TypeArguments,
    ranks: Ranks,
    depth: number,
  ): void {
    const target = this.resolveSyntax({ node: objectType, environment });
    const type = this.#checker.getTypeFromTypeNode(target?.node ?? objectType);
    const index = this.#checker.getTypeFromTypeNode(indexType);
    const wanted = index.isStringLiteral() ? index.value : undefined;
    const bound = this.memberEnvironment(target);
    for (const part of type.isUnion() ? this.sortUnion(type.types, target) : [type]) {
      if (this.#checker.isTupleType(part)) {
        for (const element of this.#checker.getTypeArguments(part as ts.TypeReference)) ranks.add(element);
        continue;
      }
      for (const property of this.properties(part, target)) {
        if (wanted !== undefined && property.name !== wanted) continue;
        ranks.add(this.#checker.getTypeOfSymbol(property));
        const syntax = typeAnnotation(property);
        if (syntax !== undefined) this.#rank({ node: syntax, environment: bound }, ranks, depth + 1);
      }
    }
  }

  /**
   * Members of an object type in declared order: first those of its bases; intersections from left to right; mapped
   * types in the order of their source.
   */
  properties(type: ts.Type, syntax: TypeSyntax | undefined): readonly ts.Symbol[] {
    const properties = this.#checker.getPropertiesOfType(type);
    const places = new Map<string, number>();
    for (const name of this.#memberNames(type, syntax, properties, 0))
      if (!places.has(name)) places.set(name, places.size);
    const place = ({ name }: ts.Symbol) => places.get(name) ?? Number.MAX_SAFE_INTEGER;
    return [...properties].sort((one, other) => place(one) - place(other));
  }

  #memberNames(
    type: ts.Type,
    syntax: TypeSyntax | undefined,
    properties: readonly ts.Symbol[],
    depth: number,
  ): readonly string[] {
    if (depth > MAX_DEPTH) return properties.map(({ name }) => name);
    const at = this.resolveSyntax(syntax);
    if (type.isIntersection()) {
      const nodes = this.#intersectionParts(at);
      return type.types.flatMap((part, index) => {
        const use = nodes?.length === type.types.length ? nodes[index] : undefined;
        return this.#memberNames(part, use, this.#checker.getPropertiesOfType(part), depth + 1);
      });
    }
    const mapped = type as MappedType;
    if (mapped.declaration !== undefined && ts.isMappedTypeNode(mapped.declaration)) {
      return this.#mappedMemberNames(mapped, mapped.declaration, at, properties, depth);
    }
    const symbol = type.getSymbol();
    if (symbol === undefined) return properties.map(({ name }) => name);
    const names: string[] = [];
    if (type.isClassOrInterface() || isTypeReference(type)) {
      const target = isTypeReference(type) ? (type.target as ts.InterfaceType) : (type as ts.InterfaceType);
      for (const base of this.#checker.getBaseTypes(target)) {
        names.push(...this.#memberNames(base, undefined, this.#checker.getPropertiesOfType(base), depth + 1));
      }
    }
    const own = properties.filter((property) => !names.includes(property.name));
    return [...names, ...sortedByPlace(own).map(({ name }) => name)];
  }

  #mappedMemberNames(
    type: MappedType,
    declaration: ts.MappedTypeNode,
    syntax: TypeSyntax | undefined,
    properties: readonly ts.Symbol[],
    depth: number,
  ): readonly string[] {
    const environment = this.#environmentOf(declaration, syntax);
    const source = mappedSource(type, this.#checker);
    const known: string[] = [];
    if (source !== undefined && source.flags & ts.TypeFlags.StructuredType) {
      const use = environment && this.#mappedSourceSyntax(declaration, environment);
      const order = this.#memberNames(source, use, this.#checker.getPropertiesOfType(source), depth + 1);
      const origin = (property: ts.Symbol) => (property as MappedSymbol).links?.syntheticOrigin?.name ?? property.name;
      const place = (property: ts.Symbol) => order.indexOf(origin(property));
      const found = properties.filter((property) => place(property) >= 0);
      known.push(...found.sort((one, other) => place(one) - place(other)).map(({ name }) => name));
    }
    const rest = properties.filter(({ name }) => !known.includes(name));
    if (rest.length === 0) return known;
    return [...known, ...this.#sortKeys(this.#mappedKeySyntax(type, declaration, environment), rest)];
  }

  /** Environment inside a mapped type; undefined if the syntax does not lead to its declaration. */
  #environmentOf(declaration: ts.MappedTypeNode, syntax: TypeSyntax | undefined): TypeArguments | undefined {
    let at = syntax;
    for (let hops = 0; at !== undefined && hops < MAX_DEPTH; hops++) {
      if (at.node === declaration) return at.environment;
      at = this.resolveSyntax(this.resolveAlias(at)?.body);
    }
    return undefined;
  }

  /** Syntax of `T` in `{ [K in keyof T]: … }`, and in `{ [P in K]: … }` where `K extends keyof T`. */
  #mappedSourceSyntax(declaration: ts.MappedTypeNode, environment: TypeArguments): TypeSyntax | undefined {
    let node = declaration.typeParameter.constraint;
    if (node !== undefined && ts.isTypeReferenceNode(node)) {
      const parameter = this.referenced(node.typeName)?.declarations?.find(ts.isTypeParameterDeclaration);
      node = parameter?.constraint ?? node;
    }
    if (node === undefined || !ts.isTypeOperatorNode(node)) return undefined;
    return this.resolveSyntax({ node: node.type, environment });
  }

  /** Syntax of `K` in `{ [P in K]: … }`. */
  #mappedKeySyntax(
    type: ts.Type,
    declaration: ts.MappedTypeNode,
    environment: TypeArguments | undefined,
  ): TypeSyntax | undefined {
    const node = declaration.typeParameter.constraint;
    if (node === undefined || environment !== undefined) return node && { node, environment: environment ?? new Map() };
    const [keys] = type.aliasTypeArguments ?? [];
    const named = keys?.aliasSymbol?.declarations?.find(ts.isTypeAliasDeclaration);
    return { node: named?.type ?? node, environment: new Map() };
  }

  #intersectionParts(syntax: TypeSyntax | undefined): readonly TypeSyntax[] | undefined {
    if (syntax === undefined) return undefined;
    const { node, environment } = syntax;
    if (ts.isIntersectionTypeNode(node)) {
      return node.types.flatMap((type) => {
        const inner = this.resolveSyntax({ node: type, environment });
        return inner === undefined ? [] : (this.#intersectionParts(inner) ?? [inner]);
      });
    }
    const alias = this.resolveAlias(syntax);
    return alias === undefined ? undefined : this.#intersectionParts(alias.body);
  }
}

export function typeAnnotation(property: ts.Symbol): ts.TypeNode | undefined {
  const declaration = property.valueDeclaration ?? property.declarations?.[0];
  if (declaration === undefined) return undefined;
  if (ts.isPropertySignature(declaration) || ts.isPropertyDeclaration(declaration) || ts.isParameter(declaration)) {
    return declaration.type;
  }
  return ts.isGetAccessorDeclaration(declaration) ? declaration.type : undefined;
}

/** Members of an enum; those of merged declarations are ordered by position. */
export function enumMembers(symbol: ts.Symbol): ts.EnumMember[] {
  return (symbol.declarations ?? [])
    .filter(ts.isEnumDeclaration)
    .sort(comparePlaces)
    .flatMap(({ members }) => [...members]);
}

/** Sorts members by position of declaration. Keeps the checker's order if a member has no declaration. */
function sortedByPlace(properties: readonly ts.Symbol[]): ts.Symbol[] {
  return properties.every((property) => property.declarations?.[0] !== undefined)
    ? [...properties].sort((one, other) => comparePlaces(one.declarations?.[0], other.declarations?.[0]))
    : [...properties];
}
