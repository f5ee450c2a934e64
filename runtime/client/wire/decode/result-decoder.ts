/** Decoders of results. They do not check constraints, because a server does not check them in results. */

import type { Codec, Contract } from "../contract.js";
import { type Decode, DecoderCompiler, type Wrap } from "./decoder.js";

export class ResultDecoderCompiler {
  readonly #compiler: DecoderCompiler;

  /** @param wrap creates the value of a `wrapped` codec; by default the inner value */
  constructor(definitions: Contract["definitions"] = [], wrap?: Wrap) {
    const free = definitions.map(([name, codec]) => [freeName(name), withoutConstraints(codec)] as const);
    this.#compiler = new DecoderCompiler([...definitions, ...free], wrap);
  }

  compile(codec: Codec): Decode {
    return this.#compiler.compile(withoutConstraints(codec));
  }
}

/** Name of a definition's variant without constraints. The space avoids collisions: names from svc-gen have none. */
const freeName = (name: string) => `${name} without constraints`;

/** Codec that checks types only. Unions keep their constraints, because the server also chose a branch by them. */
function withoutConstraints(codec: Codec): Codec {
  switch (codec.kind) {
    case "json":
      return { kind: "json" };
    case "string":
      return { kind: "string" };
    case "number":
      return { kind: "number", ...(codec.integer && { integer: true }) };
    case "bigint":
      return { kind: "bigint", ...(codec.format !== undefined && { format: codec.format }) };
    case "array":
    case "wrapped":
      return { kind: codec.kind, item: withoutConstraints(codec.item) };
    case "tuple": {
      const { items, optional, rest, tail } = codec;
      return {
        kind: "tuple",
        items: items.map(withoutConstraints),
        ...(optional !== undefined && { optional }),
        ...(rest !== undefined && { rest: withoutConstraints(rest) }),
        ...(tail !== undefined && { tail: tail.map(withoutConstraints) }),
      };
    }
    case "object": {
      const { members, patterns, rest } = codec;
      return {
        kind: "object",
        members: members.map((member) => ({ ...member, codec: withoutConstraints(member.codec) })),
        ...(patterns !== undefined && {
          patterns: patterns.map(([name, each]) => [name, withoutConstraints(each)] as const),
        }),
        ...(rest !== undefined && { rest: withoutConstraints(rest) }),
      };
    }
    case "ref":
      return { kind: "ref", name: freeName(codec.name) };
    default:
      return codec;
  }
}
