/** Discriminated unions: each object branch has another literal in one member, so only one branch is tried. */

import type { Codec, CodecOf } from "../contract.js";
import type { ResolveDefinition } from "../definitions.js";
import { literalMismatch, type Mismatch } from "../mismatch.js";

/** Member whose literal identifies the object branch of a union. */
export interface Discriminator<Branch> {
  readonly name: string;
  /** Branches by literal. */
  readonly branches: ReadonlyMap<unknown, Branch>;
  /**
   * Branches to try for a value that is not an object. Includes one object branch, whose mismatch describes objects.
   */
  readonly others: readonly Branch[];
  /** Creates the mismatch of a discriminator with an unknown value, from the kind of that value. */
  readonly mismatch: (kind: string) => Mismatch;
}

/**
 * Finds a required literal member that all object branches have, with different values in each.
 *
 * @param compiled the branches in the same order
 * @returns undefined unless at least two branches are objects and no other branch accepts an object
 */
export function discriminatorOf<Branch>(
  branches: readonly Codec[],
  resolve: ResolveDefinition,
  compiled: readonly Branch[],
): Discriminator<Branch> | undefined {
  const known = branches.map((branch) => resolved(branch, resolve));
  if (known.some((codec) => codec === undefined || NOT_TOLD_APART.has(codec.kind))) return undefined;
  const objects = known.flatMap((codec, at) =>
    codec?.kind === "object" ? [{ codec, branch: compiled[at] as Branch }] : [],
  );
  const [first, second] = objects;
  if (first === undefined || second === undefined) return undefined;
  for (const name of literals(first.codec).keys()) {
    const all = objects.flatMap(({ codec, branch }) =>
      (literals(codec).get(name) ?? []).map((value) => [value, branch] as const),
    );
    const found = new Map(all);
    if (found.size < all.length || objects.some(({ codec }) => !literals(codec).has(name))) continue;
    const others = compiled.filter((branch, at) => branch === first.branch || known[at]?.kind !== "object");
    return { name, branches: found, others, mismatch: literalMismatch([...found.keys()]) };
  }
  return undefined;
}

/** Codecs that may accept an object whose members are unknown here. */
const NOT_TOLD_APART: ReadonlySet<Codec["kind"]> = new Set(["json", "union", "wrapped"]);

/** Literal values of an object's required members, by name. */
function literals({ members }: CodecOf<"object">): ReadonlyMap<string, readonly unknown[]> {
  return new Map(
    members.flatMap(({ name, optional, codec }) =>
      codec.kind === "literal" && !optional ? [[name, codec.values]] : [],
    ),
  );
}

/** Codec after following references; undefined if it refers to itself. */
function resolved(codec: Codec, resolve: ResolveDefinition): Codec | undefined {
  const seen = new Set<Codec>();
  let at: Codec | undefined = codec;
  while (at?.kind === "ref" && !seen.has(at)) {
    seen.add(at);
    at = resolve(at.name);
  }
  return at !== undefined && seen.has(at) ? undefined : at;
}
