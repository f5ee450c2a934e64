/** The declarations from which a type is derived in the syntax, and their comments. */

import type { Program } from "../../project/program.js";
import { ts } from "../../project/typescript.js";
import { type Comment, type Comments, type Constraint, withoutDocumentation } from "../jsdoc.js";
import { isDataRef, unionConstituents } from "../type-predicates.js";
import {
  argumentsOf,
  linksOf,
  MAX_DEPTH,
  originOf,
  referenceName,
  type SyntaxReader,
  type TypeArguments,
  type TypeSyntax,
  typeAnnotation,
} from "../type-syntax.js";
import type { TypeReader } from "./type-reader.js";

/** Maximum number of steps from a syntax to a type. Recursive conditional types could take exponentially many. */
const MAX_STEPS = 2_000;
/** Maximum nesting of the type arguments whose constraints tell types apart. */
const MAX_ARGUMENT_DEPTH = 5;
const { TypeFlags } = ts;

/** A way in which a syntax denotes a type. */
export interface Source {
  /** Syntax that is not an alias or another reference to a type; undefined if there is none. */
  readonly syntax: TypeSyntax | undefined;
  /** Comments on the way to it: of aliases, and of members that `T["k"]` refers to. The innermost comes first. */
  readonly comments: readonly PathComment[];
  /** Whether the way leads through one of several parts of a union, so that an outer comment may be for the others. */
  readonly isPart: boolean;
  /** Whether the way ends at a syntax through which no comment can be followed, such as `infer T`. */
  readonly isOpen: boolean;
}

export interface PathComment {
  readonly comment: Comment;
  readonly alias?: ts.TypeAliasDeclaration;
  /** Whether the comment is also for other types than this one. */
  readonly isForPart: boolean;
}

export class TypeSources {
  readonly #checker: ts.TypeChecker;
  readonly #syntax: SyntaxReader;
  readonly #comments: Comments;
  readonly #program: Program;
  readonly #unions = new WeakMap<ts.UnionTypeNode, Map<ts.Type, readonly ts.TypeNode[]>>();
  readonly #tags = new WeakMap<TypeSyntax, string>();
  /** Number of steps left for the type that is being followed. */
  #stepsLeft = 0;

  constructor({ program, syntax, comments }: TypeReader) {
    this.#program = program;
    this.#checker = program.checker;
    this.#syntax = syntax;
    this.#comments = comments;
  }

  /**
   * The ways in which a syntax denotes a type, through aliases, unions, intersections, conditional types and indexed
   * accesses. There are several if parts of a union have the same type but different constraints.
   *
   * @param isPart whether the type is only a part of the syntax's type
   */
  sources(type: ts.Type, syntax: TypeSyntax | undefined, isPart = false): readonly Source[] {
    if (syntax === undefined) return [];
    this.#stepsLeft = MAX_STEPS;
    const distinct = new Map<string, Source>();
    for (const source of this.#visit(syntax, type, !isPart, 0)) {
      const tags = source.comments.flatMap(({ comment }) => comment.constraints.map(({ tag, text }) => [tag, text]));
      const key = JSON.stringify(tags);
      if (!distinct.has(key)) distinct.set(key, source);
    }
    return [...distinct.values()];
  }

  /** @param isWhole whether the syntax denotes this type and nothing else */
  #visit(given: TypeSyntax, type: ts.Type, isWhole: boolean, depth: number): readonly Source[] {
    const at = this.#syntax.resolve(given);
    if (at === undefined || depth > MAX_DEPTH || this.#stepsLeft-- <= 0) return [];
    const { node, environment } = at;
    const into = (inner: ts.TypeNode, whole = false) =>
      this.#visit({ node: inner, environment }, type, whole, depth + 1);
    const found = this.#through(at, type, isWhole, depth, into);
    if (found !== undefined && (found.length > 0 || !isWhole)) return found;
    const isOpen = found !== undefined || ts.isTypeQueryNode(node) || this.#isParameter(node);
    const leaf = { syntax: at, comments: [], isPart: false, isOpen };
    return isWhole || this.#denotes(at, type) ? [leaf] : [];
  }

  /** Sources inside a syntax; undefined if the syntax does not refer to other syntax. */
  #through(
    at: TypeSyntax,
    type: ts.Type,
    isWhole: boolean,
    depth: number,
    into: (inner: ts.TypeNode, whole?: boolean) => readonly Source[],
  ): readonly Source[] | undefined {
    const { node, environment } = at;
    if (ts.isUnionTypeNode(node) && !type.isUnion()) {
      const others = node.types.filter((part) => !isAbsentOrNull(part)).length > 1;
      const parts = environment.size === 0 ? (this.#partsOf(node).get(type) ?? []) : node.types;
      return parts
        .flatMap((part) => {
          const found = into(part);
          return found.length > 0 || environment.size > 0 ? found : [OPEN];
        })
        .map((found) => ({ ...found, isPart: found.isPart || others }));
    }
    if (ts.isIntersectionTypeNode(node) && !type.isIntersection()) {
      const [first, ...more] = node.types.map((part) => into(part)).filter((each) => each.length > 0);
      return combined(first, more);
    }
    if (ts.isConditionalTypeNode(node)) return this.#branches(at, node).flatMap((branch) => into(branch));
    if (ts.isIndexedAccessTypeNode(node)) return this.#accessed(at, node, type, isWhole, depth);
    const alias = this.#syntax.alias(at);
    if (alias === undefined || isDataRef(alias.declaration)) return undefined;
    const { declaration, body } = alias;
    const inner = this.#visit(body, type, isWhole, depth + 1);
    const found =
      inner.length === 0 && this.#typeOf(at) === type
        ? [{ syntax: body, comments: [], isPart: false, isOpen: true }]
        : inner;
    if (this.#program.program.isSourceFileDefaultLibrary(declaration.getSourceFile())) return found;
    const documented = this.#comments.ofNode(declaration);
    // The comment of a package's generic alias documents the alias, such as a utility type, and not the author's value.
    const isUtility = declaration.typeParameters !== undefined && this.#program.isForeign(declaration.getSourceFile());
    const comment = isUtility ? withoutDocumentation(documented) : documented;
    return found.map((each) => withComment(each, { comment, alias: declaration }));
  }

  /** Branches of a conditional type that its types select; both if they are not known. */
  #branches({ environment }: TypeSyntax, node: ts.ConditionalTypeNode): readonly ts.TypeNode[] {
    const { checkType, extendsType, trueType, falseType } = node;
    const [checked, wanted] = [checkType, extendsType].map(
      (each) => this.#syntax.resolve({ node: each, environment }) ?? { node: each, environment },
    ) as [TypeSyntax, TypeSyntax];
    const isKnown = [checked, wanted].every(({ node, type }) => type !== undefined || !this.#holdsParameter(node));
    const [one, other] = [this.#typeOf(checked), this.#typeOf(wanted)];
    if (!isKnown || one.flags & (TypeFlags.Union | TypeFlags.Any)) return [trueType, falseType];
    return [this.#checker.isTypeAssignableTo(one, other) ? trueType : falseType];
  }

  #holdsParameter(node: ts.Node): boolean {
    return (
      ts.isInferTypeNode(node) ||
      this.#isParameter(node) ||
      ts.forEachChild(node, (child) => this.#holdsParameter(child) || undefined) === true
    );
  }

  /** Parts of a union in the syntax, by the types that they contain. */
  #partsOf(node: ts.UnionTypeNode): ReadonlyMap<ts.Type, readonly ts.TypeNode[]> {
    let parts = this.#unions.get(node);
    if (parts === undefined) {
      parts = new Map();
      for (const part of node.types) {
        const type = this.#checker.getTypeFromTypeNode(part);
        // TypeScript keeps `number & {}` in the syntax, and removes `{}` in other types.
        const all = (type.isUnion() ? type.types : [type]).flatMap((each) =>
          each.isIntersection() ? [each, ...each.types] : [each],
        );
        for (const each of all) parts.set(each, [...(parts.get(each) ?? []), part]);
      }
      this.#unions.set(node, parts);
    }
    return parts;
  }

  /** Sources of the members that an indexed access refers to, or of the elements of a list. */
  #accessed(
    { environment }: TypeSyntax,
    { objectType, indexType }: ts.IndexedAccessTypeNode,
    type: ts.Type,
    isWhole: boolean,
    depth: number,
  ): readonly Source[] {
    const [object, index] = [objectType, indexType].map((node) => this.#syntax.resolve({ node, environment }));
    if (object === undefined || index === undefined) return [];
    const names = unionConstituents(this.#typeOf(index)).flatMap((key) =>
      key.isStringLiteral() || key.isNumberLiteral() ? [String(key.value)] : [],
    );
    // TypeScript would search the constraint of a package's generic type, which can take minutes.
    const isForeign = this.#program.isForeign(objectType.getSourceFile());
    const owner = this.#typeOf(object);
    const parts = isForeign && owner.flags & TypeFlags.Instantiable ? [] : unionConstituents(owner);
    const members = parts.flatMap((part) => {
      const found = names.flatMap((name) => this.#checker.getPropertyOfType(part, name) ?? []);
      return found.map((member) => ({ member, syntaxes: this.memberSyntaxes(member, part, this.#leaf(part, object)) }));
    });
    return members.flatMap(({ member, syntaxes }): readonly Source[] => {
      const [first, ...more] = syntaxes.map((syntax) =>
        this.#visit(syntax, type, isWhole && members.length === 1, depth + 1),
      );
      const inner = combined(first, more);
      const isOwn = inner.length === 0 && unionConstituents(this.#checker.getTypeOfSymbol(member)).includes(type);
      const isMapped = linksOf(member).keyType !== undefined;
      const found = isOwn ? [{ syntax: undefined, comments: [], isPart: false, isOpen: isMapped }] : inner;
      const isUntagged = this.#comments.untagged(member).length > 0;
      return found
        .map((each) => withComment(each, { comment: this.#comments.of(member) }))
        .map((each) => (isUntagged ? { ...each, isOpen: true } : each));
    });
  }

  /**
   * Syntaxes of a member's type; several for a member of an intersection, whose value has all these types.
   *
   * @param type object type that has the member
   * @param outer syntax of the object type
   */
  memberSyntaxes(
    member: ts.Symbol,
    type: ts.Type,
    outer: TypeSyntax | undefined,
    environment = this.#syntax.memberEnvironment(outer),
  ): readonly TypeSyntax[] {
    const nodes = type.isIntersection() ? this.#syntax.intersectionParts(outer && this.#syntax.resolve(outer)) : [];
    if (!type.isIntersection() || nodes?.length !== type.types.length) {
      return [this.#memberSyntax(member, outer, environment) ?? []].flat();
    }
    return type.types.flatMap((part, index) => {
      const property = this.#checker.getPropertyOfType(part, member.name);
      return property === undefined
        ? []
        : this.memberSyntaxes(property, part, this.#leaf(part, nodes[index] as TypeSyntax));
    });
  }

  #leaf(type: ts.Type, syntax: TypeSyntax): TypeSyntax {
    return this.#visit(syntax, type, true, 0)[0]?.syntax ?? syntax;
  }

  /**
   * Syntax of a member's type. For a member of a mapped type, the template, in which the key is known; or the syntax of
   * the member that it is mapped from.
   *
   * @param outer syntax of the object type
   */
  #memberSyntax(member: ts.Symbol, outer: TypeSyntax | undefined, environment: TypeArguments): TypeSyntax | undefined {
    const { mappedType, keyType } = linksOf(member);
    const { typeParameter, type: template } = mappedType?.declaration ?? {};
    const key = typeParameter && this.#checker.getSymbolAtLocation(typeParameter.name);
    const at = this.#syntax.unaliased(outer);
    if (template !== undefined && key !== undefined && keyType !== undefined && at?.node === mappedType?.declaration) {
      const node = typeParameter?.constraint ?? template;
      const syntax = {
        node: template,
        environment: new Map(environment).set(key, { node, environment, type: keyType }),
      };
      if (this.#visit(syntax, this.#checker.getTypeOfSymbol(member), true, 0).every(({ isOpen }) => !isOpen))
        return syntax;
    }
    const annotation = typeAnnotation(originOf(member));
    return annotation && { node: annotation, environment };
  }

  #typeOf({ node, type }: TypeSyntax): ts.Type {
    return type ?? this.#checker.getTypeFromTypeNode(node);
  }

  #isParameter(node: ts.Node): boolean {
    return (
      ts.isTypeReferenceNode(node) &&
      ((this.#syntax.referenced(node.typeName)?.flags ?? 0) & ts.SymbolFlags.TypeParameter) !== 0
    );
  }

  /** Whether a syntax without references denotes a type. The types of its type parameters are not compared. */
  #denotes(at: TypeSyntax, type: ts.Type): boolean {
    const { node, environment } = at;
    const symbol = type.getSymbol();
    const declarations: readonly ts.Node[] = symbol?.declarations ?? [];
    const own = this.#typeOf(at);
    if (own === type || declarations.includes(node)) return true;
    // The types of a readonly list and of its syntax without `readonly` differ.
    const isList = [this.#checker.isArrayType, this.#checker.isTupleType].some((is) => is(own) && is(type));
    if (environment.size > 0) {
      const name = referenceName(node);
      return isList || (name !== undefined && symbol !== undefined && this.#syntax.referenced(name) === symbol);
    }
    const [items, others] = [own, type].map((each) =>
      isList ? this.#checker.getTypeArguments(each as ts.TypeReference) : [],
    );
    return isList && items?.length === others?.length && items?.every((item, i) => item === others?.[i]) === true;
  }

  /**
   * Constraints of the type arguments of a syntax, as text. Types with equal arguments are one type for TypeScript, even
   * if the aliases of the arguments have different tags.
   */
  tagsOfArguments(syntax: TypeSyntax | undefined): string {
    if (syntax === undefined) return "";
    const { node, environment } = syntax;
    const own = argumentsOf(node) ?? [];
    const given = [...environment.values(), ...own.map((argument) => ({ node: argument, environment }))];
    return given.map((each) => this.#tagsIn(each, 0)).join("");
  }

  /** Constraints in a syntax and in its parts, as text; empty inside itself and below a maximum depth. */
  #tagsIn(given: TypeSyntax, depth: number): string {
    const known = this.#tags.get(given);
    if (known !== undefined) return known;
    this.#tags.set(given, "");
    const at = this.#syntax.resolve(given);
    if (at === undefined || depth > MAX_ARGUMENT_DEPTH) return "";
    const isReference = ts.isIndexedAccessTypeNode(at.node) || this.#syntax.alias(at) !== undefined;
    const sources = isReference ? this.sources(this.#typeOf(at), at) : [{ syntax: at, comments: [] }];
    const texts = sources.flatMap(({ syntax, comments }) => {
      const tags = comments.flatMap(({ comment }) => comment.constraints.map(({ tag, text }) => `@${tag} ${text}\n`));
      const parts: string[] = [];
      if (syntax !== undefined) {
        ts.forEachChild(syntax.node, (node) => {
          if (ts.isTypeNode(node)) parts.push(this.#tagsIn({ node, environment: syntax.environment }, depth + 1));
        });
      }
      return [...tags, ...parts];
    });
    const found = texts.join("");
    this.#tags.set(given, found);
    return found;
  }

  /** Constraints of the declarations that a syntax refers to and that have a type. */
  taggedWith(type: ts.Type, syntax: TypeSyntax | undefined, names?: readonly string[]): readonly Constraint[] {
    const found = new Set<Constraint>();
    const seen = new Set<ts.Node>();
    const visit = (node: ts.Node): void => {
      if (seen.size > MAX_STEPS || seen.has(node) || ts.isBlock(node)) return;
      seen.add(node);
      const symbol = isTaggable(node) ? this.#checker.getSymbolAtLocation(node.name) : undefined;
      if (symbol !== undefined && (ts.isTypeAliasDeclaration(node) || (names?.includes(symbol.name) ?? true))) {
        const own = ts.isTypeAliasDeclaration(node)
          ? this.#checker.getTypeAtLocation(node)
          : this.#checker.getTypeOfSymbol(symbol);
        if (own === type || unionConstituents(own).includes(type)) {
          for (const each of this.#comments.ofNode(node).constraints) found.add(each);
        }
      }
      const name = ts.isTypeQueryNode(node)
        ? node.exprName
        : ts.isImportTypeNode(node)
          ? node.qualifier
          : ts.isExpressionWithTypeArguments(node)
            ? node.expression
            : referenceName(node);
      for (const each of (name && this.#syntax.referenced(name)?.declarations) ?? []) {
        if (!this.#program.isForeign(each.getSourceFile())) visit(each);
      }
      ts.forEachChild(node, visit);
    };
    if (syntax !== undefined) for (const { node } of [syntax, ...syntax.environment.values()]) visit(node);
    return [...found];
  }
}

/** A part of a union that contains the type, but whose syntax does not lead to it. */
const OPEN: Source = { syntax: undefined, comments: [], isPart: false, isOpen: true };

/** Sources of a value that has several types: with the comments of all of them. */
function combined(first: readonly Source[] = [], more: readonly (readonly Source[])[]): readonly Source[] {
  return more
    .filter((others) => others.length > 0)
    .reduce(
      (all, others) =>
        all.flatMap((each) => others.map(({ comments }) => ({ ...each, comments: [...each.comments, ...comments] }))),
      first,
    );
}

function withComment(source: Source, given: Omit<PathComment, "isForPart">): Source {
  return { ...source, comments: [...source.comments, { ...given, isForPart: source.isPart }] };
}

function isTaggable(
  node: ts.Node,
): node is ts.TypeAliasDeclaration | ts.PropertySignature | ts.PropertyDeclaration | ts.VariableDeclaration {
  return [ts.isTypeAliasDeclaration, ts.isPropertySignature, ts.isPropertyDeclaration, ts.isVariableDeclaration].some(
    (is) => is(node),
  );
}

function isAbsentOrNull(node: ts.TypeNode): boolean {
  return (
    node.kind === ts.SyntaxKind.UndefinedKeyword ||
    node.kind === ts.SyntaxKind.VoidKeyword ||
    (ts.isLiteralTypeNode(node) && node.literal.kind === ts.SyntaxKind.NullKeyword)
  );
}
