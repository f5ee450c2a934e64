/** State of lowering one tool class: results, position in the types, depth limits. */

import type { Acknowledgement } from "../../diagnostics/acknowledge.js";
import { CODES, type Code, type Diagnostic, diagnostic } from "../../diagnostics/diagnostics.js";
import { type Example, isNever, type Place, partsOf, placeText, type Shape } from "../../model.js";
import type { Program } from "../../project/program.js";
import { ts } from "../../project/typescript.js";
import type { DeclaredOrder } from "../declared-order.js";
import { ShapeDefinitions } from "../definitions.js";
import { type Constraint, endOfTag } from "../jsdoc.js";
import { TypePredicates } from "../type-predicates.js";
import { MAX_DEPTH, type SyntaxReader, type TypeSyntax } from "../type-syntax.js";
import type { TypeReader } from "./type-reader.js";
import { TypeSources } from "./type-sources.js";

/** One use of a type: its name and node for diagnostics, its syntax, and the nesting depth. */
export interface Use extends Where {
  readonly syntax: TypeSyntax | undefined;
  /** Syntax before its aliases were followed, for the order of members and parts. */
  readonly written?: TypeSyntax | undefined;
  /** Number of levels since the last named type. */
  readonly depth: number;
  /** Whether the syntax is of a union or intersection that the type is a part of. */
  readonly isPart?: boolean;
  /** Whether the type is that of a member of a mapped type, whose comment may be for another type. */
  readonly isMapped?: boolean;
}

export interface Where {
  readonly subject: string;
  readonly node: ts.Node;
  /** Comment of the node's file, which is marked instead of the node. */
  readonly comment?: ts.TextRange | undefined;
  /** Set inside a dependency's type: subject of the project's member that has this type. */
  readonly author?: string | undefined;
}

/** From this number of levels on, a named type is lowered later, after the type that contains it. */
const MAX_LEVELS = 60;
/** Maximum number of named types of one tool. */
const MAX_TYPES = 1_000;
const { TypeFlags } = ts;

export class Lowering {
  readonly diagnostics: Diagnostic[] = [];
  readonly acknowledged: Acknowledgement[] = [];
  readonly examples: Example[] = [];
  readonly types: TypeReader;
  readonly program: Program;
  readonly checker: ts.TypeChecker;
  readonly order: DeclaredOrder;
  readonly predicates: TypePredicates;
  readonly syntax: SyntaxReader;
  readonly sources: TypeSources;
  readonly definitions = new ShapeDefinitions();
  readonly toolName: string;
  readonly shape: (type: ts.Type, use: Use) => Shape;
  side: "input" | "output" = "input";
  tooDeep = false;
  levels = 0;
  /** For each declaration, the number of its types that are being lowered. */
  #open = new Map<ts.Symbol, number>();
  readonly #postponed: (() => void)[] = [];
  #count = 0;
  readonly #keys = new Map<ts.Type, Map<string, object>>();
  /** Shapes of input members with names like secrets. */
  readonly secrets = new Map<Shape, Where & { readonly detail: string }>();
  /** Shapes that contain no secret. */
  readonly notSecret = new WeakSet<Shape>();
  /** Tags that set the keywords of shapes. */
  readonly tagPlaces = new WeakMap<object, ts.Node>();
  /** Tags that constrain some shape. */
  readonly applied = new Set<ts.Node>();
  /** Tags of aliases of unions, for parts of the unions to which they do not apply. */
  readonly unapplied: { readonly constraint: Constraint; readonly at: Where; readonly detail: string }[] = [];
  /** Shapes without values, with the types that they come from. */
  readonly #impossibles = new WeakMap<Shape, Where & { readonly detail: string | undefined }>();

  constructor(types: TypeReader, toolName: string, lowerType: (lowering: Lowering, type: ts.Type, use: Use) => Shape) {
    this.types = types;
    this.toolName = toolName;
    this.program = types.program;
    this.checker = types.program.checker;
    this.order = types.order;
    this.predicates = new TypePredicates(types.program);
    this.syntax = types.syntax;
    this.sources = new TypeSources(types);
    this.shape = (type, use) => lowerType(this, type, use);
  }

  /**
   * Reports a diagnostic once for each place. Errors in a dependency's type are reported once for the member that has
   * it.
   */
  report(code: Code, use: Where, detail?: string, hint?: string, related: readonly ts.Node[] = []): void {
    const { author, comment, subject } = use;
    const place = this.program.at(use.node, comment?.end ?? endOfTag(use.node), comment?.pos);
    const found =
      author === undefined
        ? diagnostic(code, { place, subject }, detail, hint)
        : foreignDiagnostic(code, { place, subject: author }, [subject.slice(this.toolName.length + 1), detail]);
    const repeated = this.diagnostics.some(
      (other) =>
        (other.code === code || (author !== undefined && found.severity === "error" && other.severity === "error")) &&
        other.place !== undefined &&
        placeText(other.place) === placeText(place),
    );
    if (repeated) return;
    const places = related.map((node) => ({ message: "this tag", place: this.program.at(node, endOfTag(node)) }));
    this.diagnostics.push(places.length === 0 ? found : { ...found, related: places });
  }

  /** Reports tags of unions that apply to no part. */
  reportUnapplied(): void {
    for (const { constraint, at, detail } of this.unapplied) {
      if (!this.applied.has(constraint.node)) this.report("SVC171", at, detail);
    }
  }

  refuse(code: Code, use: Use, detail?: string): Shape {
    this.report(code, use, detail);
    return { kind: "json" };
  }

  printType(type: ts.Type): string {
    return this.checker.typeToString(type, undefined, ts.TypeFormatFlags.None);
  }

  /** Shape of a type without values. A union drops it; anywhere else, {@link refuseImpossible} reports it. */
  impossible(use: Use, detail?: string): Shape {
    const shape: Shape = { kind: "union", branches: [] };
    this.#impossibles.set(shape, { ...use, detail });
    return shape;
  }

  refuseImpossible(shape: Shape, use: Use): Shape {
    if (!isNever(shape)) return shape;
    const { detail, ...where } = this.#impossibles.get(shape) ?? { ...use, detail: undefined };
    this.report("SVC137", where, detail);
    return { kind: "json" };
  }

  /** Reports a type without values inside a recursive type, where no union can drop it. */
  refuseImpossibleParts(shape: Shape, use: Use): void {
    if (isNever(shape)) this.refuseImpossible(shape, use);
    else for (const part of partsOf(shape)) this.refuseImpossibleParts(part, use);
  }

  refuseDataRef(use: Use): Shape {
    const detail =
      this.side === "input"
        ? "the tool receives the data, not a reference: declare the type of the data"
        : "this is not an output port";
    return this.refuse("SVC168", use, detail);
  }

  /**
   * Lowers a structured type, or returns a reference to it. A named type below many levels is lowered by {@link finish}.
   *
   * @param make lowers the type at this use
   */
  define(type: ts.Type, use: Use, make: (use: Use) => Shape): Shape {
    const symbol = type.aliasSymbol ?? type.getSymbol();
    const isObject = (type.flags & (TypeFlags.Object | TypeFlags.Intersection)) !== 0 && !this.predicates.isList(type);
    const naming = { name: symbol?.name, isObject, subject: use.subject };
    const key = this.#keyOf(type, this.sources.tagsOfArguments(use.syntax));
    return this.definitions.define(key, naming, (isNamed) => {
      if (!isNamed || symbol === undefined) return make(use);
      const open = this.#open.get(symbol) ?? 0;
      if (open > MAX_DEPTH || ++this.#count > MAX_TYPES) return this.refuseDepth(use);
      const lowered = (): Shape => {
        this.#open.set(symbol, open + 1);
        const shape = make({ ...use, depth: 0 });
        this.#open.set(symbol, open);
        return shape;
      };
      if (this.levels <= MAX_LEVELS) return lowered();
      const before = new Map(this.#open);
      this.#postponed.push(() => {
        this.#open = before;
        this.definitions.complete(key, lowered());
      });
      return undefined;
    });
  }

  /** Identity of a type whose type arguments have constraints. */
  #keyOf(type: ts.Type, tags: string): object {
    if (tags === "") return type;
    const keys = this.#keys.get(type) ?? new Map<string, object>();
    this.#keys.set(type, keys);
    const key = keys.get(tags) ?? {};
    keys.set(tags, key);
    return key;
  }

  /** Lowers the postponed types. */
  finish(): void {
    for (let next = this.#postponed.pop(); next !== undefined && !this.tooDeep; next = this.#postponed.pop()) next();
    this.#open = new Map();
  }

  refuseDepth(use: Use): Shape {
    const subject = `${use.subject.split(".").slice(0, 4).join(".")}.…`;
    if (!this.tooDeep) this.report("SVC140", { ...use, subject });
    this.tooDeep = true;
    return { kind: "json" };
  }

  /** The node, unless it is in a dependency or in TypeScript's library, where a diagnostic would not help. */
  own(node: ts.Node | undefined): ts.Node | undefined {
    return node === undefined || this.program.isForeign(node.getSourceFile()) ? undefined : node;
  }

  /** Place for diagnostics about a declaration: in a dependency, the place of the project's member with that type. */
  placeIn(outer: Use, declaration: ts.Node | undefined): Pick<Where, "node" | "author"> {
    if (declaration === undefined) return { node: outer.node, author: outer.author };
    const node = this.own(declaration);
    return node === undefined
      ? { node: outer.node, author: outer.author ?? outer.subject }
      : { node, author: undefined };
  }
}

/** Diagnostic in a dependency's type, about the project's member that has the type. */
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
  "declare a type of your own with only the members that are sent, or use Pick on the package's type";
