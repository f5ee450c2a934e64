/** Lowers unions, and types without their `undefined`. */

import { quoted } from "../../diagnostics/quote.js";
import { distinctShapes, isNever, type Literal, type Member, type ObjectShape, type Shape } from "../../model.js";
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
  else if (use.author === undefined) reportLostMember(lowering, branches, use);
  return { kind: "union", branches };
}

/** Notes two object types that one value may have, each with a member that the other does not declare. */
function reportLostMember(lowering: Lowering, branches: readonly Shape[], use: Use): void {
  const objects = branches
    .map((branch) => lowering.definitions.resolve(branch))
    .filter((shape): shape is ObjectShape => shape.kind === "object" && !shape.closed && shape.indexes.length === 0);
  for (const [at, one] of objects.entries()) {
    for (const other of objects.slice(at + 1)) {
      const [mine, theirs] = [undeclaredIn(one, other), undeclaredIn(other, one)];
      if (mine === undefined || theirs === undefined || excludes(one, other)) continue;
      if (objects.some((each) => [one, other].every((part) => undeclaredIn(part, each) === undefined))) continue;
      const detail = `a value with ${quoted(mine.name)} and ${quoted(theirs.name)} keeps only one of them`;
      lowering.report(
        "SVC145",
        use,
        detail,
        "declare both members in one type, or a member with a different literal in each",
      );
      return;
    }
  }
}

function undeclaredIn(one: ObjectShape, other: ObjectShape): Member | undefined {
  return one.members.find(({ name }) => other.members.every((each) => each.name !== name));
}

/** Whether no value has both types, because of a member that both declare. */
function excludes(one: ObjectShape, other: ObjectShape): boolean {
  return one.members.some(({ name, optional, shape }) => {
    const same = other.members.find((each) => each.name === name);
    if (same === undefined || (optional && same.optional)) return false;
    if (shape.kind !== "literal" || same.shape.kind !== "literal") {
      return [shape.kind, same.shape.kind].every((kind) => PLAIN.has(kind)) && shape.kind !== same.shape.kind;
    }
    const { values } = same.shape;
    return shape.values.every((value) => !values.includes(value));
  });
}

/** Kinds of shapes without common values. */
const PLAIN: ReadonlySet<Shape["kind"]> = new Set(["string", "number", "boolean", "null", "object", "array"]);

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
