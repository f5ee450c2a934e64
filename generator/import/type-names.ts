/** Names of the types in an imported file: identifiers, each once, none that the file uses for something else. */

/** What the file imports, declares or uses of the language, and what no type may be called. */
const RESERVED: ReadonlySet<string> = new Set([
  ...["Input", "Output", "SvcTool", "StatusCode", "errEval", "DataRef", "NonNullable", "Date", "Promise", "Uint8Array"],
  ...["any", "bigint", "boolean", "never", "null", "number", "object", "string", "symbol", "undefined", "unknown"],
  ...["void", "globalThis", "__proto__"],
  ...["arguments", "async", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default"],
  ...["delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if"],
  ...["implements", "import", "in", "instanceof", "interface", "let", "new", "package", "private", "protected"],
  ...["public", "return", "static", "super", "switch", "this", "throw", "true", "try", "type", "typeof", "var"],
  ...["while", "with", "yield", "infer", "keyof", "readonly", "unique", "asserts", "is", "as", "satisfies"],
]);
const MAX_LENGTH = 120;

export class TypeNames {
  readonly #taken: Set<string>;
  /** The latest number behind a name that is wanted repeatedly. */
  readonly #counts = new Map<string, number>();
  readonly #kept: ReadonlySet<string>;

  /**
   * @param className of the tool, which no type of the file may have
   * @param definitions names that are kept for the definitions of the schemas
   */
  constructor(className: string, definitions: readonly string[]) {
    this.#kept = new Set(definitions);
    this.#taken = new Set([className]);
  }

  /** A new name for a definition near the wanted one: the same when it is an identifier that is free. */
  definition(wanted: string): string {
    return this.#free(wanted, () => false);
  }

  /** A new name for a type that the schemas do not name. */
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

/** The words of a path in a schema as the name of a type: `lines[].unit-price` is `LinesItemUnitPrice`. */
export function nameFromPath(path: readonly string[]): string {
  return path
    .slice(-3)
    .flatMap((part) => part.split(/[^A-Za-z0-9]+/))
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
