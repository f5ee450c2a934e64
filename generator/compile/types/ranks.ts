/** Ranks of the constituents of a type, in the order in which they appear in its syntax. */

import { ts } from "../project/typescript.js";

/** Maximum number of nested expansions of one alias. Further ones add no constituents but multiply the work. */
const MAX_SELF_EXPANSIONS = 3;

export interface MappedType extends ts.ObjectType {
  readonly declaration?: ts.MappedTypeNode;
  /** `T` in `{ [K in keyof T]: … }` and in `Pick<T, K>`. Set when the members are first requested. */
  readonly modifiersType?: ts.Type;
}
export interface MappedSymbol extends ts.Symbol {
  readonly links?: {
    /** Member of `T` that this member is mapped from. */
    readonly syntheticOrigin?: ts.Symbol;
    /** Type of `K` for this member. */
    readonly keyType?: ts.Type;
  };
}

/** Walks of alias bodies in progress. The ranks of a type and those of its template placeholders share one object. */
export interface Walks {
  readonly open: Map<ts.TypeAliasDeclaration, number>;
  /** Number of walks that ended early. */
  cut: number;
}

/** Ranks by type, by name and by declaration. */
export class Ranks {
  readonly #types = new Map<ts.Type, number>();
  readonly #keys = new Map<string, number>();
  readonly #nodes = new Map<ts.Node, number>();
  readonly #visited = new Set<ts.TypeNode>();
  /** Aliases without parameters that were walked completely. */
  readonly #walked = new Set<ts.TypeAliasDeclaration>();
  #next = 0;

  readonly #checker: ts.TypeChecker;
  readonly #walks: Walks;

  constructor(checker: ts.TypeChecker, walks: Walks) {
    this.#checker = checker;
    this.#walks = walks;
  }

  add(type: ts.Type): void {
    const rank = this.#next++;
    if (!this.#types.has(type)) this.#types.set(type, rank);
    const key = literalKey(type);
    if (key !== undefined && !this.#keys.has(key)) this.#keys.set(key, rank);
    const node = declarationOf(type);
    if (node !== undefined && !this.#nodes.has(node)) this.#nodes.set(node, rank);
  }

  /** Returns true at the first visit of an argument, so that nested arguments are walked once. */
  visitOnce(argument: ts.TypeNode): boolean {
    if (this.#visited.has(argument)) return false;
    this.#visited.add(argument);
    return true;
  }

  /**
   * Walks the body of an alias, unless that would add no ranks or {@link MAX_SELF_EXPANSIONS} walks of it are in
   * progress.
   */
  expand(alias: ts.TypeAliasDeclaration, walk: () => void): void {
    if (this.#walked.has(alias)) return;
    const walks = this.#walks;
    const open = walks.open.get(alias) ?? 0;
    if (open === MAX_SELF_EXPANSIONS) {
      walks.cut++;
      return;
    }
    const { cut } = walks;
    walks.open.set(alias, open + 1);
    walk();
    walks.open.set(alias, open);
    if (alias.typeParameters === undefined && walks.cut === cut) this.#walked.add(alias);
  }

  addName(name: string): void {
    const rank = this.#next++;
    for (const key of [`string ${name}`, `number ${name}`]) if (!this.#keys.has(key)) this.#keys.set(key, rank);
  }

  addNode(node: ts.Node): void {
    const rank = this.#next++;
    if (!this.#nodes.has(node)) this.#nodes.set(node, rank);
  }

  #ofName(name: string): number {
    return this.#keys.get(`string ${name}`) ?? this.#keys.get(`number ${name}`) ?? Number.MAX_SAFE_INTEGER;
  }

  /** Ranks of a type. An intersection has those of its parts; a mapped type also has those of its source. */
  #of(type: ts.Type): readonly number[] {
    const key = literalKey(type);
    const known = this.#types.get(type) ?? (key === undefined ? undefined : this.#keys.get(key));
    if (known !== undefined) return [known];
    if (type.isIntersection()) return type.types.flatMap((part) => this.#of(part));
    const node = declarationOf(type);
    const rank = (node === undefined ? undefined : this.#nodes.get(node)) ?? Number.MAX_SAFE_INTEGER;
    const source = mappedSource(type, this.#checker);
    const mapped = source === undefined ? [] : this.#of(source);
    const [first] = mapped;
    return first === undefined || rank < first ? [rank, ...mapped] : mapped;
  }

  /** Sorts by rank. Types without a rank follow, by place of declaration and then by text: type ids are not stable. */
  sort(types: readonly ts.Type[]): ts.Type[] {
    if (types.length < 2) return [...types];
    return [...types].sort((one, other) => {
      const ranked = compareLists(this.#of(one), this.#of(other));
      if (ranked !== 0) return ranked;
      if (one.isNumberLiteral() && other.isNumberLiteral()) return one.value - other.value;
      const declared = comparePlaces(declarationOf(one), declarationOf(other));
      return (
        declared ||
        this.#compareParts(one, other) ||
        compare(this.#checker.typeToString(one), this.#checker.typeToString(other))
      );
    });
  }

  sortMapped(properties: readonly ts.Symbol[]): ts.Symbol[] {
    const rank = (property: ts.Symbol) => {
      const key = (property as MappedSymbol).links?.keyType;
      return key === undefined ? [this.#ofName(property.name)] : this.#of(key);
    };
    return [...properties].sort((one, other) => compareLists(rank(one), rank(other)) || compare(one.name, other.name));
  }

  /** Compares two types of one declaration (`{ [K in T]: … }`, `Box<T>`) by the names and literals that differ. */
  #compareParts(one: ts.Type, other: ts.Type): number {
    return compareLists(this.#parts(one), this.#parts(other));
  }

  #parts(type: ts.Type): readonly number[] {
    if (isTypeReference(type)) return this.#checker.getTypeArguments(type).flatMap((argument) => this.#of(argument));
    return this.#checker
      .getPropertiesOfType(type)
      .flatMap((property) => [this.#ofName(property.name), ...this.#of(this.#checker.getTypeOfSymbol(property))]);
  }
}

function compareLists(one: readonly number[], other: readonly number[]): number {
  for (let at = 0; at < one.length && at < other.length; at++) {
    const difference = (one[at] as number) - (other[at] as number);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

function literalKey(type: ts.Type): string | undefined {
  if (type.flags & ts.TypeFlags.EnumLiteral) return undefined;
  if (type.isStringLiteral()) return `string ${type.value}`;
  if (type.isNumberLiteral()) return `number ${type.value}`;
  return undefined;
}

export function declarationOf(type: ts.Type): ts.Node | undefined {
  return type.getSymbol()?.declarations?.[0];
}

/** Type over which a mapped type maps; undefined for any other type. */
export function mappedSource(type: ts.Type, checker: ts.TypeChecker): ts.Type | undefined {
  const mapped: MappedType = type as ts.ObjectType;
  if (mapped.declaration === undefined || !ts.isMappedTypeNode(mapped.declaration)) return undefined;
  checker.getPropertiesOfType(mapped);
  return mapped.modifiersType;
}

export function isTypeReference(type: ts.Type): type is ts.TypeReference {
  return (
    ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference) !== 0 &&
    (type as ts.TypeReference).target !== undefined
  );
}

export function comparePlaces(one: ts.Node | undefined, other: ts.Node | undefined): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
  return compare(one.getSourceFile().fileName, other.getSourceFile().fileName) || one.pos - other.pos;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
