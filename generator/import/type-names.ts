/** Names of the types in an imported file: unique identifiers that the file does not use otherwise. */

import { RESERVED_WORDS } from "../compile/emit/reserved-words.js";
import { joinedWords } from "../text/class-names.js";

/** Names that the file imports, declares or uses, and names that TypeScript reserves. */
const RESERVED: ReadonlySet<string> = new Set([
  ...["Input", "Output", "SvcTool", "StatusCode", "errEval", "NonNullable", "Date", "Promise", "Uint8Array"],
  ...[
    "any",
    "bigint",
    "boolean",
    "never",
    "number",
    "object",
    "string",
    "symbol",
    "unknown",
    "globalThis",
    "__proto__",
  ],
  ...["async", "type", "infer", "keyof", "readonly", "unique", "asserts", "is", "as", "satisfies"],
  ...RESERVED_WORDS,
]);
const MAX_LENGTH = 120;

export class TypeNames {
  readonly #taken: Set<string>;
  /** The last number appended to each name. */
  readonly #counts = new Map<string, number>();
  readonly #kept: ReadonlySet<string>;

  /**
   * @param className name of the tool class, which is reserved
   * @param definitions names reserved for the definitions of the schemas
   */
  constructor(className: string, definitions: readonly string[]) {
    this.#kept = new Set(definitions);
    this.#taken = new Set([className]);
  }

  /** A unique name for a definition, equal to the wanted one if that is a free identifier. */
  definition(wanted: string): string {
    return this.#free(wanted, () => false);
  }

  /** New name for a type that has no name in the schemas. */
  next(wanted: string): string {
    return this.#free(wanted, (name) => this.#kept.has(name));
  }

  #free(wanted: string, isKept: (name: string) => boolean): string {
    const cut = wanted
      .replace(/[^A-Za-z0-9_]+/g, "_")
      .replace(/^_+|_+$/g, "")
      .slice(0, MAX_LENGTH);
    const clean = /^[A-Za-z]/.test(cut) ? cut : `Type${cut}`;
    const base = RESERVED.has(clean) ? `${clean}Type` : clean;
    const isTaken = (name: string) => RESERVED.has(name) || this.#taken.has(name) || isKept(name);
    let count = this.#counts.get(base) ?? 1;
    let name = count === 1 ? base : `${base}${count}`;
    while (isTaken(name)) name = `${base}${++count}`;
    this.#counts.set(base, count);
    this.#taken.add(name);
    return name;
  }
}

/** A type name from a path in a schema: `LinesItemUnitPrice` for `lines[].unit-price`. */
export function nameFromPath(path: readonly string[]): string {
  return joinedWords(path.slice(-3).join(" "));
}
