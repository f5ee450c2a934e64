import type { Shape } from "../../model.js";
import type { ts } from "../../project/typescript.js";
import type { Lowering, Use } from "./lowering.js";

/** Lowers a class of JavaScript or Node, by its name. All but `Date` and `Uint8Array` have no JSON form. */
export function lowerBuiltIn(lowering: Lowering, name: string, type: ts.Type, use: Use): Shape {
  if (name === "Date") return { kind: "date" };
  if (name === "Uint8Array") return { kind: "bytes" };
  if (/^(?:Readonly|Weak)?(?:Map|Set)$/.test(name)) return lowering.refuse("SVC134", use, lowering.printType(type));
  if (name === "Promise" || name === "PromiseLike") return lowering.refuse("SVC143", use, lowering.printType(type));
  if (name === "Function" || name === "CallableFunction" || name === "NewableFunction")
    return lowering.refuse("SVC130", use);
  if (name === "Buffer") {
    lowering.report("SVC135", use, "Buffer", "use Uint8Array, the base class of Buffer");
    return { kind: "json" };
  }
  const primitive = PRIMITIVES.get(name);
  return lowering.refuse("SVC135", use, primitive === undefined ? name : `${name} is a class; write ${primitive}`);
}

/** Types to write in place of JavaScript's wrapper classes. */
const PRIMITIVES: ReadonlyMap<string, string> = new Map([
  ...["String", "Number", "Boolean", "BigInt"].map((name) => [name, name.toLowerCase()] as const),
  ["Object", "an interface, or Record<string, unknown>"],
]);
