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

/** Whether a value may fit several branches of a union, of which some do not declare all of its members. */
export function mayShareValues(branches: readonly Codec[]): boolean {
  const containers = branches.filter(({ kind }) => ["object", "array", "tuple", "ref"].includes(kind));
  return containers.length > 1;
}
