/**
 * Second reading of each tool, for `svc-gen --check` and the tests: typescript-json-schema reads the same types, the
 * two schemas are compared, and ajv validates sample values against both.
 */

import { createRequire } from "node:module";
import type { Ajv } from "ajv";
import { type JsonObject, printJson } from "../../text/json.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import type { Schemas } from "../emit/schema.js";
import { compileApart, SchemaJudge } from "../emit/schema-judge.js";
import { ANNOTATIONS } from "../keywords.js";
import type { Doc, Tool } from "../model.js";
import type { Program } from "../project/program.js";
import type { ts } from "../project/typescript.js";
import type { ToolClass } from "../types/tool-classes.js";
import { compareReadings, type Disagreement } from "./compare.js";
import type { DifferenceName } from "./differences.js";
import { openLibrary, type ReadType } from "./library-reader.js";
import { neighboursOf } from "./samples.js";

/** Result for one type: an input or an output. */
export interface SecondReading {
  readonly subject: string;
  /** Known differences that were found. */
  readonly listed: ReadonlySet<DifferenceName>;
  readonly disagreements: readonly Disagreement[];
  /** Number of values that ajv validated against both schemas. */
  readonly judged: number;
}

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
  /** Whether a tag constrains the values. */
  readonly constrained: boolean;
}

/** Maximum number of disagreements that are reported for one type. */
const MAX_REPORTED = 5;

export class SecondReader {
  readonly #judge = new SchemaJudge();
  readonly #values = new ValueJudge();
  readonly #report: (reading: SecondReading) => void;
  #library: { readonly program: Program; readonly read: ReadType } | undefined;
  /** Schemas that were compiled; tools often share an output. */
  readonly #compiled = new Set<string>();

  /** @param report called with the result for each type */
  constructor(report: (reading: SecondReading) => void = () => {}) {
    this.#report = report;
  }

  /** Diagnostics of one tool: schemas that ajv rejects, disagreements, and types that cannot be compared. */
  review(program: Program, found: ToolClass, tool: Tool, schemas: Schemas): readonly Diagnostic[] {
    return sidesOf(program, found, tool, schemas).flatMap((side) => {
      const { node } = side.variants ? found.output : found.input;
      const place = program.at(node);
      const refusal = this.#refusal(side.published);
      if (refusal !== undefined) return [diagnostic("SVC181", { place, subject: side.subject }, refusal)];
      const reading = this.#compare(program, side);
      if (reading === undefined) return [diagnostic("SVC182", { place, subject: side.subject })];
      this.#report(reading);
      return reading.disagreements.slice(0, MAX_REPORTED).map(({ subject, ours, library }) => {
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

  /** Undefined for a type that is too deep for the stack of a reader. */
  #compare(program: Program, side: Side): SecondReading | undefined {
    const { subject, type, plain, bare, variants } = side;
    if (this.#library?.program !== program) this.#library = { program, read: openLibrary(program) };
    try {
      const { schema, corrected } = this.#library.read(type, plain);
      const { disagreements, excused } = compareReadings(bare, schema, subject, variants);
      const listed = new Set<DifferenceName>([...corrected, ...excused]);
      if (side.constrained) listed.add("tags");
      if (disagreements.length > 0) return { subject, listed, disagreements, judged: 0 };
      return { subject, listed, ...this.#values.judge(side, schema) };
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      const problem = `fails: ${(error as Error).message}`;
      return {
        subject,
        listed: new Set(),
        disagreements: [{ subject, ours: "a schema", library: problem }],
        judged: 0,
      };
    }
  }
}

/** Validates values against the schemas of both readers. */
class ValueJudge {
  readonly #draft7: Ajv;
  readonly #draft2020: Ajv;
  readonly #judged = new Set<string>();

  constructor() {
    const require = createRequire(import.meta.url);
    const { Ajv } = require("ajv") as typeof import("ajv");
    const { Ajv2020 } = require("ajv/dist/2020") as typeof import("ajv/dist/2020.js");
    const { fullFormats } = require("ajv-formats/dist/formats") as typeof import("ajv-formats/dist/formats.js");
    // Each compiled schema validates a few hundred values; optimised code and error messages would cost more time than
    // they save.
    const speed = { validateSchema: false, messages: false, inlineRefs: false, code: { optimize: false } } as const;
    const options = { strict: false, ownProperties: true, logger: false, ...speed } as const;
    [this.#draft7, this.#draft2020] = [new Ajv(options), new Ajv2020(options)];
    for (const ajv of [this.#draft7, this.#draft2020]) {
      // `compareReadings` compares patterns as text. The sample values need not match them.
      ajv.addFormat("date-time", fullFormats["date-time"]).removeKeyword("pattern");
    }
  }

  judge(
    { subject, published, bare, variants, constrained }: Side,
    library: JsonObject,
  ): Pick<SecondReading, "disagreements" | "judged"> {
    const texts = [published, bare, library].map(printJson);
    const key = texts.join("\n");
    if (this.#judged.has(key)) return { disagreements: [], judged: 0 };
    this.#judged.add(key);
    const ours = compile(this.#draft2020, bare);
    const theirs = compile(this.#draft7, library);
    const tagged = constrained ? compile(this.#draft2020, published) : ours;
    const values = neighboursOf(bare, variants);
    // Tags narrow a type, so a value that fits with tags must also fit without them.
    const wrong = values.find((value) => ours(value) !== theirs(value) || (tagged(value) && !ours(value)));
    const judged = values.length;
    if (wrong === undefined) return { disagreements: [], judged };
    const [takes, refuses] = ["accepts", "refuses"].map((verb) => `a schema that ${verb} ${JSON.stringify(wrong)}`);
    const [one, other] = theirs(wrong) ? [refuses, takes] : [takes, refuses];
    return { disagreements: [{ subject, ours: one as string, library: other as string }], judged };
  }
}

function compile(ajv: Ajv, schema: JsonObject): (value: unknown) => boolean {
  const validate = compileApart(ajv, schema);
  return (value) => validate(value) === true;
}

function sidesOf(
  { checker }: Program,
  { name, input, output }: ToolClass,
  tool: Tool,
  schemas: Schemas,
): readonly Side[] {
  const [bare, constrained] = [withoutTags(tool), withoutTags(tool, isConstraint)];
  const variants = output.type.isUnion() ? output.type.types : [output.type];
  const payloads = variants.flatMap((variant) =>
    checker.getPropertiesOfType(variant).map((tag) => checker.getTypeOfSymbol(tag)),
  );
  const side = (schemaOf: (tool: Tool) => JsonObject) => ({
    published: schemaOf(tool),
    bare: schemaOf(bare),
    constrained: printJson(schemaOf(constrained)) !== printJson(schemaOf(bare)),
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

const isConstraint = (keyword: string) => !ANNOTATIONS.includes(keyword);

/** The model without the content of JSDoc tags, except the given keywords. */
function withoutTags(tool: Tool, isKept: (keyword: string) => boolean = () => false): Tool {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (value === null || typeof value !== "object") return value;
    const { kind } = value as { readonly kind?: unknown };
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, each]) => {
        if (name === "doc")
          return [["doc", { keywords: (each as Doc).keywords.filter(([keyword]) => isKept(keyword)) }]];
        // Set by `@asType integer` of a number and `@format` of a bigint.
        const isTag = (kind === "number" && name === "integer") || (kind === "bigint" && name === "format");
        return isTag && !isKept("format") ? [] : [[name, strip(each)]];
      }),
    );
  };
  const { input, output, definitions } = tool;
  return { ...tool, ...(strip({ input, output, definitions }) as Pick<Tool, "input" | "output" | "definitions">) };
}
