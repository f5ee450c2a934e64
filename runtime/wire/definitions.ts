/** The definitions of a contract, each compiled once, and a cache of their results for the values of one document. */

import type { Codec, Contract } from "./contract.js";
import { Mismatch } from "./decode/mismatch.js";
import type { Tally } from "./decode/union/union-choice.js";

/** A compiled definition. `compiled` is set before any value is read or written. */
interface CompiledDefinition<Compiled> {
  readonly id: number;
  compiled: Compiled;
}

/** Compiles the definitions of a contract at their first reference. */
export class Definitions<Compiled> {
  readonly #codecs: ReadonlyMap<string, Codec>;
  readonly #known = new Map<string, CompiledDefinition<Compiled>>();

  constructor(definitions: NonNullable<Contract["definitions"]>) {
    this.#codecs = new Map(definitions);
  }

  /** The codec of a definition; undefined when the contract has none. */
  readonly codecOf = (name: string): Codec | undefined => this.#codecs.get(name);

  /**
   * The definition that a codec refers to.
   *
   * @param form the name of the compiled form, where `compile` has several
   * @throws RangeError when the contract has no such definition
   */
  get(name: string, compile: (codec: Codec) => Compiled, form = ""): Readonly<CompiledDefinition<Compiled>> {
    const codec = this.#codecs.get(name);
    if (codec === undefined) {
      throw new RangeError(`contract: a codec refers to ${JSON.stringify(name)}, which it lacks`);
    }
    const key = `${form} ${name}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // Registered before it is compiled, because the definition may be recursive.
    const definition = { id: this.#known.size, compiled: undefined as Compiled };
    this.#known.set(key, definition);
    definition.compiled = compile(codec);
    return definition;
  }
}

/** The result of a definition for one value, and the number of undeclared members in that value. */
interface Made {
  readonly result: unknown;
  readonly undeclaredCount: number;
}

/** Caches the results of definitions, because several branches of a union may try one definition on the same value. */
export class DefinitionMemo implements Tally {
  undeclaredCount = 0;
  /** Whether a number of type `unknown` is an integer beyond ±(2^53−1), so that it may have been rounded. */
  rounded = false;
  #made: Map<number, Map<unknown, Made>> | undefined;

  /**
   * Returns the result for a value, computed by `make` at the first call. Each call adds the undeclared members of the
   * value to the count. Mismatches of literals are not cached: they are cheap to recompute, and a body may have millions.
   *
   * @param id identifies the definition and all else that the result depends on, except the value
   */
  once<T>(id: number, value: unknown, make: () => T | Mismatch): T | Mismatch {
    this.#made ??= new Map();
    let known = this.#made.get(id);
    if (known === undefined) {
      known = new Map();
      this.#made.set(id, known);
    }
    const before = this.undeclaredCount;
    let made = known.get(value);
    if (made === undefined) {
      const result = make();
      if (result instanceof Mismatch && result.isOtherBranch) return result;
      made = { result, undeclaredCount: this.undeclaredCount - before };
      known.set(value, made);
    }
    this.undeclaredCount = before + made.undeclaredCount;
    return made.result instanceof Mismatch ? made.result.copy() : (made.result as T);
  }
}
