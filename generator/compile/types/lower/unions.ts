import { distinctShapes, isNever, type Literal, type Shape } from "../../model.js";
import { ts } from "../../project/typescript.js";
import { ABSENT } from "../type-predicates.js";
import { addEnumComment, lowerSources } from "./comments.js";
import type { Lowering, Use } from "./lowering.js";

const { TypeFlags } = ts;

export function literalOf(lowering: Lowering, type: ts.Type): Literal | undefined {
  if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
  if (type.flags & TypeFlags.BooleanLiteral) {
    return (type as ts.FreshableType).regularType === lowering.checker.getTrueType();
  }
  return undefined;
}

/** Lowers a union. Reports `undefined` in it; for an optional member, the caller removes `undefined` first. */
export function lowerUnion(lowering: Lowering, types: readonly ts.Type[], whole: ts.Type | undefined, use: Use): Shape {
  if (lowering.tooDeep) return { kind: "json" };
  const rest = types.filter((part) => !(part.flags & ABSENT));
  if (whole !== undefined && rest.length < types.length)
    return lowering.refuse("SVC136", use, lowering.printType(whole));
  const ordered = lowering.order.unionOrder(rest, use.written ?? use.syntax);
  const booleans = ordered.filter((part) => part.flags & TypeFlags.BooleanLiteral).length === 2;
  const branches: Shape[] = [];
  const values: Literal[] = [];
  let never: Shape | undefined;
  for (const part of ordered) {
    const literal = literalOf(lowering, part);
    if (booleans && part.flags & TypeFlags.BooleanLiteral) {
      if (!branches.some(({ kind }) => kind === "boolean")) branches.push({ kind: "boolean" });
    } else if (
      literal !== undefined ||
      (part.flags & TypeFlags.Null && branches.every(({ kind }) => kind === "literal"))
    ) {
      if (!hasJson(literal ?? null)) lowering.report("SVC149", use, lowering.printType(part));
      if (values.length === 0) branches.push({ kind: "literal", values });
      values.push(literal ?? null);
    } else {
      const branch = lowering.shape(part, { ...use, isPart: true });
      if (isNever(branch)) never ??= branch;
      else branches.push(...(branch.kind === "union" && branch.doc === undefined ? branch.branches : [branch]));
    }
  }
  return branches.length === 0 ? (never ?? lowering.impossible(use)) : unionOf(lowering, distinctShapes(branches), use);
}

function unionOf(lowering: Lowering, found: readonly Shape[], use: Use): Shape {
  // A literal branch that contains only `null` becomes the shape `null`.
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
  if (alike) lowering.report("SVC145", use);
  return { kind: "union", branches };
}

export function lowerWithoutUndefined(lowering: Lowering, type: ts.Type, use: Use): Shape {
  if (!type.isUnion()) return lowering.shape(type, use);
  const rest = type.types.filter((part) => !(part.flags & ABSENT));
  const [only] = rest;
  if (rest.length === type.types.length) return lowering.shape(type, use);
  if (rest.length === 1 && only !== undefined) return lowering.shape(only, use);
  if (lowering.syntax.containsDataRef(type, use.syntax)) return lowering.refuseDataRef(use);
  return lowerSources(lowering, type, use, (inner) =>
    addEnumComment(lowering, lowerUnion(lowering, rest, undefined, { ...inner, depth: use.depth + 1 }), rest, use),
  );
}

export function hasJson(value: Literal): boolean {
  return typeof value === "number" ? Number.isFinite(value) : typeof value !== "string" || value.isWellFormed();
}
