/**
 * Lowers compiler types to the model. Types with a JSON meaning become shapes; each other type is reported at the
 * member that has it.
 */

import type { Acknowledgement } from "../../diagnostics/acknowledge.js";
import { type Diagnostic, diagnostic } from "../../diagnostics/diagnostics.js";
import {
  type Example,
  isNever,
  keywordValue,
  type ObjectShape,
  type Shape,
  type StaticMetadata,
  type Tool,
} from "../../model.js";
import { ts } from "../../project/typescript.js";
import { nameNode } from "../static-evaluator.js";
import { textPattern } from "../template-pattern.js";
import type { ToolClass } from "../tool-classes.js";
import { ABSENT, isErrorPathWrapper, isFromRuntime, resolveAccess } from "../type-predicates.js";
import { MAX_DEPTH } from "../type-syntax.js";
import { lowerBuiltIn } from "./built-in-types.js";
import { addEnumComment, addTypeComment, lowerSources, recordTags } from "./comments.js";
import { lowerArray, lowerList, lowerTuple } from "./lists.js";
import { Lowering, type Use } from "./lowering.js";
import { lowerStructure } from "./objects.js";
import { lowerInput, lowerOutput } from "./ports.js";
import type { TypeReader } from "./type-reader.js";
import { hasJson, literalOf, lowerUnion, lowerWithoutUndefined } from "./unions.js";

const { TypeFlags } = ts;

/** Model of a tool class, with its diagnostics. */
export interface LoweringResult {
  readonly tool: Tool;
  readonly diagnostics: readonly Diagnostic[];
  readonly acknowledged: readonly Acknowledgement[];
  /** Values of `@default` and `@example`, to be checked against the types. */
  readonly examples: readonly Example[];
  /** Whether the types are nested too deeply, so that the model is incomplete. */
  readonly tooDeep: boolean;
}

export function lower(types: TypeReader, tool: ToolClass): LoweringResult {
  const { program } = types;
  const lowering = new Lowering(types, tool.name, lowerType);
  recordTags(lowering, types.comments.ofNode(tool.declaration.compilerNode), { subject: tool.name });
  const input = lowerInput(lowering, tool.input);
  const output = lowerOutput(lowering, tool.output);
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
  lowering.reportUnapplied();
  return {
    tool: {
      ...(tool.metadata ?? NO_METADATA),
      import: tool.import,
      place: program.at(nameNode(tool.declaration).compilerNode),
      input: ports,
      output: variants,
      definitions: definitions.kept,
    },
    diagnostics: [...lowering.diagnostics, ...unusedDefaults(ports)],
    acknowledged: lowering.acknowledged,
    tooDeep: lowering.tooDeep,
    examples: lowering.examples.map((example) => ({ ...example, shape: definitions.inline(example.shape) })),
  };
}

/** Notes on defaults of required ports. A default in the type of a member is ignored: it may be meant for other uses. */
function unusedDefaults({ members }: ObjectShape): Diagnostic[] {
  const unused = members.filter((member) => !member.optional && keywordValue(member, "default") !== undefined);
  return unused.map(({ place, subject }) => diagnostic("SVC159", { place, subject }));
}

/** Placeholder for invalid metadata; nothing is generated from it. */
const NO_METADATA: StaticMetadata = { fqn: "", description: "", path: "", timeout: 0, variables: [], hints: {} };

/** Shape of a type, with the comments of the aliases that its syntax refers to. */
function lowerType(lowering: Lowering, type: ts.Type, use: Use): Shape {
  if (use.depth > MAX_DEPTH) return lowering.refuseDepth(use);
  if (lowering.tooDeep) return { kind: "json" };
  lowering.levels++;
  const shape = lowerSources(lowering, type, use, (inner) =>
    shapeOfType(lowering, type, { ...inner, depth: use.depth + 1 }),
  );
  lowering.levels--;
  return shape;
}

function shapeOfType(lowering: Lowering, type: ts.Type, use: Use): Shape {
  const { flags } = type;
  if (lowering.syntax.containsDataRef(type, use.syntax)) return lowering.refuseDataRef(use);
  if (flags & TypeFlags.Any) return lowerAny(lowering, type, use);
  if (flags & TypeFlags.Unknown) return { kind: "json" };
  if (flags & TypeFlags.Never) return lowering.impossible(use);
  if (flags & ABSENT) return lowering.refuse("SVC136", use, lowering.printType(type));
  if (flags & TypeFlags.Null) return { kind: "null" };
  if (flags & (TypeFlags.ESSymbol | TypeFlags.UniqueESSymbol)) return lowering.refuse("SVC132", use);
  if (flags & TypeFlags.NonPrimitive) return { kind: "json", except: "primitives" };
  if (flags & TypeFlags.String) return { kind: "string" };
  if (flags & TypeFlags.Number) return { kind: "number" };
  if (flags & TypeFlags.Boolean) return { kind: "boolean" };
  if (flags & TypeFlags.BigInt) return { kind: "bigint" };
  if (flags & TypeFlags.BigIntLiteral) return lowering.refuse("SVC138", use, lowering.printType(type));
  const literal = literalOf(lowering, type);
  if (literal !== undefined) {
    return hasJson(literal)
      ? addEnumComment(lowering, { kind: "literal", values: [literal] }, [type], use)
      : lowering.refuse("SVC149", use, lowering.printType(type));
  }
  if (flags & TypeFlags.Union) {
    const { types } = type as ts.UnionType;
    return lowering.define(type, use, (inner) =>
      addEnumComment(lowering, lowerUnion(lowering, types, type, inner), types, inner),
    );
  }
  if (flags & TypeFlags.Enum) return { kind: "number" };
  if (flags & TypeFlags.TemplateLiteral) return lowerTextPattern(lowering, type as ts.TemplateLiteralType, use);
  if (flags & TypeFlags.StringMapping) return lowering.refuse("SVC146", use, lowering.printType(type));
  const resolved = resolveAccess(lowering.checker, type);
  if (resolved !== type) return lowerWithoutUndefined(lowering, resolved, use);
  // TypeScript's type of the `A` after `?` in `A extends object ? A : never`.
  if (flags & TypeFlags.Substitution) return shapeOfType(lowering, (type as ts.SubstitutionType).baseType, use);
  if (flags & TypeFlags.Instantiable) return lowering.refuse("SVC139", use, lowering.printType(type));
  if (flags & TypeFlags.Intersection) return lowerIntersection(lowering, type as ts.IntersectionType, use);
  if (flags & TypeFlags.Object) return lowerObjectType(lowering, type, use);
  return lowering.refuse("SVC144", use, lowering.printType(type));
}

/** Lowers `any`, which is also TypeScript's type of an unknown name. */
function lowerAny(lowering: Lowering, type: ts.Type, use: Use): Shape {
  const isError = (type as { intrinsicName?: string }).intrinsicName === "error";
  lowering.report(isError ? "SVC191" : "SVC190", use);
  return { kind: "json" };
}

function lowerTextPattern(lowering: Lowering, type: ts.TemplateLiteralType, use: Use): Shape {
  const pattern = textPattern(type);
  return pattern === undefined
    ? lowering.refuse("SVC146", use, lowering.printType(type))
    : { kind: "string", pattern: `^${pattern}$` };
}

function lowerIntersection(lowering: Lowering, type: ts.IntersectionType, use: Use): Shape {
  if (lowering.checker.isTypeAssignableTo(type, lowering.checker.getNeverType())) {
    return lowering.impossible(use, lowering.printType(type));
  }
  const simple = type.types.filter((part) => !(part.flags & (TypeFlags.Object | TypeFlags.NonPrimitive)));
  const special = type.types.filter((part) => lowering.predicates.isList(part) || lowering.predicates.isSpecial(part));
  const [base] = [...simple, ...special];
  if (base !== undefined) {
    const others = type.types.filter((part) => part !== base);
    const branded = others.every((part) => lowering.predicates.isBrand(part, base));
    if (simple.length + special.length > 1 || !branded) return lowering.refuse("SVC142", use, lowering.printType(type));
    return lowering.shape(base, { ...use, isPart: true });
  }
  const [name] = type.types.flatMap(
    (part) => lowering.predicates.builtIn(part) ?? lowering.predicates.builtInBase(part) ?? [],
  );
  if (name !== undefined) return lowering.refuse("SVC135", use, `${name} in ${lowering.printType(type)}`);
  return lowering.define(type, use, (inner) =>
    addTypeComment(lowering, lowerStructure(lowering, type, inner), type, inner),
  );
}

function lowerObjectType(lowering: Lowering, type: ts.Type, use: Use): Shape {
  if (lowering.checker.isTupleType(type))
    return lowering.define(type, use, (inner) => lowerTuple(lowering, type as ts.TupleTypeReference, inner));
  if (lowering.checker.isArrayType(type))
    return lowering.define(type, use, (inner) => lowerArray(lowering, type as ts.TypeReference, inner));
  const name = lowering.predicates.builtIn(type);
  if (name !== undefined) return lowerBuiltIn(lowering, name, type, use);
  if (lowering.predicates.isCallable(type)) return lowering.refuse("SVC130", use);
  const element = lowering.predicates.inheritedElement(type);
  if (element !== undefined) return lowering.define(type, use, (inner) => lowerList(lowering, element, inner));
  if (isErrorPathWrapper(type)) return lowerWrapped(lowering, type as ts.TypeReference, use);
  const base = lowering.predicates.builtInBase(type);
  if (base !== undefined) return lowering.refuse("SVC135", use, `${lowering.printType(type)}, which extends ${base}`);
  if (lowering.checker.getPropertyOfType(type, "nexusValue") !== undefined && isFromRuntime(type.getSymbol())) {
    return lowering.refuse(
      "SVC168",
      use,
      `${lowering.printType(type)} does not state the type of the data: write DataRef<T>`,
    );
  }
  if (lowering.predicates.isEmpty(type)) return { kind: "json", except: "null" };
  return lowering.define(type, use, (inner) =>
    addTypeComment(lowering, lowerStructure(lowering, type, inner), type, inner),
  );
}

function lowerWrapped(lowering: Lowering, type: ts.TypeReference, use: Use): Shape {
  const [value] = lowering.checker.getTypeArguments(type);
  if (value === undefined) return lowering.refuse("SVC144", use, lowering.printType(type));
  const item = lowering.shape(value, { ...use, syntax: lowering.syntax.argumentSyntax(use.syntax) });
  return isNever(item) ? item : { kind: "wrapped", item };
}
