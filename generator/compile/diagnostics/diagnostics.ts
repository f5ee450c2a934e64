/**
 * The table of diagnostics and their layout on a terminal. Codes are stable: a number never gets a second meaning.
 * `docs/diagnostics.md` is printed from this table.
 */

import { FORMAT_NAMES, MAX_TIMEOUT_MS, MAX_VALUES } from "svc-runtime/internal/generator";
import type { Place } from "../model.js";

/** An error stops generation; a warning or a note does not. */
export type Severity = "error" | "warning" | "note";

interface Entry {
  readonly severity: Severity;
  /** The problem, as a sentence without the subject. */
  readonly title: string;
  /** The remedy. */
  readonly hint: string;
  /** The reason for the rule. */
  readonly why: string;
}

function error(title: string, hint: string, why: string): Entry {
  return { severity: "error", title, hint, why };
}
function warning(title: string, hint: string, why: string): Entry {
  return { severity: "warning", title, hint, why };
}
function note(title: string, hint: string, why: string): Entry {
  return { severity: "note", title, hint, why };
}

/** 100: project, 110: class and static metadata, 130: types, 150: input, 160: output, 170: JSDoc, 180: schemas, in `--check`, 190: types. */
export const CODES = {
  SVC100: error(
    "no tool class was found",
    "export a class that extends SvcTool<Input, Output> from a file of the project",
    "A tool is a class that is not abstract and whose base, however far away, is SvcTool of the package svc-runtime.",
  ),
  SVC101: error(
    "the project cannot be read",
    "run svc-gen where tsconfig.json is, or name it: svc-gen --project path/to/tsconfig.json",
    "svc-gen reads the same tsconfig.json as tsc, to see the types as tsc does.",
  ),
  SVC102: error(
    "strictNullChecks is off",
    'set "strict": true in tsconfig.json',
    "Without it the compiler cannot say which members may be null or missing, so the contract would be wrong.",
  ),
  SVC103: error(
    "svc-runtime is not found",
    "npm install svc-runtime",
    "A class is a tool if it extends the type SvcTool of the package svc-runtime, so the compiler has to find that package.",
  ),
  SVC104: note(
    "svc-gen does not know this option of tsconfig.json, or its value",
    "nothing, when the project's own tsc takes it; otherwise correct the value",
    "svc-gen reads with TypeScript 6.0, whatever the project is compiled with. It leaves out options and values of newer versions.",
  ),
  SVC105: error(
    "the class looks like a tool, but does not extend SvcTool of svc-runtime",
    'import { SvcTool } from "svc-runtime" and extend SvcTool<Input, Output>; rename fqn or invoke when it is no tool',
    "Only classes that extend SvcTool are served. Without this error, a misspelt base class would remove the tool.",
  ),
  SVC106: note(
    "the tool is removed from meta.json",
    "nothing, if you deleted it or changed its fqn(); otherwise restore its class. Calls to it will be answered 404",
    "No class of the project has this FQN any more.",
  ),
  SVC107: error(
    "the class of the tool is in a file that tsconfig.json leaves out",
    'add the file to "include" in tsconfig.json, or delete it',
    "meta.json has the tool, and its class still exists. Leaving the file out would remove the tool without a trace.",
  ),
  SVC108: warning(
    "svc-gen and svc-runtime have different versions",
    "install the same version of both, then run svc-gen again",
    "Generated files are made for the svc-runtime of svc-gen's own version.",
  ),
  SVC109: note(
    "the build script runs tsc, but TypeScript is not installed in this project",
    "npm install --save-dev typescript@~5.9.3",
    "svc-gen reads the project with a compiler of its own, which does not install the command tsc.",
  ),
  SVC110: error(
    "the tool class is not exported",
    "export the class; the types that it uses may stay private",
    "The generated server imports the class. Test files (*.test.ts, *.spec.ts) are not looked at.",
  ),
  SVC111: error(
    "the tool class is generic",
    "extend it with concrete types, or give every type parameter a default",
    "A contract is made for one Input and one Output. An abstract generic base class is fine.",
  ),
  SVC112: error(
    "fqn() is missing",
    'add: static override fqn() { return "domain.name.tool@1"; }',
    "The name identifies the tool to the network; there is no default.",
  ),
  SVC113: error(
    "the value is not known without running the tool",
    "return a literal, a constant, or a template or sum of those",
    "svc-gen reads fqn, description, path, timeout and variables without running any code of the tool.",
  ),
  SVC114: error(
    "not a tool FQN",
    "write domain.name@version: three or more parts of two or more lower-case letters, digits, _ and -, a letter first, then a version from 1",
    "Each part begins with a letter and has two characters or more; the version is a decimal number up to 4294967295.",
  ),
  SVC115: error(
    "the description is missing or blank",
    'add: static override description() { return "What the tool does."; } or a JSDoc comment on the class',
    "People choose tools by it, and registration refuses a tool without it.",
  ),
  SVC116: error(
    "this is no environment variable with a description",
    "write a name such as RATES_TOKEN, with ? at its end when it is optional, and a text that says what it is for",
    "A server does not start without the variables of its tools, and names what each is for.",
  ),
  SVC117: note(
    "the network does not register this timeout",
    "return 1000 to 120000 milliseconds",
    "The registry of the network takes a timeout of one second to two minutes. A tool that is not registered there may have any.",
  ),
  SVC118: error(
    "not a timeout",
    `return whole milliseconds from 1 to ${MAX_TIMEOUT_MS}`,
    "It covers construction, authorize, input decoding, invoke and output encoding together.",
  ),
  SVC119: error(
    "two tools have one FQN",
    "give each tool its own name or version",
    "Configuration, replay cache and metadata are keyed by it. Versions are compared as numbers: @01 is @1.",
  ),
  SVC120: error(
    "two tools have one path",
    "give each tool its own path()",
    "Each tool answers health, meta and invoke below its path. Empty segments do not count: a//b is a/b.",
  ),
  SVC121: warning(
    "meta.json cannot be judged, since meta() is overridden",
    "register what `node dist/generated/server.js --meta` prints, and say so with @acknowledge SVC121 on the class; or remove the override",
    "meta.json is derived from the types. svc-gen runs no code of a tool, so it does not know what the tool answers on GET /meta, and svc-gen --check cannot exit with 0.",
  ),
  SVC122: error(
    "the path can never be requested",
    "use letters, digits and - . _ ~ between slashes",
    "Paths match byte for byte, without decoding, after the query is cut off; so ?, # and characters outside URLs never match.",
  ),
  SVC123: error(
    "the runtime cannot construct the tool",
    "add: static override async new() { return new ThisClass(…); }, or give every parameter a default",
    "The runtime makes an instance for each call by the static method new(), which by default passes no arguments.",
  ),
  SVC124: error(
    "server-options.ts is not usable",
    'write: import type { BootstrapOptions } from "svc-runtime"; export const options: BootstrapOptions = { … };',
    "The generated server.ts passes the export options of the file server-options.ts, beside the generated folder, to bootstrap.",
  ),
  SVC125: error(
    "the description has half of a surrogate pair",
    "write the whole character",
    "JSON is sent as UTF-8, which cannot encode half of a surrogate pair.",
  ),
  SVC126: error(
    "the path looks like a pattern",
    "write the path as it is requested, without : and *; values of a call belong into Input",
    "Paths match byte for byte: /v1/:id would be requested as /v1/:id, with the colon, and no part of a path reaches the tool.",
  ),
  SVC127: note(
    "this tool class is not served",
    "declare a class of the project that extends it",
    "svc-gen reads classes by their declaration in the project. What a function returns, or a package exports, has none, so its name, description and types are not known without running it.",
  ),
  SVC128: warning(
    "the method is never called",
    "make it static, or not, as SvcTool declares it; or rename a method of your own",
    "SvcTool calls path, timeout, isolate, new, create, close and meta on the class, and invoke, authorize, health and encodeOutput on an instance. TypeScript takes the other kind as a method of another name.",
  ),
  SVC129: note(
    "the timeout is short",
    "return milliseconds: 5000 for five seconds",
    "It covers construction, authorize, input decoding, invoke and output encoding together. A call that takes longer is answered with 504.",
  ),
  SVC130: error(
    "a function cannot travel as JSON",
    "remove the member from the type, or keep it in the class and not in Input or Output",
    "Values arrive as JSON text.",
  ),
  SVC131: error(
    "a method cannot travel as JSON",
    "declare the data as an interface of its own and move the method to a function",
    "A decoded value is a plain object: a class instance with methods cannot be rebuilt from JSON.",
  ),
  SVC132: error(
    "a symbol cannot travel as JSON",
    "use a string literal type",
    "Symbols have no text that another process could read.",
  ),
  SVC133: error(
    "a private member cannot travel as JSON",
    "declare the data as an interface with the public members only",
    "A plain object is not assignable to a class with private or protected members, so the tool would get a lie.",
  ),
  SVC134: error(
    "this collection has no JSON form",
    "use Record<string, T> or an array of pairs for a Map, an array for a Set",
    "JSON has objects and arrays only.",
  ),
  SVC135: error(
    "this built-in type has no JSON form",
    "use a string, a number, an array or an interface of your own",
    "Of the built-in classes, Date (date-time text) and Uint8Array (base64) are understood.",
  ),
  SVC136: error(
    "undefined has no JSON form here",
    "use null, or make the member optional with ?",
    "Only a member of an object can be absent; an element of an array or a whole value cannot.",
  ),
  SVC137: error(
    "no value is possible here",
    "correct the type: it works out to never",
    "A required member of type never can never be given, so no call could succeed.",
  ),
  SVC138: error(
    "a bigint literal type is not supported",
    "use bigint, with @minimum and @maximum if needed",
    "Exact integers are decoded as bigint in a range, not compared with literals.",
  ),
  SVC139: error(
    "the type still depends on a type parameter",
    "give the type parameter a concrete type",
    "The contract needs every type to be known when it is generated.",
  ),
  SVC140: error(
    "the type has too many levels or parts, or no end of them",
    "let a recursive type refer to itself with the same type arguments, and keep others below some 48 levels and 1,000 named types",
    "A type such as Deep<T> = { next?: Deep<T[]> } is another type at every level and has no finite schema.",
  ),
  SVC141: error(
    "a member with a symbol as its name cannot travel as JSON",
    "give the member a text name",
    "Names of JSON members are texts.",
  ),
  SVC142: error(
    "this intersection has no JSON form",
    'intersect object types only, or brand a primitive: string & { readonly __brand: "Id" }',
    "An array, a date or bytes cannot at the same time have named members in JSON.",
  ),
  SVC143: error(
    "a promise cannot travel as JSON",
    "use the type of its result; invoke itself may be async",
    "Values are complete when they arrive and when they leave.",
  ),
  SVC144: error(
    "this type is not understood",
    "use plain data types, and report the type if it has an obvious JSON form",
    "svc-gen refuses what it does not understand rather than guess.",
  ),
  SVC145: note(
    "the members of this union look alike in JSON",
    "tell them apart by an object: { at: Date } | { text: string }",
    "A string that reads as a date becomes a Date, an integer a bigint, base64 text bytes, if that branch comes first in the union.",
  ),
  SVC146: error(
    "a template literal type with this placeholder is not supported",
    "use string, number, bigint, boolean or literals between the texts, or string with @pattern",
    "The placeholder must have a regular expression that means the same.",
  ),
  SVC147: error(
    "this JSDoc comment belongs to nothing",
    "move the comment to a line of its own, above the member that it is for",
    "TypeScript attaches a comment to what begins on a later line; one behind a brace or a semicolon would be lost with its tags. A description without tags is read where its member follows on the same line.",
  ),
  SVC148: error(
    "the name of the member has half of a surrogate pair",
    "write the whole character",
    "JSON is sent as UTF-8, which cannot encode half of a surrogate pair.",
  ),
  SVC149: error(
    "this literal has no JSON form",
    "write another literal, or a string that stands for it",
    "JSON has no NaN and no infinities, and as UTF-8 no half of a surrogate pair.",
  ),
  SVC150: error(
    "the input is not an object type",
    "declare Input as an interface; each member becomes an input port",
    "The input ports of a tool are the members of its Input. A union or an index signature has no fixed ports.",
  ),
  SVC151: error(
    "more than 32 input ports",
    "group members into nested objects",
    "The network registers at most 32 input ports for a tool.",
  ),
  SVC152: error(
    "not a port or variant name",
    "use 1 to 128 ASCII characters",
    "Names of ports and variants are registered on the network as ASCII bytes.",
  ),
  SVC154: note(
    "an input that looks like a secret",
    "add @secret to a text that is one, @notSecret where none is; a secret of the tool itself belongs in its environment",
    "Leaders see the values of all ports, and so does the network that stores a call, and everyone who can read the request on its way. @secret publishes the member as writeOnly with format password, and svc-gen shows its value nowhere; it does not encrypt it. @notSecret on a member or a type, and @acknowledge SVC154, hold for all below it.",
  ),
  SVC155: note(
    "a list port cannot be empty",
    "make the member optional if it may be empty; that changes the cardinality of the port from many to one, for its callers another contract",
    `A \`many\` port carries 1 to ${MAX_VALUES} values; an optional array is one value and may be empty.`,
  ),
  SVC156: note(
    "this port takes an array as one value",
    "nothing, if that is meant; a plain array type gives a `many` port: another cardinality, for its callers another contract",
    "Where the type may be an array or something else, the port is a `one` and the array is a single JSON value.",
  ),
  SVC157: error(
    "this list port can carry no value",
    `let the list have from 1 to ${MAX_VALUES} items, or make the member optional: an optional list is one value`,
    `A \`many\` port carries 1 to ${MAX_VALUES} values, and this list takes no such number of them: every call would be refused.`,
  ),
  SVC158: note(
    "a bigint without @format",
    "add @format int64 or @format uint64",
    "It is published as an integer of no size and takes -2^63 to 2^64-1. Clients that are generated from the schema read such an integer as a double, which rounds beyond 2^53; a format tells them that it has 64 bits.",
  ),
  SVC159: note(
    "the port is required, so its @default is never used",
    "make it optional (name?: …) and give invoke the default, or remove the @default",
    "Callers that read the default leave the port out, and their calls are refused. A server fills in no defaults.",
  ),
  SVC160: error(
    "the output is not a union of variants",
    'declare Output as { ok: { … } } | { err: { … } }, or string literals such as "done"',
    "Each member of the union is one variant: an object with exactly one member, whose name is the tag.",
  ),
  SVC161: error(
    "the payload of a variant is not an object",
    "wrap it: { ok: { value: T } }",
    "The members of the payload are the output ports of the variant.",
  ),
  SVC162: error(
    "the tag of a variant is optional",
    "remove the question mark; write another variant for the other case",
    "The tag says which variant a result is, so it is always present.",
  ),
  SVC163: error(
    "two variants have one tag",
    "merge the two payloads or rename one tag",
    "A receiver tells variants apart by the tag only.",
  ),
  SVC164: error(
    "a variant does not have exactly one member",
    "put the members into one payload under a tag: { ok: { a: …; b: … } }",
    "The one member names the variant, its type holds the ports.",
  ),
  SVC165: error(
    "_err_eval cannot be declared",
    'return errEval("why") instead; it fits every Output',
    "It is the reserved failure variant that every tool has.",
  ),
  SVC166: error(
    "more than 8 output variants",
    "merge variants; a port may say which case it is",
    "The network registers at most 8 variants for a tool.",
  ),
  SVC167: error(
    "more than 16 ports in one variant",
    "group members into nested objects",
    "The network registers at most 16 ports for a variant.",
  ),
  SVC168: error(
    "a DataRef cannot stand here",
    "make it the type of an output port, report: DataRef<T>, or of the items of one, parts: DataRef<T>[]",
    "A reference stands for a whole value of a port. Inputs arrive resolved, and JSON below a port has no references.",
  ),
  SVC170: error(
    "the value of a JSDoc tag is not valid",
    "correct the value",
    "The tag becomes a keyword of the schema and must have a value that the keyword takes.",
  ),
  SVC171: error(
    "the JSDoc tag does not apply to this type",
    "remove the tag, or put it on a member of the type that it is for",
    "A keyword that never applies would promise a check that does not happen.",
  ),
  SVC172: error(
    "no value satisfies these JSDoc tags together",
    "correct one of them",
    "Every call would be refused: a lower bound lies above the upper one, or no integer or multiple lies between them.",
  ),
  SVC173: error(
    "the value of @default or @example does not fit the type",
    "write a value as JSON that the member takes: @example 42; text for people belongs above the tags or under @remarks",
    "Defaults and examples are published in the schema, for people and programs that copy them.",
  ),
  SVC174: note(
    "there is no such JSDoc tag",
    "correct its name, or remove it",
    "svc-gen passes over tags that it does not know; this one is called like one that would be checked, or nearly so.",
  ),
  SVC175: note(
    "this format is published and not checked",
    "use a format that is checked, or add a @pattern",
    `Formats that are checked in inputs: ${FORMAT_NAMES.join(", ")}; on a bigint int64 and uint64, on a number int8 to int32 and uint8 to uint32.`,
  ),
  SVC176: note(
    "this @acknowledge acknowledges nothing",
    "remove the tag, or the code from it",
    "It silences the notes that it names on the member, class or type that it stands on; a note that is not given needs none.",
  ),
  SVC177: error(
    "this pattern takes exponential time on some texts",
    "let no repetition contain another one or branches that match the same text: ^a+$ in place of ^(a+)+$",
    "A text of thirty characters could occupy the server for minutes: the matcher tries every way to divide it.",
  ),
  SVC178: note(
    "this pattern takes more than linear time on some texts",
    "add @maxLength 1000 or less, which is checked first, or begin the pattern with ^ and let no two repetitions meet",
    "The time grows with the square of the length, or faster. Texts of up to 65,536 characters are matched.",
  ),
  SVC179: warning(
    "@default is not the default of invoke",
    "correct one of them",
    "@default is published and never filled in: the default that the tool takes is the one in invoke. Callers who leave the member out get another value than the schema says.",
  ),
  SVC180: warning(
    "a second reading of this type gives another schema",
    "compare the schema in meta.json with the type and report the type; when the schema is right: @acknowledge SVC180 on the member",
    "svc-gen --check lets typescript-json-schema read every type too, compares both schemas after a list of known differences, and lets ajv judge values by both. One of the two is wrong here, and a wrong schema would be registered.",
  ),
  SVC181: error(
    "ajv refuses the schema of this type",
    "report the type: every schema that svc-gen writes compiles in ajv's strict mode",
    "Leaders and clients compile the published schema. svc-gen --check compiles it first.",
  ),
  SVC182: note(
    "this type is nested too deeply to be read a second time",
    "nothing: only svc-gen --check compares both readings, and ajv compiled the published schema",
    "typescript-json-schema and ajv call themselves for each level of a type. From about 200 types in a chain on they exceed the stack, so that the schema is not compared with a second reading.",
  ),
  SVC190: note(
    "any is published as any JSON value",
    "write the type, or unknown when every JSON value is meant",
    "No caller learns what to send or what it gets, nothing is checked, and the tool's own use of the value is not checked either.",
  ),
  SVC191: error(
    "this type is not resolved",
    "install the package that declares it, or correct the import in the file that declares the member",
    "TypeScript takes a name that it does not find for any. In declarations of packages it does not report that (skipLibCheck).",
  ),
} as const satisfies Record<string, Entry>;

export type Code = keyof typeof CODES;

/** A place that a diagnostic refers to. */
export interface RelatedPlace {
  /** What is there. */
  readonly message: string;
  /** Absent where TypeScript names none. */
  readonly place?: Place;
}

/** One diagnostic. TypeScript's own errors keep their codes (`TS2322`). */
export interface Diagnostic {
  /** Stable: `SVC112`. docs/diagnostics.md has all of them. */
  readonly code: Code | `TS${number}`;
  /** Whether it stops generation. */
  readonly severity: Severity;
  /** What is wrong, as one sentence. */
  readonly message: string;
  /** Where it is; absent for what concerns the project as a whole. */
  readonly place?: Place;
  /** The member or class concerned: `Sum.Input.items[].when`. */
  readonly subject?: string;
  /** What to do. */
  readonly hint?: string;
  /** Related places from TypeScript: `'x' is declared here.` */
  readonly related?: readonly RelatedPlace[];
}

/** Makes a diagnostic from the table. `detail` describes the particular case; `ownHint` is for one that the hint of the code misses. */
export function diagnostic(
  code: Code,
  where: { readonly place?: Place; readonly subject?: string },
  detail?: string,
  ownHint?: string,
): Diagnostic {
  const { severity, title, hint } = CODES[code];
  const message = detail === undefined ? title : `${title}: ${detail}`;
  return { code, severity, message, hint: ownHint ?? hint, ...where };
}

/** Whether a diagnostic is an error, which stops generation. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

const COLOURS = { error: "\u001b[31m", warning: "\u001b[33m", note: "\u001b[36m", dim: "\u001b[2m", off: "\u001b[0m" };

type Paint = (name: keyof typeof COLOURS, text: string) => string;

const painter =
  (colour: boolean): Paint =>
  (name, text) =>
    colour ? COLOURS[name] + text + COLOURS.off : text;

/** Formats one diagnostic for a terminal: place, code, message, code frame, related places, hint. */
export function formatDiagnostic(diagnostic: Diagnostic, colour = false): string {
  const paint = painter(colour);
  const { severity, place, hint, related = [] } = diagnostic;
  const lines = [headline(diagnostic, paint)];
  if (place !== undefined) lines.push("", ...codeFrame(place, severity, paint), "");
  for (const { message, place: other } of related) {
    lines.push(`  ${placePrefix(other)}${message}`);
    if (other !== undefined) lines.push(...codeFrame(other, "note", paint).map((line) => `    ${line}`), "");
  }
  if (hint !== undefined) lines.push(`  ${paint("dim", "hint:")} ${hint}`);
  return lines.join("\n").trimEnd();
}

/** Formats all diagnostics of a run: notes first, one line each and one hint a code, then the others in full. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[], colour = false): string {
  const paint = painter(colour);
  const notes = diagnostics.filter(({ severity }) => severity === "note");
  const blocks = [...new Set(notes.map(({ code }) => code))].map((code) => {
    // A type that several tools share is noted once.
    const keys = new Set<string>();
    const each = notes.filter(({ code: own, place, message, subject }) => {
      const key = `${placePrefix(place) || subject} ${message}`;
      return own === code && !keys.has(key) && keys.add(key);
    });
    const silence = each[0]?.subject === undefined || code === "SVC176" ? "" : `; @acknowledge ${code} silences it`;
    const hint = `${each[0]?.hint}${silence}`;
    return [...each.map((note) => headline(note, paint)), `  ${paint("dim", "hint:")} ${hint}`].join("\n");
  });
  const others = diagnostics.filter(({ severity }) => severity !== "note");
  return `${[...blocks, ...others.map((each) => formatDiagnostic(each, colour))].join("\n\n")}\n`;
}

function headline({ code, severity, message, place, subject }: Diagnostic, paint: Paint): string {
  return `${placePrefix(place)}${paint(severity, severity)} ${code}: ${subject === undefined ? "" : `${subject}: `}${message}`;
}

function placePrefix(place: Place | undefined): string {
  return place === undefined ? "" : `${place.file}:${place.line}:${place.column} - `;
}

/** Longer lines of source are cut around the place. */
const MAX_SOURCE_WIDTH = 160;

/** The line of source with its number, and a line of marks below the place. */
function codeFrame({ line, column, length, source }: Place, severity: Severity, paint: Paint): string[] {
  const from =
    source.length <= MAX_SOURCE_WIDTH
      ? 0
      : Math.max(0, Math.min(column - 1 - MAX_SOURCE_WIDTH / 4, source.length - MAX_SOURCE_WIDTH));
  const text = source.slice(from, from + MAX_SOURCE_WIDTH);
  const at = column - 1 - from;
  const number = String(line);
  const marks = "~".repeat(Math.max(1, Math.min(length, text.length - at)));
  return [
    `${paint("dim", `${number} |`)} ${text}`,
    `${paint("dim", `${" ".repeat(number.length)} |`)} ${text.slice(0, at).replace(/[^\t]/g, " ")}${paint(severity, marks)}`,
  ];
}

/** The page that `svc-gen explain SVC112` prints. */
export function explain(code: Code): string {
  const { severity, title, hint, why } = CODES[code];
  return `${code} (${severity}): ${title}\n\n${why}\n\nWhat to do: ${hint}\n`;
}

/** The text of `docs/diagnostics.md`. */
export function diagnosticsPage(): string {
  const entries = Object.entries(CODES).map(([code, { severity, title, hint, why }]) => {
    return `## ${code}\n\n**${title}** (${severity})\n\n${why}\n\nWhat to do: ${hint}\n`;
  });
  return `# Diagnostics of svc-gen\n\nPrinted from \`generator/compile/diagnostics/diagnostics.ts\`; \`svc-gen explain CODE\` prints one entry.\n\n${entries.join("\n")}`;
}
