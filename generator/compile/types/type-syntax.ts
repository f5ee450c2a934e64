/** Syntax of types: names and type parameters followed to their declarations, and the syntax of the parts of a type. */

import { aliasTarget } from "../project/program.js";
import { ts } from "../project/typescript.js";
import { isDataRef, isDataReference, unionConstituents } from "./type-predicates.js";

/** Maximum number of levels without a name, of nested aliases, and of nested instances of one generic type. */
export const MAX_DEPTH = 50;
const { TypeFlags } = ts;

/** Syntax of a type, with the arguments of the type parameters in scope. */
export interface TypeSyntax {
  readonly node: ts.TypeNode;
  readonly environment: TypeArguments;
  /** Type, if it is known more exactly than from the node: the key of a member of a mapped type. */
  readonly type?: ts.Type;
}
export type TypeArguments = ReadonlyMap<ts.Symbol, TypeSyntax>;

const NO_ARGUMENTS: TypeArguments = new Map();

/** Name in a reference to a declared type: of `Name` or `import("./types.js").Name`. */
export function referenceName(node: ts.Node): ts.EntityName | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  return ts.isImportTypeNode(node) && !node.isTypeOf ? node.qualifier : undefined;
}

export function argumentsOf(node: ts.Node): readonly ts.TypeNode[] | undefined {
  return ts.isTypeReferenceNode(node) || ts.isImportTypeNode(node) ? node.typeArguments : undefined;
}

export class SyntaxReader {
  readonly #symbols = new Map<ts.Node, ts.Symbol | undefined>();
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
  resolve(syntax: TypeSyntax | undefined): TypeSyntax | undefined {
    let at = syntax;
    for (let hops = 0; at !== undefined && hops < MAX_DEPTH; hops++) {
      const { node, environment, type }: TypeSyntax = at;
      if (type !== undefined) return at;
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
  alias(syntax: TypeSyntax): { readonly declaration: ts.TypeAliasDeclaration; readonly body: TypeSyntax } | undefined {
    const { node, environment } = syntax;
    const name = referenceName(node);
    const declaration = name && this.referenced(name)?.declarations?.find(ts.isTypeAliasDeclaration);
    if (declaration === undefined) return undefined;
    const { type, typeParameters } = declaration;
    const bound =
      typeParameters === undefined ? NO_ARGUMENTS : this.#bind(typeParameters, argumentsOf(node), environment);
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
        inner.set(key, this.resolve({ node: argument, environment }) ?? { node: argument, environment });
      else if (parameter.default !== undefined) inner.set(key, { node: parameter.default, environment: inner });
      else inner.delete(key);
    });
    return inner;
  }

  /** Environment for the members of a type: type arguments of the reference and of its bases. */
  memberEnvironment(syntax: TypeSyntax | undefined): TypeArguments {
    const at = this.resolve(syntax);
    if (at === undefined) return new Map();
    const { node } = at;
    const alias = this.alias(at);
    if (alias !== undefined) return this.memberEnvironment(alias.body);
    if (ts.isIntersectionTypeNode(node)) {
      const inner = new Map(at.environment);
      for (const type of node.types) {
        for (const [key, value] of this.memberEnvironment({ node: type, environment: at.environment }))
          inner.set(key, value);
      }
      return inner;
    }
    const name = referenceName(node);
    if (name === undefined) return at.environment;
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
    visit(this.referenced(name), argumentsOf(node), 0);
    return inner;
  }

  /** Syntaxes of the parts of an intersection, nested ones included. */
  intersectionParts(syntax: TypeSyntax | undefined): readonly TypeSyntax[] | undefined {
    const at = this.resolve(syntax);
    if (at === undefined) return undefined;
    const { node, environment } = at;
    if (ts.isIntersectionTypeNode(node)) {
      return node.types.flatMap(
        (type) => this.intersectionParts({ node: type, environment }) ?? [{ node: type, environment }],
      );
    }
    const alias = this.alias(at);
    return alias === undefined ? undefined : this.intersectionParts(alias.body);
  }

  /** Syntax after following all aliases, such as that of a list, tuple or mapped type. */
  unaliased(syntax: TypeSyntax | undefined): TypeSyntax | undefined {
    let at = this.resolve(syntax);
    for (let hops = 0; at !== undefined && hops < MAX_DEPTH; hops++) {
      const alias = this.alias(at);
      if (alias === undefined || isDataRef(alias.declaration)) break;
      at = this.resolve(alias.body);
    }
    return at;
  }

  /** Syntax of the element of a list, or of the first type argument. */
  argumentSyntax(syntax: TypeSyntax | undefined): TypeSyntax | undefined {
    const at = this.unaliased(syntax);
    const [argument] = (at && argumentsOf(at.node)) ?? [];
    const node = at !== undefined && ts.isArrayTypeNode(at.node) ? at.node.elementType : argument;
    return node === undefined || at === undefined ? undefined : { node, environment: at.environment };
  }

  /** Syntaxes of a mapped type's keys and values: `Name` and `Item` in `Record<Name, Item>`. */
  mapped(syntax: TypeSyntax | undefined): { readonly keys?: TypeSyntax; readonly values?: TypeSyntax } {
    const at = this.unaliased(syntax);
    if (at === undefined || !ts.isMappedTypeNode(at.node)) return {};
    const { environment } = at;
    const [keys, values] = [at.node.typeParameter.constraint, at.node.type].map(
      (node) => node && { node, environment },
    );
    return { ...(keys && { keys }), ...(values && { values }) };
  }

  /**
   * Whether a type is a `DataRef`, alone or in a union. `DataRef<unknown>` and `DataRef<any>` are recognized by syntax,
   * because their types are `unknown` and `any`.
   */
  containsDataRef(type: ts.Type, syntax: TypeSyntax | undefined): boolean {
    if (type.flags & (TypeFlags.Any | TypeFlags.Unknown)) return this.dataRefArgument(syntax) !== undefined;
    return unionConstituents(type).some(isDataReference);
  }

  /** Syntax of the `T` of a `DataRef<T>`; looks through aliases and unions. */
  dataRefArgument(syntax: TypeSyntax | undefined, depth = 0): TypeSyntax | undefined {
    const at = this.resolve(syntax);
    if (at === undefined || depth > MAX_DEPTH) return undefined;
    if (ts.isUnionTypeNode(at.node)) {
      for (const node of at.node.types) {
        const found = this.dataRefArgument({ node, environment: at.environment }, depth + 1);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    const alias = this.alias(at);
    if (alias === undefined) return undefined;
    if (!isDataRef(alias.declaration)) return this.dataRefArgument(alias.body, depth + 1);
    const [parameter] = alias.declaration.typeParameters ?? [];
    const symbol = parameter && this.#checker.getSymbolAtLocation(parameter.name);
    return symbol && alias.body.environment.get(symbol);
  }
}

export interface MappedType extends ts.ObjectType {
  readonly declaration?: ts.MappedTypeNode;
  /** `T` in `{ [K in keyof T]: … }` and in `Pick<T, K>`. Set when the members are first requested. */
  readonly modifiersType?: ts.Type;
}
interface SymbolLinks {
  /** Member of `T` that this member is mapped from. */
  readonly syntheticOrigin?: ts.Symbol;
  readonly mappedType?: MappedType;
  /** Type of `K` for this member. */
  readonly keyType?: ts.Type;
  /** For a member of a union or intersection, several of whose parts have the member. */
  readonly containingType?: ts.UnionOrIntersectionType;
}

export function linksOf(symbol: ts.Symbol): SymbolLinks {
  return (symbol as { readonly links?: SymbolLinks }).links ?? {};
}

/** Member that a member of a mapped type is mapped from; any other symbol itself. */
export function originOf(symbol: ts.Symbol): ts.Symbol {
  const { syntheticOrigin } = linksOf(symbol);
  return syntheticOrigin === undefined ? symbol : originOf(syntheticOrigin);
}

export function typeAnnotation(property: ts.Symbol): ts.TypeNode | undefined {
  const declaration = property.valueDeclaration ?? property.declarations?.[0];
  if (declaration === undefined) return undefined;
  if (ts.isPropertySignature(declaration) || ts.isPropertyDeclaration(declaration) || ts.isParameter(declaration)) {
    return declaration.type;
  }
  return ts.isGetAccessorDeclaration(declaration) ? declaration.type : undefined;
}
