/** Predicates on types, by meaning and declaration instead of by name. */

import { type Program, packageOf } from "../project/program.js";
import { ts } from "../project/typescript.js";

const { TypeFlags } = ts;

/** Flags of the types of an absent member. */
export const ABSENT = TypeFlags.Undefined | TypeFlags.Void;

export class TypePredicates {
  readonly #checker: ts.TypeChecker;

  readonly #program: Program;

  constructor(program: Program) {
    this.#program = program;
    this.#checker = program.checker;
  }

  /**
   * Whether the members can be ports: the type is an object type, or an intersection of them, and no list or built-in
   * class.
   */
  isPlainObject(type: ts.Type): boolean {
    if (type.isIntersection()) {
      // `object &` adds nothing.
      const parts = type.types.filter(({ flags }) => !(flags & TypeFlags.NonPrimitive));
      return parts.every((part) => this.isPlainObject(part));
    }
    if (!(type.flags & TypeFlags.Object) || this.isList(type)) return false;
    return this.builtIn(type) === undefined && !this.isCallable(type);
  }

  isList(type: ts.Type): boolean {
    return this.#checker.isArrayType(type) || this.#checker.isTupleType(type);
  }

  isCallable(type: ts.Type): boolean {
    return (
      this.#checker.getSignaturesOfType(type, ts.SignatureKind.Call).length > 0 ||
      this.#checker.getSignaturesOfType(type, ts.SignatureKind.Construct).length > 0
    );
  }

  isSpecial(type: ts.Type): boolean {
    const name = this.builtIn(type);
    return name === "Date" || name === "Uint8Array";
  }

  /**
   * Name of a class of the language's library or of @types/node, such as `Buffer`: it has a constructor or methods, or
   * is array-like. `Intl.NumberFormatOptions` and `os.CpuInfo` have none of these, so they are data.
   */
  builtIn(type: ts.Type): string | undefined {
    const symbol = type.getSymbol();
    if (symbol === undefined || !(symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class))) return undefined;
    const isClass =
      (symbol.flags & ts.SymbolFlags.Value) !== 0 ||
      this.#checker.getIndexTypeOfType(type, ts.IndexKind.Number) !== undefined ||
      this.#checker.getPropertiesOfType(type).some(({ flags }) => flags & ts.SymbolFlags.Method);
    if (!isClass) return undefined;
    const files = (symbol.declarations ?? []).map((declaration) => declaration.getSourceFile());
    const { program } = this.#program;
    if (files.some((file) => program.isSourceFileDefaultLibrary(file))) return symbol.name;
    const ofNode = ({ isDeclarationFile, fileName }: ts.SourceFile) =>
      isDeclarationFile && packageOf(fileName) === "@types/node";
    return files.length > 0 && files.every(ofNode) ? symbol.name : undefined;
  }

  /**
   * Built-in class among the direct and indirect bases. Values of such a type have content that is not in their own
   * members.
   */
  builtInBase(type: ts.Type): string | undefined {
    const { target = type } = type as Partial<ts.TypeReference>;
    if (!target.isClassOrInterface()) return undefined;
    const bases = this.#checker.getBaseTypes(target);
    return bases.map((base) => this.builtIn(base) ?? this.builtInBase(base)).find((name) => name !== undefined);
  }

  /** The `T` of an interface that only gives `T[]` another name: `interface List extends Array<T> {}`. */
  inheritedElement(type: ts.Type): ts.Type | undefined {
    const { target = type } = type as Partial<ts.TypeReference>;
    if (!target.isClassOrInterface() || target.isClass()) return undefined;
    const [base, ...more] = this.#checker.getBaseTypes(target);
    if (base === undefined || more.length > 0) return undefined;
    const isOwn = this.#checker.getPropertiesOfType(type).length > this.#checker.getPropertiesOfType(base).length;
    if (isOwn || !(this.#checker.isArrayType(base) || this.inheritedElement(base) !== undefined)) return undefined;
    return this.#checker.getIndexTypeOfType(type, ts.IndexKind.Number);
  }

  /** Whether a type has no members, like `{}`, and so accepts everything except null and undefined. */
  isEmpty(type: ts.Type): boolean {
    return this.#checker.getPropertiesOfType(type).length === 0 && this.#checker.getIndexInfosOfType(type).length === 0;
  }

  /**
   * Whether a type is a brand: `{}`, or an object type with members that JSON values cannot have (`{ readonly __brand:
   * "Id" }`).
   */
  isBrand(type: ts.Type, base: ts.Type): boolean {
    if (type.isIntersection()) return type.types.every((part) => this.isBrand(part, base));
    const isObject = (type.flags & TypeFlags.Object) !== 0 && !this.isList(type) && !this.isCallable(type);
    if (!isObject || this.builtIn(type) !== undefined) return false;
    // With a primitive, any object type is a brand; with a list or a date, it may add data.
    const primitive = !(base.flags & TypeFlags.Object);
    return (
      primitive ||
      this.#checker.getPropertiesOfType(type).every(({ escapedName }) => String(escapedName).startsWith("_"))
    );
  }
}

/** Constituents of a union without `undefined`; any other type by itself. */
export function unionConstituents(type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types.filter((part) => !(part.flags & TypeFlags.Undefined)) : [type];
}

/** Type of an indexed access. TypeScript does not resolve one to a member that a mapped type has renamed. */
export function resolveAccess(checker: ts.TypeChecker, type: ts.Type): ts.Type {
  const { objectType, indexType } = type as Partial<ts.IndexedAccessType>;
  if (objectType === undefined || !indexType?.isStringLiteral()) return type;
  const member = checker.getPropertyOfType(objectType, indexType.value);
  return member === undefined ? type : resolveAccess(checker, checker.getTypeOfSymbol(member));
}

/** Whether a type is the reference type of `DataRef`, by its declaration in svc-runtime. */
export function isDataReference(type: ts.Type): type is ts.TypeReference {
  const symbol = type.getSymbol();
  return symbol?.name === "DataReference" && isFromRuntime(symbol);
}

export function isDataRef(declaration: ts.TypeAliasDeclaration): boolean {
  return declaration.name.text === "DataRef" && isRuntime(packageOf(declaration.getSourceFile().fileName));
}

/** Whether a type is svc-runtime's `WithSerdeErrorPath<T>`. */
export function isErrorPathWrapper(type: ts.Type): boolean {
  const symbol = type.getSymbol();
  return symbol?.name === "WithSerdeErrorPath" && isFromRuntime(symbol);
}

export function isFromRuntime(symbol: ts.Symbol | undefined): boolean {
  const [declaration] = symbol?.declarations ?? [];
  const name = declaration && packageOf(declaration.getSourceFile().fileName);
  return isRuntime(name) || name === "svc-runtime-storage";
}

/** svc-runtime exports types of svc-client, on which it depends. */
const isRuntime = (name: string | undefined) => name === "svc-runtime" || name === "svc-client";
