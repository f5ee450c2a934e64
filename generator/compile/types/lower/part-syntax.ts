/** Syntax of the parts of a type: union branches, elements, type arguments. */

import { ts } from "../../project/typescript.js";
import type { DeclaredOrder, TypeSyntax } from "../declared-order.js";
import { isDataRef, isDataReference, unionConstituents } from "../type-predicates.js";

/** Maximum number of levels without a name, of nested aliases, and of nested instances of one generic type. */
export const MAX_DEPTH = 50;
const { TypeFlags } = ts;

/** Parts of a syntax, with their positions. */
type Constituents = Map<ts.Type | ts.Node, { readonly syntax: TypeSyntax; readonly at: number }>;

export class PartSyntax {
  readonly #constituents = new WeakMap<TypeSyntax, Constituents>();
  readonly #checker: ts.TypeChecker;
  readonly #order: DeclaredOrder;

  constructor(checker: ts.TypeChecker, order: DeclaredOrder) {
    this.#checker = checker;
    this.#order = order;
  }

  /** Syntax of a part of a type; looks through aliases and unions. */
  constituentSyntax(type: ts.Type, syntax: TypeSyntax | undefined): TypeSyntax | undefined {
    if (syntax === undefined) return undefined;
    let parts = this.#constituents.get(syntax);
    if (parts === undefined) {
      parts = this.#constituentsOf(syntax);
      this.#constituents.set(syntax, parts);
    }
    const declaration: ts.Node | undefined = type.getSymbol()?.declarations?.[0];
    const [one, other] = [parts.get(type), declaration && parts.get(declaration)];
    return one === undefined || (other !== undefined && other.at < one.at) ? other?.syntax : one.syntax;
  }

  /** Parts of a syntax, by type; parts other than unions and aliases also by node. The first part of a key is kept. */
  #constituentsOf(syntax: TypeSyntax): Constituents {
    const parts: Constituents = new Map();
    const seen = new Set<ts.Node>();
    const visit = (given: TypeSyntax, depth: number): void => {
      const at = this.#order.resolveSyntax(given);
      if (at === undefined || depth > MAX_DEPTH || seen.has(at.node)) return;
      if (at.environment.size === 0) seen.add(at.node);
      const add = (key: ts.Type | ts.Node) => {
        if (!parts.has(key)) parts.set(key, { syntax: at, at: parts.size });
      };
      add(this.#checker.getTypeFromTypeNode(at.node));
      if (ts.isUnionTypeNode(at.node)) {
        for (const node of at.node.types) visit({ node, environment: at.environment }, depth + 1);
        return;
      }
      const alias = this.#order.resolveAlias(at);
      if (alias !== undefined) visit(alias.body, depth + 1);
      else add(at.node);
    };
    visit(syntax, 0);
    return parts;
  }

  /** Syntax after following all aliases, such as that of a list, tuple or mapped type. */
  unaliased(syntax: TypeSyntax | undefined): TypeSyntax | undefined {
    let at = this.#order.resolveSyntax(syntax);
    for (let hops = 0; at !== undefined && hops < MAX_DEPTH; hops++) {
      const alias = this.#order.resolveAlias(at);
      if (alias === undefined || isDataRef(alias.declaration)) break;
      at = this.#order.resolveSyntax(alias.body);
    }
    return at;
  }

  /** Syntax of the element of a list, or of the first type argument. */
  argumentSyntax(syntax: TypeSyntax | undefined): TypeSyntax | undefined {
    const at = this.unaliased(syntax);
    const [argument] = at !== undefined && ts.isTypeReferenceNode(at.node) ? (at.node.typeArguments ?? []) : [];
    const node = at !== undefined && ts.isArrayTypeNode(at.node) ? at.node.elementType : argument;
    return node === undefined || at === undefined ? undefined : { node, environment: at.environment };
  }

  /** Syntax of a mapped type's values: `Item` in `Record<string, Item>`. */
  mappedValues(syntax: TypeSyntax | undefined): TypeSyntax | undefined {
    const at = this.unaliased(syntax);
    if (at === undefined || !ts.isMappedTypeNode(at.node) || at.node.type === undefined) return undefined;
    return { node: at.node.type, environment: at.environment };
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
    const at = this.#order.resolveSyntax(syntax);
    if (at === undefined || depth > MAX_DEPTH) return undefined;
    if (ts.isUnionTypeNode(at.node)) {
      for (const node of at.node.types) {
        const found = this.dataRefArgument({ node, environment: at.environment }, depth + 1);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    const alias = this.#order.resolveAlias(at);
    if (alias === undefined) return undefined;
    if (!isDataRef(alias.declaration)) return this.dataRefArgument(alias.body, depth + 1);
    const [parameter] = alias.declaration.typeParameters ?? [];
    const symbol = parameter && this.#checker.getSymbolAtLocation(parameter.name);
    return symbol && alias.body.environment.get(symbol);
  }
}
