/**
 * Compiler types -> model. Types with a JSON meaning become shapes. All others are refused: one run reports every one
 * of them, at the member that has it. Types are identified by meaning and declaration, not by name.
 */

import { FORMAT_NAMES } from "svc-runtime/internal/generator";
import { type Acknowledgement, readAcknowledged } from "../diagnostics/acknowledge.js";
import { CODES, type Code, type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { didYouMean } from "../diagnostics/did-you-mean.js";
import {
  type Doc,
  type Example,
  isNever,
  type Literal,
  type Member,
  memberSubject,
  type ObjectShape,
  type OutputVariant,
  type Place,
  partsOf,
  type Shape,
  type StaticMetadata,
  type Tool,
} from "../model.js";
import type { Program } from "../project/program.js";
import { ts } from "../project/typescript.js";
import { DeclaredOrder, type TypeArguments, type TypeSyntax, typeAnnotation } from "./declared-order.js";
import { ShapeDefinitions } from "./definitions.js";
import { checkInvokeDefaults } from "./invoke-defaults.js";
import {
  annotate,
  type Comment,
  Comments,
  conflictingTags,
  constrain,
  endOfTag,
  hasDetachedComment,
  isSecret,
  readNodeComment,
  uncheckedFormat,
} from "./jsdoc.js";
import { looksSecret } from "./secret-names.js";
import { slowPart } from "./slow-patterns.js";
import { nameNode } from "./static-values.js";
import { escapeRegex, textPattern } from "./template-pattern.js";
import type { ToolClass, TypeUse } from "./tool-classes.js";
import {
  isDataRef,
  isDataReference,
  isErrorPathWrapper,
  isFromRuntime,
  TypePredicates,
  unionConstituents,
} from "./type-predicates.js";

/** The model of a tool class, with its diagnostics. */
export interface LoweringResult {
  readonly tool: Tool;
  readonly diagnostics: readonly Diagnostic[];
  readonly acknowledged: readonly Acknowledgement[];
  /** The values of `@default` and `@example`, to be checked against the types. */
  readonly examples: readonly Example[];
  /** Whether the types go on too deep, so that the model holds less than they say. */
  readonly tooDeep: boolean;
}

/** A program, with caches that all tools share. */
export interface TypeReader {
  readonly program: Program;
  readonly order: DeclaredOrder;
  readonly comments: Comments;
}

export function readTypes(program: Program): TypeReader {
  const { checker } = program;
  return { program, order: new DeclaredOrder(checker), comments: new Comments(checker) };
}

/** Lowers one tool class. */
export function lower(types: TypeReader, tool: ToolClass): LoweringResult {
  const { program } = types;
  const lowering = new Lowering(types, tool.name);
  lowering.recordTags(readNodeComment(tool.declaration.compilerNode), { subject: tool.name });
  const input = lowering.input(tool.input);
  const output = lowering.output(tool.output);
  const definitions = lowering.definitions.choose([input, ...output.map(({ payload }) => payload)]);
  const ports = definitions.inline(input) as ObjectShape;
  const variants = output.map((each) => ({ ...each, payload: definitions.inline(each.payload) as ObjectShape }));
  for (const shape of [
    ports,
    ...variants.map(({ payload }) => payload),
    ...definitions.kept.map((each) => each.shape),
  ]) {
    lowering.refuseImpossibleParts(shape, { subject: tool.name, node: tool.input.node, syntax: undefined, depth: 0 });
  }
  return {
    tool: {
      ...(tool.metadata ?? NO_METADATA),
      import: tool.import,
      place: program.at(nameNode(tool.declaration).compilerNode),
      input: ports,
      output: variants,
      definitions: definitions.kept,
    },
    diagnostics: [...lowering.diagnostics, ...checkInvokeDefaults(program, tool, ports)],
    acknowledged: lowering.acknowledged,
    tooDeep: lowering.tooDeep,
    examples: lowering.examples.map((example) => ({ ...example, shape: definitions.inline(example.shape) })),
  };
}

/** Placeholder for refused metadata, from which nothing is generated. */
const NO_METADATA: StaticMetadata = { fqn: "", description: "", path: "", timeout: 0, variables: [] };

/** One use of a type: its name in diagnostics, the node that they point to, its syntax, and the nesting depth. */
interface Use extends Where {
  readonly syntax: TypeSyntax | undefined;
  /** Levels since the last type with a name of its own. */
  readonly depth: number;
}

interface Where {
  readonly subject: string;
  readonly node: ts.Node;
  /** Inside a type of a package: the subject of the member of the project that has the type. */
  readonly author?: string | undefined;
}

/** Maximum number of levels without a name, and of instances of one generic type in each other. */
const MAX_DEPTH = 50;
/** The number of levels, named or not, from which a named type is lowered after the type that has it. */
const MAX_LEVELS = 60;
/** Maximum number of named types of one tool. */
const MAX_TYPES = 1_000;
/** Maximum length of a text for which a pattern of quadratic time takes no noticeable time. */
const MAX_QUADRATIC_LENGTH = 1000;
const EMPTY: ObjectShape = { kind: "object", members: [], indexes: [], closed: false };
const { TypeFlags } = ts;
/** The types of an absent member. */
const ABSENT = TypeFlags.Undefined | TypeFlags.Void;

/** Parts of a syntax, with their order. */
type Constituents = Map<ts.Type | ts.Node, { readonly syntax: TypeSyntax; readonly at: number }>;

class Lowering {
  readonly #constituents = new WeakMap<TypeSyntax, Constituents>();
  readonly diagnostics: Diagnostic[] = [];
  readonly acknowledged: Acknowledgement[] = [];
  readonly examples: Example[] = [];
  readonly #checker: ts.TypeChecker;
  readonly #order: DeclaredOrder;
  readonly #predicates: TypePredicates;
  readonly definitions = new ShapeDefinitions();
  #side: "input" | "output" = "input";
  tooDeep = false;
  /** Levels, named or not, that are being lowered. */
  #levels = 0;
  /** Declarations of which types are being lowered, with the number of these types. */
  #open = new Map<ts.Symbol, number>();
  readonly #postponed: (() => void)[] = [];
  #count = 0;
  /** The shapes of input members with names like secrets. */
  readonly #secrets = new Map<Shape, Where & { readonly detail: string }>();
  readonly #notSecret = new WeakSet<Shape>();
  /** The shapes without values, with the types that they come from. */
  readonly #impossibles = new WeakMap<Shape, Where & { readonly detail: string | undefined }>();

  readonly #program: Program;

  readonly #types: TypeReader;
  readonly #toolName: string;

  constructor(types: TypeReader, toolName: string) {
    this.#types = types;
    this.#toolName = toolName;
    this.#program = types.program;
    this.#checker = types.program.checker;
    this.#order = types.order;
    this.#predicates = new TypePredicates(types.program);
  }

  /** Reports a diagnostic once a place; the errors of a package's type once for the member that has it. */
  #report(code: Code, use: Where, detail?: string): void {
    const place = this.#program.at(use.node, endOfTag(use.node));
    const { author, subject } = use;
    const found =
      author === undefined
        ? diagnostic(code, { place, subject }, detail)
        : foreignDiagnostic(code, { place, subject: author }, [subject.slice(this.#toolName.length + 1), detail]);
    const repeated = this.diagnostics.some(
      (other) =>
        (other.code === code || (author !== undefined && found.severity === "error" && other.severity === "error")) &&
        other.place?.file === place.file &&
        other.place.line === place.line &&
        other.place.column === place.column,
    );
    if (!repeated) this.diagnostics.push(found);
  }

  #refuse(code: Code, use: Use, detail?: string): Shape {
    this.#report(code, use, detail);
    return { kind: "json" };
  }

  #printType(type: ts.Type): string {
    return this.#checker.typeToString(type, undefined, ts.TypeFormatFlags.None);
  }

  // Input and output

  input({ type, syntax, node }: TypeUse): ObjectShape {
    this.#side = "input";
    const use: Use = { subject: `${this.#toolName}.Input`, node, syntax, depth: 0 };
    if (!this.#predicates.isPlainObject(type)) {
      this.#report("SVC150", use, this.#printType(type));
      return EMPTY;
    }
    const shape = this.#ports(type, use, false);
    if (shape.indexes.length > 0) this.#report("SVC150", use, "it has an index signature");
    const documented = this.#withDoc(shape, type, use);
    this.#finish();
    this.#reportSecrets(documented);
    return documented;
  }

  output({ type, syntax, node }: TypeUse): OutputVariant[] {
    this.#side = "output";
    const use: Use = { subject: `${this.#toolName}.Output`, node, syntax, depth: 0 };
    if (this.#containsDataRef(type, syntax)) {
      this.#refuseDataRef(use);
      return [];
    }
    const parts = type.isUnion() ? this.#order.sortUnion(type.types, syntax) : [type];
    const variants: OutputVariant[] = [];
    for (const part of parts) {
      const variant = this.#variant(part, { ...use, syntax: this.#constituentSyntax(part, syntax) });
      if (variant === undefined) continue;
      if (variants.some(({ name }) => name === variant.name)) {
        this.diagnostics.push(diagnostic("SVC163", variant, JSON.stringify(variant.name)));
      } else variants.push(variant);
    }
    this.#finish();
    return variants;
  }

  #variant(type: ts.Type, use: Use): OutputVariant | undefined {
    if (type.isStringLiteral()) {
      const node = use.syntax?.node ?? use.node;
      const subject = memberSubject(use.subject, type.value);
      if (this.#isReserved(type.value, { subject, node })) return undefined;
      return { name: type.value, subject, place: this.#program.at(node), text: true, payload: EMPTY };
    }
    if (!this.#predicates.isPlainObject(type)) {
      this.#report("SVC160", { ...use, node: use.syntax?.node ?? use.node }, this.#printType(type));
      return undefined;
    }
    const [tag, ...more] = this.#order.properties(type, use.syntax);
    const where = {
      subject: use.subject,
      node: this.#own(this.#declarationOf(type)) ?? use.syntax?.node ?? use.node,
    };
    if (tag === undefined || this.#checker.getIndexInfosOfType(type).length > 0) {
      this.#report("SVC164", where, this.#printType(type));
      return undefined;
    }
    if (more.length > 0) {
      this.#report("SVC164", where, `it has ${more.length + 1}: ${[tag, ...more].map(({ name }) => name).join(", ")}`);
      return undefined;
    }
    return this.#taggedVariant(tag, this.#order.memberEnvironment(use.syntax), use);
  }

  #taggedVariant(tag: ts.Symbol, environment: TypeArguments, outer: Use): OutputVariant | undefined {
    const node = this.#own(nameOf(tag)) ?? outer.node;
    const subject = memberSubject(outer.subject, tag.name);
    const annotation = typeAnnotation(tag);
    const syntax = annotation === undefined ? undefined : { node: annotation, environment };
    const use: Use = { subject, node, syntax, depth: 1 };
    if (this.#isReserved(tag.name, use)) return undefined;
    const type = this.#checker.getTypeOfSymbol(tag);
    const optional = (tag.flags & ts.SymbolFlags.Optional) !== 0;
    if (optional || (type.isUnion() && type.types.some((part) => part.flags & TypeFlags.Undefined))) {
      this.#report("SVC162", use);
      return undefined;
    }
    if (this.#containsDataRef(type, syntax)) {
      this.#refuseDataRef(use);
      return undefined;
    }
    if (!this.#predicates.isPlainObject(type)) {
      this.#report("SVC161", use, this.#printType(type));
      return undefined;
    }
    const payload = this.#ports(type, use, true);
    if (payload.indexes.length > 0)
      this.#report("SVC161", use, "it has an index signature, so its ports are not known");
    const comment = this.#types.comments.of(tag);
    this.recordTags(comment, use, payload);
    const doc = annotate(comment);
    const place = this.#program.at(node);
    return { name: tag.name, subject, place, text: false, payload, ...(doc === undefined ? {} : { doc }) };
  }

  #isReserved(name: string, where: { subject: string; node: ts.Node }): boolean {
    if (name !== "_err_eval") return false;
    this.#report("SVC165", where);
    return true;
  }

  // Any type

  /** The shape of a type, with the comments of the aliases between its syntax and the type. */
  #shape(type: ts.Type, use: Use): Shape {
    if (use.depth > MAX_DEPTH) return this.#refuseDepth(use);
    if (this.tooDeep) return { kind: "json" };
    this.#levels++;
    const shape = this.#shapeOfType(type, { ...use, depth: use.depth + 1 });
    this.#levels--;
    return this.#withAliases(shape, use);
  }

  /** Adds the comments of the aliases between a syntax and its type. */
  #withAliases(shape: Shape, use: Use): Shape {
    let result = shape;
    for (const comment of this.#aliasComments(use.syntax)) {
      result = this.#withComment(result, comment, use);
      if (comment.notSecret) this.#silence(result);
    }
    return result;
  }

  /** Adds the comment of an enum to a union of all its members, or the comment of a member to that member alone. */
  #withEnumComment(shape: Shape, types: readonly ts.Type[], use: Use): Shape {
    const symbol = this.#enumSymbol(types.filter(({ flags }) => !(flags & (TypeFlags.Null | TypeFlags.Undefined))));
    if (symbol === undefined || shape.kind === "ref") return shape;
    const comment = this.#types.comments.of(symbol);
    this.recordTags(comment, use, shape);
    const doc = annotate({ ...comment, description: enumDescription(this.#types.comments, symbol) }, shape.doc);
    return doc === undefined ? shape : { ...shape, doc };
  }

  #enumSymbol(types: readonly ts.Type[]): ts.Symbol | undefined {
    const [first] = types;
    if (first === undefined || !types.every(({ flags }) => flags & TypeFlags.EnumLiteral)) return undefined;
    const base = this.#checker.getBaseTypeOfLiteralType(first);
    const members = base.isUnion() ? base.types : [base];
    const isWhole = members.length === types.length && types.every((type) => members.includes(type));
    return isWhole ? base.getSymbol() : types.length === 1 ? first.getSymbol() : undefined;
  }

  #aliasComments(syntax: TypeSyntax | undefined): Comment[] {
    const comments: Comment[] = [];
    let at = this.#order.resolveSyntax(syntax);
    for (let hops = 0; at !== undefined && hops < MAX_DEPTH; hops++) {
      const alias = this.#order.resolveAlias(at);
      if (alias === undefined) break;
      if (isDataRef(alias.declaration)) break;
      if (!this.#program.program.isSourceFileDefaultLibrary(alias.declaration.getSourceFile())) {
        comments.unshift(readNodeComment(alias.declaration));
      }
      at = this.#order.resolveSyntax(alias.body);
    }
    return comments;
  }

  #withComment(shape: Shape, given: Comment, use: Use): Shape {
    if (isNever(shape)) return shape;
    const constrained = this.#withConstraints(shape, given, use);
    const comment = onShape(given, constrained);
    this.recordTags(comment, use, constrained);
    const doc = annotate(comment, constrained.doc);
    return doc === undefined ? constrained : { ...constrained, doc };
  }

  #withConstraints(shape: Shape, comment: Comment, use: Use): Shape {
    if (isNever(shape)) return shape;
    let result = shape;
    for (const constraint of comment.constraints) {
      const isForeign = this.#program.isForeign(constraint.node.getSourceFile());
      const at = { ...use, node: isForeign ? use.node : constraint.node };
      const before = this.definitions.resolve(result);
      const next =
        constraint.tag === "secret" && this.#side === "output"
          ? { kind: "place" as const, detail: "@secret is for inputs: a result is signed and returned as it is" }
          : constrain(before, constraint);
      // A tag of a package may be another tool's, and the project cannot correct it.
      if (isForeign && ("detail" in next || conflictingTags(next) !== undefined)) continue;
      if ("detail" in next) {
        this.#report(next.kind === "value" ? "SVC170" : "SVC171", at, next.detail);
        continue;
      }
      result = next;
      const tags = conflictingTags(result);
      if (tags !== undefined && conflictingTags(before) === undefined) this.#report("SVC172", at, tags);
      if (constraint.tag === "pattern") this.#checkPattern(constraint.text, comment, at);
      const format =
        !isForeign && constraint.tag === "format" && this.#side === "input" ? uncheckedFormat(result) : undefined;
      if (format !== undefined)
        this.#report(
          "SVC175",
          at,
          format === "password" ? "password; @secret marks a secret" : `${format}${didYouMean(format, FORMAT_NAMES)}`,
        );
    }
    return result;
  }

  /**
   * Reports a pattern for which one text can occupy the CPU of a server, or of any other program that checks the
   * pattern.
   */
  #checkPattern(pattern: string, { constraints }: Comment, at: Where): void {
    const slow = slowPart(pattern);
    if (slow?.growth === "exponential") this.#report("SVC177", at, slow.part);
    const limits = constraints.filter(({ tag }) => tag === "maxLength").map(({ text }) => Number(text));
    const isShort = limits.some((limit) => limit <= MAX_QUADRATIC_LENGTH);
    if (slow?.growth === "quadratic" && this.#side === "input" && !isShort) this.#report("SVC178", at, slow.part);
  }

  /** Records the tags other than annotations and constraints: misspelled tags, acknowledged notes, example values. */
  recordTags(comment: Comment, { subject }: { readonly subject: string }, shape?: Shape, optional = false): void {
    for (const { tag, problem } of comment.misspellings) {
      this.#report("SVC174", { subject, node: tag }, `@${tag.tagName.text}; ${problem}`);
    }
    for (const { tag, text } of comment.acknowledged) {
      const read = readAcknowledged(text);
      if ("problem" in read) this.#report("SVC170", { subject, node: tag }, read.problem);
      else this.acknowledged.push({ codes: read.codes, subject, place: this.#program.at(tag, endOfTag(tag)) });
    }
    if (shape === undefined) return;
    for (const { tag, value } of comment.examples) {
      this.examples.push({ value, shape, optional, subject, place: this.#program.at(tag, endOfTag(tag)) });
    }
  }

  #shapeOfType(type: ts.Type, use: Use): Shape {
    const { flags } = type;
    if (this.#containsDataRef(type, use.syntax)) return this.#refuseDataRef(use);
    if (flags & TypeFlags.Any) return this.#anything(type, use);
    if (flags & TypeFlags.Unknown) return { kind: "json" };
    if (flags & TypeFlags.Never) return this.#impossible(use);
    if (flags & ABSENT) return this.#refuse("SVC136", use, this.#printType(type));
    if (flags & TypeFlags.Null) return { kind: "null" };
    if (flags & (TypeFlags.ESSymbol | TypeFlags.UniqueESSymbol)) return this.#refuse("SVC132", use);
    if (flags & TypeFlags.NonPrimitive) return { kind: "json", except: "primitives" };
    if (flags & TypeFlags.String) return { kind: "string" };
    if (flags & TypeFlags.Number) return { kind: "number" };
    if (flags & TypeFlags.Boolean) return { kind: "boolean" };
    if (flags & TypeFlags.BigInt) return { kind: "bigint" };
    if (flags & TypeFlags.BigIntLiteral) return this.#refuse("SVC138", use, this.#printType(type));
    const literal = this.#literal(type);
    if (literal !== undefined) {
      return hasJson(literal)
        ? this.#withEnumComment({ kind: "literal", values: [literal] }, [type], use)
        : this.#refuse("SVC149", use, this.#printType(type));
    }
    if (flags & TypeFlags.Union) {
      const { types } = type as ts.UnionType;
      return this.#define(type, use, (inner) => this.#withEnumComment(this.#union(types, type, inner), types, inner));
    }
    if (flags & TypeFlags.Enum) return { kind: "number" };
    if (flags & (TypeFlags.TemplateLiteral | TypeFlags.StringMapping)) {
      return this.#patterned(type as ts.TemplateLiteralType | ts.StringMappingType, use);
    }
    if (flags & TypeFlags.TypeParameter) return this.#parameter(type, use);
    if (flags & TypeFlags.Instantiable) return this.#refuse("SVC139", use, this.#printType(type));
    if (flags & TypeFlags.Intersection) return this.#intersection(type as ts.IntersectionType, use);
    if (flags & TypeFlags.Object) return this.#objectType(type, use);
    return this.#refuse("SVC144", use, this.#printType(type));
  }

  /** `any`, which is also TypeScript's type of a name that it does not find. */
  #anything(type: ts.Type, use: Use): Shape {
    const isError = (type as { intrinsicName?: string }).intrinsicName === "error";
    this.#report(isError ? "SVC191" : "SVC190", use);
    return { kind: "json" };
  }

  #literal(type: ts.Type): Literal | undefined {
    if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
    if (type.flags & TypeFlags.BooleanLiteral) {
      return (type as ts.FreshableType).regularType === this.#checker.getTrueType();
    }
    return undefined;
  }

  /** A type parameter of a tool class, lowered as the default type of the parameter. */
  #parameter(type: ts.Type, use: Use): Shape {
    const symbol = type.getSymbol();
    const declaration = symbol?.declarations?.find(ts.isTypeParameterDeclaration);
    if (declaration?.default === undefined || !ts.isClassLike(declaration.parent)) {
      return this.#refuse("SVC139", use, this.#printType(type));
    }
    const syntax = { node: declaration.default, environment: new Map() };
    return this.#shape(this.#checker.getTypeFromTypeNode(declaration.default), { ...use, syntax });
  }

  /** A template literal type, or an intrinsic string type such as `Uppercase<string>`. */
  #patterned(type: ts.TemplateLiteralType | ts.StringMappingType, use: Use): Shape {
    const pattern = textPattern(type);
    return pattern === undefined
      ? this.#refuse("SVC146", use, this.#printType(type))
      : { kind: "string", pattern: `^${pattern}$` };
  }

  // Types without values

  /** The shape of a type without values. A union drops it; where nothing does, {@link refuseImpossible} reports it. */
  #impossible(use: Use, detail?: string): Shape {
    const shape: Shape = { kind: "union", branches: [] };
    this.#impossibles.set(shape, { ...use, detail });
    return shape;
  }

  #refuseImpossible(shape: Shape, use: Use): Shape {
    if (!isNever(shape)) return shape;
    const { detail, ...where } = this.#impossibles.get(shape) ?? { ...use, detail: undefined };
    this.#report("SVC137", where, detail);
    return { kind: "json" };
  }

  /** Reports a type without values that a recursive type refers to from inside, where no union can drop it. */
  refuseImpossibleParts(shape: Shape, use: Use): void {
    if (isNever(shape)) this.#refuseImpossible(shape, use);
    else for (const part of partsOf(shape)) this.refuseImpossibleParts(part, use);
  }

  // Unions and intersections

  /** Lowers a union. `undefined` in it is refused; the caller removes the `undefined` of an optional member before. */
  #union(types: readonly ts.Type[], whole: ts.Type | undefined, use: Use): Shape {
    if (this.tooDeep) return { kind: "json" };
    const rest = types.filter((part) => !(part.flags & ABSENT));
    if (whole !== undefined && rest.length < types.length) return this.#refuse("SVC136", use, this.#printType(whole));
    const ordered = this.#order.sortUnion(rest, use.syntax);
    const booleans = ordered.filter((part) => part.flags & TypeFlags.BooleanLiteral).length === 2;
    const branches: Shape[] = [];
    const values: Literal[] = [];
    let never: Shape | undefined;
    for (const part of ordered) {
      const literal = this.#literal(part);
      if (booleans && part.flags & TypeFlags.BooleanLiteral) {
        if (!branches.some(({ kind }) => kind === "boolean")) branches.push({ kind: "boolean" });
      } else if (
        literal !== undefined ||
        (part.flags & TypeFlags.Null && branches.every(({ kind }) => kind === "literal"))
      ) {
        if (!hasJson(literal ?? null)) this.#report("SVC149", use, this.#printType(part));
        if (values.length === 0) branches.push({ kind: "literal", values });
        values.push(literal ?? null);
      } else {
        const branch = this.#shape(part, { ...use, syntax: this.#constituentSyntax(part, use.syntax) });
        if (isNever(branch)) never ??= branch;
        else branches.push(branch);
      }
    }
    return branches.length === 0 ? (never ?? this.#impossible(use)) : this.#branches(distinct(branches), use);
  }

  #branches(found: readonly Shape[], use: Use): Shape {
    // A literal branch of `null` alone is `null`.
    const branches = found.map((branch): Shape => {
      return branch.kind === "literal" && branch.values.every((each) => each === null) ? { kind: "null" } : branch;
    });
    const [only] = branches;
    if (only !== undefined && branches.length === 1) return only;
    const kinds = new Set(branches.map(({ kind }) => kind));
    const texts =
      kinds.has("string") ||
      branches.some((each) => each.kind === "literal" && each.values.some((v) => typeof v === "string"));
    const numbers =
      kinds.has("number") ||
      branches.some((each) => each.kind === "literal" && each.values.some((v) => typeof v === "number"));
    const alike =
      (kinds.has("date") && (texts || kinds.has("bytes"))) ||
      (kinds.has("bytes") && texts) ||
      (kinds.has("bigint") && numbers);
    if (alike) this.#report("SVC145", use);
    return { kind: "union", branches };
  }

  /** The syntax of a part of a type, behind aliases and in unions. */
  #constituentSyntax(type: ts.Type, syntax: TypeSyntax | undefined): TypeSyntax | undefined {
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

  /** The parts of a syntax by their types, and those that are no union by their nodes; the first of equal ones. */
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

  #intersection(type: ts.IntersectionType, use: Use): Shape {
    if (this.#checker.isTypeAssignableTo(type, this.#checker.getNeverType())) {
      return this.#impossible(use, this.#printType(type));
    }
    const simple = type.types.filter((part) => !(part.flags & (TypeFlags.Object | TypeFlags.NonPrimitive)));
    const special = type.types.filter((part) => this.#predicates.isList(part) || this.#predicates.isSpecial(part));
    const [base] = [...simple, ...special];
    if (base !== undefined) {
      const others = type.types.filter((part) => part !== base);
      const branded = others.every((part) => this.#predicates.isBrand(part, base));
      if (simple.length + special.length > 1 || !branded) return this.#refuse("SVC142", use, this.#printType(type));
      return this.#shape(base, { ...use, syntax: undefined });
    }
    const [name] = type.types.flatMap(
      (part) => this.#predicates.builtIn(part) ?? this.#predicates.builtInBase(part) ?? [],
    );
    if (name !== undefined) return this.#refuse("SVC135", use, `${name} in ${this.#printType(type)}`);
    return this.#define(type, use, (inner) => this.#structure(type, inner));
  }

  // Object types

  #objectType(type: ts.Type, use: Use): Shape {
    if (this.#checker.isTupleType(type))
      return this.#define(type, use, (inner) => this.#tuple(type as ts.TupleTypeReference, inner));
    if (this.#checker.isArrayType(type))
      return this.#define(type, use, (inner) => this.#array(type as ts.TypeReference, inner));
    const name = this.#predicates.builtIn(type);
    if (name !== undefined) return this.#builtInShape(name, type, use);
    if (this.#predicates.isCallable(type)) return this.#refuse("SVC130", use);
    const element = this.#predicates.inheritedElement(type);
    if (element !== undefined) return this.#define(type, use, (inner) => this.#list(element, inner));
    if (isErrorPathWrapper(type)) return this.#wrapped(type as ts.TypeReference, use);
    const base = this.#predicates.builtInBase(type);
    if (base !== undefined) return this.#refuse("SVC135", use, `${this.#printType(type)}, which extends ${base}`);
    if (this.#checker.getPropertyOfType(type, "nexusValue") !== undefined && isFromRuntime(type.getSymbol())) {
      return this.#refuse("SVC168", use, `${this.#printType(type)} does not say what the data is: write DataRef<T>`);
    }
    if (this.#predicates.isEmpty(type)) return { kind: "json", except: "null" };
    return this.#define(type, use, (inner) => this.#withDoc(this.#structure(type, inner), type, inner));
  }

  #builtInShape(name: string, type: ts.Type, use: Use): Shape {
    if (name === "Date") return { kind: "date" };
    if (name === "Uint8Array") return { kind: "bytes" };
    if (/^(?:Readonly|Weak)?(?:Map|Set)$/.test(name)) return this.#refuse("SVC134", use, this.#printType(type));
    if (name === "Promise" || name === "PromiseLike") return this.#refuse("SVC143", use, this.#printType(type));
    if (name === "Function" || name === "CallableFunction" || name === "NewableFunction")
      return this.#refuse("SVC130", use);
    if (name === "Buffer") return this.#refuse("SVC135", use, "Buffer; use Uint8Array, which a Buffer is");
    return this.#refuse("SVC135", use, name);
  }

  #wrapped(type: ts.TypeReference, use: Use): Shape {
    const [value] = this.#checker.getTypeArguments(type);
    if (value === undefined) return this.#refuse("SVC144", use, this.#printType(type));
    const item = this.#shape(value, { ...use, syntax: this.#argumentSyntax(use) });
    return isNever(item) ? item : { kind: "wrapped", item };
  }

  #array(type: ts.TypeReference, use: Use): Shape {
    const [element] = this.#checker.getTypeArguments(type);
    return element === undefined ? this.#refuse("SVC144", use, this.#printType(type)) : this.#list(element, use);
  }

  #list(element: ts.Type, use: Use): Shape {
    const item = this.#item(element, this.#elementUse(use));
    return isNever(item) ? { kind: "tuple", items: [], optional: 0, tail: [] } : { kind: "array", item };
  }

  /** The shape of an element. In a result `undefined` is written as null. */
  #item(type: ts.Type, use: Use): Shape {
    const parts = type.isUnion() ? type.types : [type];
    const isAbsent = ({ flags }: ts.Type) => (flags & ABSENT) !== 0;
    if (this.#side === "input" || !parts.some(isAbsent)) return this.#shape(type, use);
    if (parts.every(isAbsent)) return { kind: "null" };
    const shape = this.#withoutUndefined(type, use);
    if (isNever(shape)) return { kind: "null" };
    const branches = shape.kind === "union" && shape.doc === undefined ? shape.branches : [shape];
    return branches.some(({ kind }) => kind === "null")
      ? shape
      : { kind: "union", branches: [...branches, { kind: "null" }] };
  }

  /** The syntax behind all aliases, such as that of a list, a tuple or a mapped type. */
  #unaliased(syntax: TypeSyntax | undefined): TypeSyntax | undefined {
    let at = this.#order.resolveSyntax(syntax);
    for (let hops = 0; at !== undefined && hops < MAX_DEPTH; hops++) {
      const alias = this.#order.resolveAlias(at);
      if (alias === undefined || isDataRef(alias.declaration)) break;
      at = this.#order.resolveSyntax(alias.body);
    }
    return at;
  }

  #elementUse(use: Use): Use {
    return { ...use, subject: `${use.subject}[]`, syntax: this.#argumentSyntax(use) };
  }

  /** The syntax of the element of a list, or of the first type argument. */
  #argumentSyntax({ syntax }: Use): TypeSyntax | undefined {
    const at = this.#unaliased(syntax);
    const [argument] = at !== undefined && ts.isTypeReferenceNode(at.node) ? (at.node.typeArguments ?? []) : [];
    const node = at !== undefined && ts.isArrayTypeNode(at.node) ? at.node.elementType : argument;
    return node === undefined || at === undefined ? undefined : { node, environment: at.environment };
  }

  #tuple(type: ts.TupleTypeReference, use: Use): Shape {
    const { elementFlags } = type.target;
    const at = this.#unaliased(use.syntax);
    const nodes = at !== undefined && ts.isTupleTypeNode(at.node) ? at.node.elements : undefined;
    const items: Shape[] = [];
    const tail: Shape[] = [];
    let rest: Shape | undefined;
    let optional = 0;
    let never: Shape | undefined;
    this.#checker.getTypeArguments(type).forEach((element, index) => {
      const flag = elementFlags[index] ?? ts.ElementFlags.Required;
      const node = nodes?.length === elementFlags.length ? elementNode(nodes[index]) : undefined;
      const syntax = node === undefined || at === undefined ? undefined : { node, environment: at.environment };
      const inner: Use = {
        ...use,
        subject: `${use.subject}[${index}]`,
        node: this.#own(nodes?.[index]) ?? use.node,
        syntax,
      };
      if (flag & ts.ElementFlags.Variadic) this.#report("SVC139", inner, this.#printType(type));
      const isOptional = (flag & ts.ElementFlags.Optional) !== 0;
      const shape = isOptional
        ? this.#refuseImpossible(this.#withoutUndefined(element, inner), inner)
        : this.#item(element, inner);
      if (isNever(shape) && flag & ts.ElementFlags.Rest) return;
      if (isNever(shape)) never ??= shape;
      if (flag & ts.ElementFlags.Rest) rest = shape;
      else if (rest !== undefined) tail.push(shape);
      else items.push(shape);
      if (isOptional) optional++;
    });
    if (never !== undefined) return never;
    return { kind: "tuple", items, optional, ...(rest === undefined ? {} : { rest }), tail };
  }

  #withoutUndefined(type: ts.Type, use: Use): Shape {
    if (!type.isUnion()) return this.#shape(type, use);
    const rest = type.types.filter((part) => !(part.flags & ABSENT));
    const [only] = rest;
    if (rest.length === type.types.length) return this.#shape(type, use);
    if (rest.length === 1 && only !== undefined) {
      const syntax = this.#constituentSyntax(only, use.syntax) ?? use.syntax;
      return this.#shape(only, { ...use, syntax });
    }
    if (this.#containsDataRef(type, use.syntax)) return this.#refuseDataRef(use);
    const shape = this.#union(rest, undefined, { ...use, depth: use.depth + 1 });
    return this.#withAliases(this.#withEnumComment(shape, rest, use), use);
  }

  /** An object type, or the impossible shape of a required member: no value has such a member. */
  #structure(type: ts.Type, use: Use): Shape {
    const shape = this.#object(type, use);
    return shape.members.map((member) => member.shape).find(isNever) ?? shape;
  }

  /** The ports of an object type, each of which must have values. */
  #ports(type: ts.Type, use: Use, payload: boolean): ObjectShape {
    const shape = this.#object(type, use, payload);
    const members = shape.members.map((member) => ({ ...member, shape: this.#refuseImpossible(member.shape, use) }));
    return { ...shape, members };
  }

  /** @param payload whether the members are output ports */
  #object(type: ts.Type, use: Use, payload = false): ObjectShape {
    const environment = this.#order.memberEnvironment(use.syntax);
    const values = this.#mappedValues(use.syntax);
    const members: Member[] = [];
    for (const property of this.#order.properties(type, use.syntax)) {
      const member = this.#member(property, environment, values, use, payload);
      if (member !== undefined) members.push(member);
    }
    let closed = false;
    const indexes: { pattern?: string; shape: Shape }[] = [];
    for (const info of this.#checker.getIndexInfosOfType(type)) {
      const inner: Use = {
        ...use,
        subject: `${use.subject}{}`,
        ...this.#placeIn(use, info.declaration),
        syntax: info.declaration === undefined ? values : { node: info.declaration.type, environment },
      };
      // A symbol names no member of JSON, and an index signature demands none.
      if (info.keyType.flags & TypeFlags.ESSymbol) continue;
      if (info.type.flags & TypeFlags.Never) closed = true;
      else {
        const pattern = this.#keyPattern(info.keyType, inner);
        const names = pattern === undefined ? {} : { pattern: excludeMembers(pattern, members) };
        const shape = this.#withoutUndefined(info.type, inner);
        if (!isNever(shape)) indexes.push({ ...names, shape });
        else if (pattern === undefined) closed = true;
        else this.#refuseImpossible(shape, inner);
      }
    }
    return { kind: "object", members, indexes, closed };
  }

  /** The syntax of what each name of a mapped type has: of `Item` in `Record<string, Item>`. */
  #mappedValues(syntax: TypeSyntax | undefined): TypeSyntax | undefined {
    const at = this.#unaliased(syntax);
    if (at === undefined || !ts.isMappedTypeNode(at.node) || at.node.type === undefined) return undefined;
    return { node: at.node.type, environment: at.environment };
  }

  #keyPattern(key: ts.Type, use: Use): string | undefined {
    if (key.flags & TypeFlags.String) return undefined;
    if (key.flags & TypeFlags.Number) return NUMERIC_NAME;
    const shape = this.#shapeOfType(key, use);
    return shape.kind === "string" ? shape.pattern : undefined;
  }

  #member(
    property: ts.Symbol,
    environment: TypeArguments,
    values: TypeSyntax | undefined,
    outer: Use,
    port: boolean,
  ): Member | undefined {
    const subject = subjectOf(outer.subject, property);
    const place = this.#placeIn(outer, nameOf(property));
    const annotation = typeAnnotation(property);
    const syntax = annotation === undefined ? values : { node: annotation, environment };
    const use: Use = { subject, ...place, syntax, depth: outer.depth };
    if (this.#refuseMember(property, use)) return undefined;

    const type = this.#checker.getTypeOfSymbol(property);
    const parts = type.isUnion() ? type.types : [type];
    const absent = parts.some((part) => part.flags & ABSENT);
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0 || absent;
    const nothing = parts.every((part) => part.flags & (ABSENT | TypeFlags.Never));
    const data = port ? this.#byReference(type, use) : undefined;
    const found: Shape =
      data?.shape ??
      (nothing && optional ? { kind: "null" } : optional ? this.#withoutUndefined(type, use) : this.#shape(type, use));
    const bare: Shape = isNever(found) && optional ? { kind: "null" } : found;

    const comment = this.#types.comments.of(property);
    if (use.author === undefined && (property.declarations ?? []).some(hasDetachedComment)) this.#report("SVC147", use);
    const shape = this.#withConstraints(bare, comment, use);
    if (comment.notSecret || this.#notSecret.has(bare)) this.#silence(shape);
    else if (looksSecret(property.name)) this.#secrets.set(shape, { ...use, detail: property.name });
    const fitting = onShape(comment, shape);
    this.recordTags(fitting, use, shape, optional);
    const doc: Doc | undefined = annotate(fitting);
    const by = data === undefined ? {} : { byReference: data.by };
    return {
      name: property.name,
      subject: use.author ?? subject,
      place: this.#program.at(use.node),
      optional,
      ...by,
      shape,
      ...(doc === undefined ? {} : { doc }),
    };
  }

  /** Reports a member that has no JSON form; returns whether it did. */
  #refuseMember(property: ts.Symbol, use: Use): boolean {
    const escaped = String(property.escapedName);
    const modifiers = (property.declarations ?? []).reduce(
      (all, declaration) => all | ts.getCombinedModifierFlags(declaration),
      0,
    );
    if (escaped.startsWith("__#") || modifiers & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) {
      this.#report("SVC133", use);
    } else if (escaped.startsWith("__@")) {
      // A result loses the member; an input that needs it would be a lie.
      if (this.#side === "input" && !(property.flags & ts.SymbolFlags.Optional)) this.#report("SVC141", use);
    } else if (property.flags & ts.SymbolFlags.Method) this.#report("SVC131", use);
    else if (!property.name.isWellFormed()) this.#report("SVC148", use);
    else return false;
    return true;
  }

  // Data references

  /** The referenced data of an output port of type `DataRef`; undefined for any other type. */
  #byReference(type: ts.Type, use: Use): { readonly by: "value" | "items"; readonly shape: Shape } | undefined {
    if (this.#containsDataRef(type, use.syntax)) return { by: "value", shape: this.#dataRefContent(type, use) };
    const [list, ...more] = unionConstituents(type);
    if (list === undefined || more.length > 0 || !this.#checker.isArrayType(list)) return undefined;
    const [element] = this.#checker.getTypeArguments(list as ts.TypeReference);
    const item = this.#elementUse(use);
    if (element === undefined || !this.#containsDataRef(element, item.syntax)) return undefined;
    // The type is a union of the list and `undefined`.
    if (list !== type) {
      const detail = "an optional list is one value: write DataRef<T[]>, or leave the question mark out";
      return { by: "value", shape: this.#refuse("SVC168", use, detail) };
    }
    return { by: "items", shape: { kind: "array", item: this.#dataRefContent(element, item) } };
  }

  /** Lowers the `T` of a `DataRef<T>`, which may be in a union with `undefined`, but with no other type. */
  #dataRefContent(type: ts.Type, use: Use): Shape {
    const parts = unionConstituents(type);
    const [reference, ...more] = parts.filter(isDataReference);
    const [argument] = reference === undefined ? [type] : this.#checker.getTypeArguments(reference);
    const beside = parts.filter((part) => part !== reference);
    const wanted = unionConstituents(argument ?? type);
    const exact =
      beside.length === 0 || (beside.length === wanted.length && beside.every((part) => wanted.includes(part)));
    if (argument === undefined || more.length > 0 || !exact) {
      return this.#refuse("SVC168", use, "not beside other types: write DataRef<A | B>");
    }
    return this.#withAliases(
      this.#withoutUndefined(argument, { ...use, syntax: this.#dataRefArgument(use.syntax) }),
      use,
    );
  }

  /**
   * Whether a type is a `DataRef`, alone or in a union. `DataRef<unknown>` and `DataRef<any>` are recognized by syntax.
   */
  #containsDataRef(type: ts.Type, syntax: TypeSyntax | undefined): boolean {
    if (type.flags & (TypeFlags.Any | TypeFlags.Unknown)) return this.#dataRefArgument(syntax) !== undefined;
    return unionConstituents(type).some(isDataReference);
  }

  /** The syntax of the `T` of a `DataRef<T>`, through aliases and unions. */
  #dataRefArgument(syntax: TypeSyntax | undefined, depth = 0): TypeSyntax | undefined {
    const at = this.#order.resolveSyntax(syntax);
    if (at === undefined || depth > MAX_DEPTH) return undefined;
    if (ts.isUnionTypeNode(at.node)) {
      for (const node of at.node.types) {
        const found = this.#dataRefArgument({ node, environment: at.environment }, depth + 1);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    const alias = this.#order.resolveAlias(at);
    if (alias === undefined) return undefined;
    if (!isDataRef(alias.declaration)) return this.#dataRefArgument(alias.body, depth + 1);
    const [parameter] = alias.declaration.typeParameters ?? [];
    const symbol = parameter && this.#checker.getSymbolAtLocation(parameter.name);
    return symbol && alias.body.environment.get(symbol);
  }

  #refuseDataRef(use: Use): Shape {
    const detail =
      this.#side === "input"
        ? "an input arrives resolved: declare the type of the data"
        : "this is not a port of its own";
    return this.#refuse("SVC168", use, detail);
  }

  // Secrets

  /** Marks a shape of which no member is a secret. */
  #silence(shape: Shape): void {
    this.#notSecret.add(shape);
  }

  /** Reports the inputs with names like secrets, except where a member, an alias or a type above says otherwise. */
  #reportSecrets(root: Shape): void {
    const seen = new Set<Shape>();
    const visit = (shape: Shape): void => {
      if (this.#notSecret.has(shape) || seen.has(shape)) return;
      seen.add(shape);
      const secret = this.#secrets.get(shape);
      if (secret !== undefined && !isSecret(shape)) this.#report("SVC154", secret, secret.detail);
      if (shape.kind === "ref") visit(this.definitions.resolve(shape));
      else for (const part of partsOf(shape)) visit(part);
    };
    visit(root);
  }

  // Definitions

  #define(type: ts.Type, use: Use, make: (use: Use) => Shape): Shape {
    const symbol = type.aliasSymbol ?? type.getSymbol();
    const isObject = (type.flags & (TypeFlags.Object | TypeFlags.Intersection)) !== 0 && !this.#predicates.isList(type);
    const naming = { name: symbol?.name, isObject, subject: use.subject };
    return this.definitions.define(type, naming, (isNamed) => {
      if (!isNamed || symbol === undefined) return make(use);
      const open = this.#open.get(symbol) ?? 0;
      if (open > MAX_DEPTH || ++this.#count > MAX_TYPES) return this.#refuseDepth(use);
      const lowered = (): Shape => {
        this.#open.set(symbol, open + 1);
        const shape = make({ ...use, depth: 0 });
        this.#open.set(symbol, open);
        return shape;
      };
      if (this.#levels <= MAX_LEVELS) return lowered();
      const before = new Map(this.#open);
      this.#postponed.push(() => {
        this.#open = before;
        this.definitions.complete(type, lowered());
      });
      return undefined;
    });
  }

  /** Lowers the types that were too deep in others to be lowered there. */
  #finish(): void {
    for (let next = this.#postponed.pop(); next !== undefined && !this.tooDeep; next = this.#postponed.pop()) next();
    this.#open = new Map();
  }

  #refuseDepth(use: Use): Shape {
    const subject = `${use.subject.split(".").slice(0, 4).join(".")}.…`;
    if (!this.tooDeep) this.#report("SVC140", { ...use, subject });
    this.tooDeep = true;
    return { kind: "json" };
  }

  #withDoc<S extends Shape>(shape: S, type: ts.Type, use: Use): S {
    const symbol = type.getSymbol();
    if (symbol === undefined || !(symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class))) return shape;
    if (isNever(shape)) return shape;
    const comment = this.#types.comments.of(symbol);
    // Constraints keep the kind of a shape.
    const documented = this.#withComment(shape, comment, use) as S;
    if (comment.notSecret) this.#silence(documented);
    return documented;
  }

  /** The node, unless it is in a package or in TypeScript's library, where a diagnostic would not help. */
  #own(node: ts.Node | undefined): ts.Node | undefined {
    return node === undefined || this.#program.isForeign(node.getSourceFile()) ? undefined : node;
  }

  /** The place of a declaration in a type: its own, or that of the member of the project that has a package's type. */
  #placeIn(outer: Use, declaration: ts.Node | undefined): Pick<Where, "node" | "author"> {
    if (declaration === undefined) return { node: outer.node, author: outer.author };
    const node = this.#own(declaration);
    return node === undefined
      ? { node: outer.node, author: outer.author ?? outer.subject }
      : { node, author: undefined };
  }

  #declarationOf(type: ts.Type): ts.Node | undefined {
    const declaration = type.getSymbol()?.declarations?.[0];
    return declaration === undefined ? undefined : (ts.getNameOfDeclaration(declaration) ?? declaration);
  }
}

/** A diagnostic in a type of a package, about the member of the project that has the type. */
function foreignDiagnostic(
  code: Code,
  where: { readonly place: Place; readonly subject: string },
  details: readonly (string | undefined)[],
): Diagnostic {
  const detail = details.filter((each) => each !== undefined).join(": ");
  const isError = CODES[code].severity === "error";
  return diagnostic(code, where, detail, isError ? FOREIGN_HINT : undefined);
}

const FOREIGN_HINT =
  "declare the members that travel in a type of your own, or take them from the package's type by Pick";

/** A comment with the values that its tags have on a shape. */
function onShape(comment: Comment, shape: Shape): Comment {
  return shape.kind === "string" && comment.annotations.length > 0 ? comment.onText() : comment;
}

/** Whether a literal has a JSON form. NaN, infinities and lone surrogates have none. */
function hasJson(value: Literal): boolean {
  return typeof value === "number" ? Number.isFinite(value) : typeof value !== "string" || value.isWellFormed();
}

/** The member names that a `number` index signature covers: numbers as JavaScript prints them. */
const NUMERIC_NAME =
  "^(?:0|-?(?:[1-9][0-9]{0,20}(?:\\.[0-9]*[1-9])?|0\\.(?!0{6})[0-9]*[1-9]|[1-9](?:\\.[0-9]*[1-9])?e(?:\\+(?:2[1-9]|[3-9][0-9]|[1-3][0-9]{2})|-(?:[7-9]|[1-9][0-9]|[1-3][0-9]{2}))|Infinity)|NaN)$";

function nameOf(symbol: ts.Symbol): ts.Node | undefined {
  const declaration = symbol.valueDeclaration ?? symbol.declarations?.[0];
  return declaration === undefined ? undefined : (ts.getNameOfDeclaration(declaration) ?? declaration);
}

function elementNode(node: ts.TypeNode | undefined): ts.TypeNode | undefined {
  if (node === undefined) return undefined;
  const inner = ts.isNamedTupleMember(node) || ts.isOptionalTypeNode(node) ? node.type : node;
  if (!ts.isRestTypeNode(inner)) {
    return ts.isNamedTupleMember(node) && node.dotDotDotToken !== undefined && ts.isArrayTypeNode(inner)
      ? inner.elementType
      : inner;
  }
  return ts.isArrayTypeNode(inner.type) ? inner.type.elementType : undefined;
}

/** The comment of an enum, then a line for each documented member; of a member, its own. */
function enumDescription(comments: Comments, symbol: ts.Symbol): string {
  const { description } = comments.of(symbol);
  if (!(symbol.flags & ts.SymbolFlags.Enum)) return description;
  const members = (symbol.declarations ?? []).filter(ts.isEnumDeclaration).flatMap((each) => [...each.members]);
  const lines = members.flatMap((member) => {
    const own = (member as { symbol?: ts.Symbol }).symbol;
    const text = own === undefined ? "" : comments.of(own).description;
    return text === "" ? [] : [`${member.name.getText()}: ${text}`];
  });
  return [description, ...lines].filter((each) => each !== "").join("\n");
}

/** The full name of a member as in the source; private names and symbols have internal ones. */
function subjectOf(outer: string, { name, escapedName }: ts.Symbol): string {
  const internal = /^__(#|@)(?:\d+@)?(.*?)(?:@\d+)?$/.exec(String(escapedName));
  if (internal === null) return memberSubject(outer, name);
  return internal[1] === "#" ? `${outer}.${internal[2]}` : `${outer}[${internal[2]}]`;
}

/** Excludes the declared members, which have types of their own, from the pattern of an index signature. */
function excludeMembers(pattern: string, members: readonly Member[]): string {
  const expression = new RegExp(pattern, "u");
  const declared = members.filter(({ name }) => expression.test(name)).map(({ name }) => escapeRegex(name));
  return declared.length === 0 ? pattern : `^(?!(?:${declared.join("|")})$)${pattern.slice(1)}`;
}

/** Removes duplicates; the first one stays. */
function distinct(shapes: readonly Shape[]): readonly Shape[] {
  const found = new Map<string, Shape>();
  for (const shape of shapes) {
    const text = JSON.stringify(shape, stringifyBigint);
    if (!found.has(text)) found.set(text, shape);
  }
  return [...found.values()];
}

function stringifyBigint(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
