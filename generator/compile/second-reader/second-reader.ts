/**
 * Second reading of each tool, for `svc-gen --check` and the tests: typescript-json-schema reads the same types, and the
 * two schemas are compared.
 */

import { TooLarge } from "../../contract/inclusion/schema-node.js";
import { type JsonObject, printJson } from "../../text/json.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import type { Schemas } from "../emit/schema.js";
import { SchemaJudge } from "../emit/schema-judge.js";
import type { Tool } from "../model.js";
import type { Program } from "../project/program.js";
import type { ts } from "../project/typescript.js";
import type { ToolClass } from "../types/tool-classes.js";
import { compareReadings, type Disagreement } from "./compare.js";
import { NotCompared, openLibrary, type ReadType } from "./library-reader.js";

/** Input or output of a tool, with svc-gen's schemas. */
interface Side {
  readonly subject: string;
  readonly type: ts.Type;
  /** Object types that are an input or a payload. */
  readonly plain: readonly ts.Type[];
  readonly variants: boolean;
  readonly published: JsonObject;
  /** The published schema without the keywords of JSDoc tags. */
  readonly bare: JsonObject;
}

/** Maximum number of disagreements that are reported for one type. */
const MAX_REPORTED = 5;

export class SecondReader {
  readonly #judge = new SchemaJudge();
  #library: { readonly program: Program; readonly read: ReadType } | undefined;
  /** Schemas that were compiled; tools often share an output. */
  readonly #compiled = new Set<string>();

  /** Number of types that were compared. */
  compared = 0;

  /** Diagnostics of one tool: schemas that ajv rejects, disagreements, and types that cannot be compared. */
  review(program: Program, found: ToolClass, tool: Tool, schemas: Schemas): readonly Diagnostic[] {
    return sidesOf(program, found, tool, schemas).flatMap((side) => {
      const { node } = side.variants ? found.output : found.input;
      const place = program.at(node);
      const refusal = this.#refusal(side.published);
      if (refusal !== undefined) return [diagnostic("SVC181", { place, subject: side.subject }, refusal)];
      const disagreements = this.#compare(program, side);
      if (disagreements === undefined) return [diagnostic("SVC182", { place, subject: side.subject })];
      return disagreements.slice(0, MAX_REPORTED).map(({ subject, ours, library }) => {
        return diagnostic("SVC180", { place, subject }, `svc-gen: ${ours}; typescript-json-schema: ${library}`);
      });
    });
  }

  /** Why ajv does not compile a schema in strict mode; undefined if it does. */
  #refusal(schema: JsonObject): string | undefined {
    const text = printJson(schema);
    if (this.#compiled.has(text)) return undefined;
    this.#compiled.add(text);
    try {
      this.#judge.compile(schema);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Undefined for a type that is too large to compare, or too deep for the stack of a reader. */
  #compare(program: Program, { subject, type, plain, bare, variants }: Side): readonly Disagreement[] | undefined {
    if (this.#library?.program !== program) this.#library = { program, read: openLibrary(program) };
    try {
      const disagreements = compareReadings(bare, this.#library.read(type, plain), subject, variants);
      this.compared++;
      return disagreements;
    } catch (error) {
      if (error instanceof RangeError || error instanceof TooLarge) return undefined;
      if (error instanceof NotCompared) return [];
      return [{ subject, ours: "a schema", library: `fails: ${(error as Error).message}` }];
    }
  }
}

/** The input and the output of a tool, each with its type and its schemas. */
function sidesOf(
  { checker }: Program,
  { name, input, output }: ToolClass,
  tool: Tool,
  schemas: Schemas,
): readonly Side[] {
  const bare = withoutTags(tool);
  const variants = output.type.isUnion() ? output.type.types : [output.type];
  const payloads = variants.flatMap((variant) =>
    checker.getPropertiesOfType(variant).map((tag) => checker.getTypeOfSymbol(tag)),
  );
  const side = (schemaOf: (tool: Tool) => JsonObject) => ({
    published: schemaOf(tool),
    bare: schemaOf(bare),
  });
  return [
    {
      subject: `${name}.Input`,
      type: input.type,
      plain: [input.type],
      variants: false,
      ...side((each) => schemas.input(each)),
    },
    {
      subject: `${name}.Output`,
      type: output.type,
      plain: payloads,
      variants: true,
      ...side((each) => schemas.output(each)),
    },
  ];
}

/** The model without the content of JSDoc tags. */
function withoutTags(tool: Tool): Tool {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (value === null || typeof value !== "object") return value;
    const { kind } = value as { readonly kind?: unknown };
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, each]) => {
        // `integer` and `format` are set by `@asType integer` of a number and `@format` of a bigint.
        const isTag =
          name === "doc" ||
          (kind === "number" && name === "integer") ||
          (kind === "bigint" && name === "format") ||
          (kind === "object" && name === "closed" && each === "tag");
        return isTag ? [] : [[name, strip(each)]];
      }),
    );
  };
  const { input, output, definitions } = tool;
  return { ...tool, ...(strip({ input, output, definitions }) as Pick<Tool, "input" | "output" | "definitions">) };
}
