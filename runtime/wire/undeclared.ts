/** Members that a type does not declare by name: what index signatures make of them, and when unions look at them. */

import type { Codec } from "./contract.js";

/**
 * Compiles the index signatures of an object.
 *
 * @returns what stands for a name, undefined for a name that no index signature takes; undefined when there is none at all
 */
export function compileIndexes<T>(
  { patterns, rest }: Extract<Codec, { kind: "object" }>,
  compile: (codec: Codec) => T,
): ((name: string) => T | undefined) | undefined {
  const other = rest === undefined ? undefined : compile(rest);
  if (patterns === undefined) return other && (() => other);
  const named = patterns.map(([pattern, codec]) => [new RegExp(pattern, "u"), compile(codec)] as const);
  return (name) => named.find(([pattern]) => pattern.test(name))?.[1] ?? other;
}

/** What may hold members, and `json`, which leaves none out. */
const HOLDING: ReadonlySet<Codec["kind"]> = new Set(["json", "object", "array", "tuple", "ref"]);

/** Whether a value may fit several branches of a union, of which some do not declare all of its members. */
export function mayShareValues(branches: readonly Codec[]): boolean {
  return branches.flatMap(alternatives).filter(({ kind }) => HOLDING.has(kind)).length > 1;
}

/** A codec, or the branches of one that is a union itself. */
function alternatives(codec: Codec): readonly Codec[] {
  return codec.kind === "union" ? codec.branches.flatMap(alternatives) : [codec];
}
