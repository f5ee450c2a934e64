/** Lowers arrays and tuples. */

import { isNever, type Shape } from "../../model.js";
import { ts } from "../../project/typescript.js";
import { ABSENT } from "../type-predicates.js";
import { addComment } from "./comments.js";
import type { Lowering, Use } from "./lowering.js";
import { lowerWithoutUndefined } from "./unions.js";

export function lowerArray(lowering: Lowering, type: ts.TypeReference, use: Use): Shape {
  const [element] = lowering.checker.getTypeArguments(type);
  return element === undefined
    ? lowering.refuse("SVC144", use, lowering.printType(type))
    : lowerList(lowering, element, use);
}

export function lowerList(lowering: Lowering, element: ts.Type, use: Use): Shape {
  const item = lowerItem(lowering, element, elementUse(lowering, use));
  return isNever(item) ? { kind: "tuple", items: [], optional: 0, tail: [] } : { kind: "array", item };
}

/** Shape of an element. In a result, `undefined` is written as null. */
function lowerItem(lowering: Lowering, type: ts.Type, use: Use): Shape {
  const parts = type.isUnion() ? type.types : [type];
  const isAbsent = ({ flags }: ts.Type) => (flags & ABSENT) !== 0;
  if (lowering.side === "input" || !parts.some(isAbsent)) return lowering.shape(type, use);
  if (parts.every(isAbsent)) return { kind: "null" };
  const shape = lowerWithoutUndefined(lowering, type, use);
  if (isNever(shape)) return { kind: "null" };
  const branches = shape.kind === "union" && shape.doc === undefined ? shape.branches : [shape];
  return branches.some(({ kind }) => kind === "null")
    ? shape
    : { kind: "union", branches: [...branches, { kind: "null" }] };
}

export function elementUse(lowering: Lowering, use: Use): Use {
  return { ...use, subject: `${use.subject}[]`, syntax: lowering.syntax.argumentSyntax(use.syntax) };
}

export function lowerTuple(lowering: Lowering, type: ts.TupleTypeReference, use: Use): Shape {
  const { elementFlags } = type.target;
  const at = lowering.syntax.unaliased(use.syntax);
  const nodes = at !== undefined && ts.isTupleTypeNode(at.node) ? at.node.elements : undefined;
  const items: Shape[] = [];
  const tail: Shape[] = [];
  let rest: Shape | undefined;
  let optional = 0;
  let never: Shape | undefined;
  lowering.checker.getTypeArguments(type).forEach((element, index) => {
    const flag = elementFlags[index] ?? ts.ElementFlags.Required;
    const node = nodes?.length === elementFlags.length ? elementNode(nodes[index]) : undefined;
    const syntax = node === undefined || at === undefined ? undefined : { node, environment: at.environment };
    const inner: Use = {
      ...use,
      subject: `${use.subject}[${index}]`,
      node: lowering.own(nodes?.[index]) ?? use.node,
      syntax,
    };
    if (flag & ts.ElementFlags.Variadic) lowering.report("SVC139", inner, lowering.printType(type));
    const isOptional = (flag & ts.ElementFlags.Optional) !== 0;
    const bare = isOptional
      ? lowering.refuseImpossible(lowerWithoutUndefined(lowering, element, inner), inner)
      : lowerItem(lowering, element, inner);
    const name = nodes?.length === elementFlags.length ? nodes[index] : undefined;
    const shape =
      name !== undefined && ts.isNamedTupleMember(name)
        ? addComment(lowering, bare, lowering.types.comments.ofNode(name), inner)
        : bare;
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
