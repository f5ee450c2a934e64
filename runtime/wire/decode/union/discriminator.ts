/** Unions whose object branches are told apart by the literal of one member, so that one branch alone is tried. */

import type { Codec } from "../../contract.js";
import { literalMismatch, type Mismatch } from "../mismatch.js";

type ObjectCodec = Extract<Codec, { readonly kind: "object" }>;

/** The member that tells the object branches of a union apart. */
export interface Discriminator<Branch> {
  readonly name: string;
  /** The branch of each literal. */
  readonly branches: ReadonlyMap<unknown, Branch>;
  /** One of the objects, and the branches that take no object: for every value that is none. */
  readonly others: readonly Branch[];
  /** The mismatch of a member with another value, by the kind of that value. */
  readonly mismatch: (kind: string) => Mismatch;
}

/**
 * Finds a required literal member that all object branches have, with other values in each.
 *
 * @param resolve the codec of a definition
 * @param compiled the branches in the same order
 * @returns undefined unless at least two branches are objects, and no other branch takes an object
 */
export function discriminatorOf<Branch>(
  branches: readonly Codec[],
  resolve: (name: string) => Codec | undefined,
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

/** Kinds that may take an object, without members that are known here. */
const NOT_TOLD_APART: ReadonlySet<Codec["kind"]> = new Set(["json", "union", "wrapped"]);

/** The values of the required literal members of an object. */
function literals({ members }: ObjectCodec): ReadonlyMap<string, readonly unknown[]> {
  return new Map(
    members.flatMap(({ name, optional, codec }) =>
      codec.kind === "literal" && !optional ? [[name, codec.values]] : [],
    ),
  );
}

/** The codec behind references; undefined for one that refers to itself. A wrapper has no members of its own. */
function resolved(codec: Codec, resolve: (name: string) => Codec | undefined): Codec | undefined {
  const seen = new Set<Codec>();
  let at: Codec | undefined = codec;
  while (at?.kind === "ref" && !seen.has(at)) {
    seen.add(at);
    at = resolve(at.name);
  }
  return at !== undefined && seen.has(at) ? undefined : at;
}
