/** Compiles each definition of a contract once, and caches its results for the values of one document. */

import type { Codec, Contract } from "./contract.js";
import { Mismatch } from "./mismatch.js";
import type { Tally } from "./union/union-choice.js";

/** Compiled definition. `compiled` is set before the definition is used. */
interface CompiledDefinition<Compiled> {
  readonly id: number;
  compiled: Compiled;
}

/** Returns the codec of a definition; undefined if the contract has no such definition. */
export type ResolveDefinition = (name: string) => Codec | undefined;

/** Compiles the definitions of a contract at their first reference. */
export class Definitions<Compiled> {
  readonly #codecs: ReadonlyMap<string, Codec>;
  readonly #known = new Map<string, CompiledDefinition<Compiled>>();

  constructor(definitions: NonNullable<Contract["definitions"]>) {
    this.#codecs = new Map(definitions);
  }

  readonly codecOf: ResolveDefinition = (name) => this.#codecs.get(name);

  /**
   * Compiled definition of this name; compiles it at the first reference.
   *
   * @param form name of the compiled form, if `compile` has several
   * @throws RangeError if the contract has no such definition
   */
  get(name: string, compile: (codec: Codec) => Compiled, form = ""): Readonly<CompiledDefinition<Compiled>> {
    const codec = this.#codecs.get(name);
    if (codec === undefined) {
      throw new RangeError(`contract: a codec refers to the definition ${JSON.stringify(name)}, which does not exist`);
    }
    const key = `${form} ${name}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // Registered before compilation, because the definition may refer to itself.
    const definition = { id: this.#known.size, compiled: undefined as Compiled };
    this.#known.set(key, definition);
    definition.compiled = compile(codec);
    return definition;
  }
}

/** Result of a definition for one value, and the number of undeclared members in that value. */
interface Made {
  readonly result: unknown;
  readonly undeclaredCount: number;
}

/** Caches the results of definitions: several branches of a union may apply one definition to the same value. */
export class DefinitionMemo implements Tally {
  undeclaredCount = 0;
  /** Whether a number of type `unknown` is an integer beyond ±(2^53−1) and may therefore have lost precision. */
  rounded = false;
  #made: Map<number, Map<unknown, Made>> | undefined;

  /**
   * Returns the result for a value; calls `make` only the first time. Adds the value's undeclared members to the count
   * each time. Does not cache mismatches of literals, which are cheap to compute and may be numerous.
   *
   * @param id identifies the definition and everything else, except the value, that the result depends on
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
