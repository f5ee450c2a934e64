import type { Shape } from "../../model.js";
import type { ts } from "../../project/typescript.js";
import { isDataReference, unionConstituents } from "../type-predicates.js";
import { lowerSources } from "./comments.js";
import { elementUse } from "./lists.js";
import type { Lowering, Use } from "./lowering.js";
import { lowerWithoutUndefined } from "./unions.js";

/** Shape of the data that an output port refers to, as a `DataRef` or a list of them; undefined for any other type. */
export function lowerDataRef(
  lowering: Lowering,
  type: ts.Type,
  use: Use,
): { readonly by: "value" | "items"; readonly shape: Shape } | undefined {
  if (lowering.syntax.containsDataRef(type, use.syntax))
    return { by: "value", shape: dataRefContent(lowering, type, use) };
  const [list, ...more] = unionConstituents(type);
  if (list === undefined || more.length > 0 || !lowering.checker.isArrayType(list)) return undefined;
  const [element] = lowering.checker.getTypeArguments(list as ts.TypeReference);
  const item = elementUse(lowering, use);
  if (element === undefined || !lowering.syntax.containsDataRef(element, item.syntax)) return undefined;
  // The type is a union of the list and `undefined`.
  if (list !== type) {
    const detail = "an optional list is sent as one value: write DataRef<T[]>, or remove the question mark";
    return { by: "value", shape: lowering.refuse("SVC168", use, detail) };
  }
  return { by: "items", shape: { kind: "array", item: dataRefContent(lowering, element, item) } };
}

/** Lowers the `T` of a `DataRef<T>`. The `DataRef` may be in a union with `undefined`, but with no other type. */
function dataRefContent(lowering: Lowering, type: ts.Type, use: Use): Shape {
  const parts = unionConstituents(type);
  const [reference, ...more] = parts.filter(isDataReference);
  const [argument] = reference === undefined ? [type] : lowering.checker.getTypeArguments(reference);
  const beside = parts.filter((part) => part !== reference);
  const wanted = unionConstituents(argument ?? type);
  const exact =
    beside.length === 0 || (beside.length === wanted.length && beside.every((part) => wanted.includes(part)));
  if (argument === undefined || more.length > 0 || !exact) {
    return lowering.refuse("SVC168", use, "it is in a union with another type: write DataRef<A | B>");
  }
  return lowerSources(lowering, type, use, () =>
    lowerWithoutUndefined(lowering, argument, { ...use, syntax: lowering.syntax.dataRefArgument(use.syntax) }),
  );
}
