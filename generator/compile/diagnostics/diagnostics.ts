/**
 * The table of diagnostics, and their format on a terminal. Codes are stable: a number is never reused.
 * `docs/diagnostics.md` is generated from this table.
 */

import { FORMAT_NAMES, MAX_TIMEOUT_MS, MAX_VALUES } from "svc-runtime/internal/generator";
import { type Place, placeText } from "../model.js";

/** Errors stop generation; warnings and notes do not. */
export type Severity = "error" | "warning" | "note";

interface Entry {
  readonly severity: Severity;
  /** Problem, as a sentence without its subject. */
  readonly title: string;
  /** How to fix it. */
  readonly hint: string;
  /** Reason for the rule. */
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

/**
 * Ranges of codes. 100: project, 110: class and static metadata, 130: types, 150: input, 160: output, 170: JSDoc, 180:
 * schemas (in `--check`), 190: types, imports, paths
 * and comments.
 */
export const CODES = {
  SVC100: error(
    "no tool class was found",
    "export a class that extends SvcTool<Input, Output> from a file of the project",
    "A tool is a class that is not abstract and that extends SvcTool of the package svc-runtime, directly or through other classes.",
  ),
  SVC101: error(
    "the project cannot be read",
    "run svc-gen in the folder of tsconfig.json, or pass its path: svc-gen --project path/to/tsconfig.json",
    "svc-gen reads the project with the same tsconfig.json as tsc.",
  ),
  SVC102: error(
    "strictNullChecks is off",
    'set "strict": true in tsconfig.json',
    "Without this option the compiler does not record which members may be null or missing, so the contract would be wrong.",
  ),
  SVC103: error(
    "svc-runtime is not found",
    "run npm install, or npm install svc-runtime if package.json does not list it; with yarn, set nodeLinker: node-modules in .yarnrc.yml",
    "A class is a tool if it extends SvcTool of the package svc-runtime, so the compiler must be able to find that package.",
  ),
  SVC105: error(
    "the class looks like a tool, but does not extend SvcTool of svc-runtime",
    'import { SvcTool } from "svc-runtime" and extend SvcTool<Input, Output>; if the class is not a tool, rename its fqn or invoke',
    "Only classes that extend SvcTool are served. Without this error, a misspelt base class would remove the tool without notice.",
  ),
  SVC106: note(
    "the tool is removed from meta.json",
    "restore its class, unless you deleted the tool or changed its fqn(): calls to the old name will get 404",
    "meta.json had this tool, but no class of the project has this FQN now.",
  ),
  SVC108: warning(
    "svc-gen and svc-runtime have different versions",
    "install the same version of both, then run svc-gen again",
    "Generated files work with the svc-runtime that has the same version as svc-gen.",
  ),
  SVC110: error(
    "the tool class is not exported",
    "export the class; its Input and Output types need no export",
    "The generated server imports the class. Classes in test files (*.test.ts, *.spec.ts) are ignored.",
  ),
  SVC111: error(
    "the tool class is generic",
    "declare a class that extends it with concrete types",
    "A contract describes one Input and one Output. An abstract base class may be generic.",
  ),
  SVC112: error(
    "fqn() is missing",
    'add: static override fqn() { return "domain.name.tool@1"; }',
    "The FQN (fully qualified name) identifies the tool on the network; there is no default.",
  ),
  SVC113: error(
    "the value cannot be read without running code",
    "return a literal, a constant, or a template string or sum of them",
    "svc-gen reads fqn, description, path, timeout and variables without running any code of the tool.",
  ),
  SVC114: error(
    "not a tool FQN",
    "write domain.name@version, such as org.example.sum@1: three or more parts, joined by dots, and a version",
    "Each part has two or more lower-case letters, digits, _ and -, and begins with a letter; the version is a decimal number from 1 to 4294967295.",
  ),
  SVC115: error(
    "the description is missing or blank",
    'add: static override description() { return "What the tool does."; } or a JSDoc comment on the class',
    "People choose a tool by its description, and the network does not register a tool without one.",
  ),
  SVC116: error(
    "a variable is not declared as its name and a description",
    'write: static override variables() { return { RATES_TOKEN: "token of the rates service" }; } and add ? to the name if the variable is optional',
    "variables() lists the environment variables that the tool reads. A server does not start while a required one is missing, and prints its description.",
  ),
  SVC117: note(
    "a tool with this timeout cannot be registered",
    "return 1000 to 120000 milliseconds",
    "A registered tool has a timeout from one second to two minutes. A tool that is not registered may have any timeout.",
  ),
  SVC118: error(
    "not a timeout",
    `return whole milliseconds from 1 to ${MAX_TIMEOUT_MS}`,
    "The timeout covers construction, authorize, input decoding, invoke and output encoding together.",
  ),
  SVC119: error(
    "two tools have one FQN",
    "give each tool its own name or version",
    "Configuration, replay store and metadata identify a tool by its FQN. Versions are compared as numbers: @01 is @1.",
  ),
  SVC120: error(
    "two tools have one path",
    "give each tool its own path()",
    "A tool is served at PATH/health, PATH/meta and PATH/invoke. Empty segments are ignored: a//b is a/b.",
  ),
  SVC121: warning(
    "meta.json may differ from what the tool serves, because meta() is overridden",
    "remove the override; or register the output of `node dist/generated/server.js --meta`, and add @acknowledge SVC121 to the class",
    "svc-gen derives meta.json from the types and runs no code of a tool, so it does not know what meta() returns. Until you acknowledge this, svc-gen --check fails.",
  ),
  SVC122: error(
    "the path can never be requested",
    "use letters, digits and - . _ ~ between slashes",
    "The path of a request is compared byte for byte, without its query and without decoding, so a path with ?, # or characters that URLs cannot contain never matches.",
  ),
  SVC123: error(
    "the runtime cannot construct the tool",
    "add: static override async new() { return new ThisClass(…); }, or give every parameter a default",
    "For each call the runtime creates an instance with the static method new(), which by default passes no arguments to the constructor.",
  ),
  SVC124: error(
    "server-options.ts does not export valid options",
    'write: import type { BootstrapOptions } from "svc-runtime"; export const options: BootstrapOptions = { … };',
    "The generated server.ts imports `options` from server-options.ts, next to the generated folder, and passes it to bootstrap().",
  ),
  SVC125: error(
    "the description contains half of a surrogate pair",
    "write the whole character",
    "JSON is sent as UTF-8, which cannot encode half of a surrogate pair.",
  ),
  SVC126: error(
    "the path looks like a pattern",
    "write the literal path, without : and *; pass values of a call as members of Input",
    "Paths are literal: /v1/:id would match only a request for /v1/:id, with the colon. A tool receives no part of the path.",
  ),
  SVC128: warning(
    "the method is never called",
    "declare it as SvcTool does: with the same spelling, and `static` only if it is static there; if the method is your own, rename it or make it private",
    "path, timeout, new, create, close, variables and meta are static methods; invoke, authorize, health and encodeOutput are instance methods. To TypeScript a static and an instance method of one name are unrelated, as are authorize and authorise, so it does not report this.",
  ),
  SVC130: error(
    "a function cannot be sent as JSON",
    "remove the member from the type, or keep it in the class and not in Input or Output",
    "Inputs and results are JSON text, which cannot contain code.",
  ),
  SVC131: error(
    "a method cannot be sent as JSON",
    "declare an interface with the data only, and turn the method into a function",
    "A decoded value is a plain object without methods.",
  ),
  SVC132: error(
    "a symbol cannot be sent as JSON",
    "use a string literal type",
    "A symbol exists only in its own process.",
  ),
  SVC133: error(
    "a private member cannot be sent as JSON",
    "declare the data as an interface with the public members only",
    "A decoded value is a plain object, which is not assignable to a class with private or protected members.",
  ),
  SVC134: error(
    "this collection has no JSON form",
    "use Record<string, T> or an array of pairs for a Map, an array for a Set",
    "The only collections of JSON are objects and arrays.",
  ),
  SVC135: error(
    "this built-in type has no JSON form",
    "use a string, a number, an array or your own interface",
    "The only built-in classes with a JSON form are Date (date-time text) and Uint8Array (base64 text).",
  ),
  SVC136: error(
    "undefined has no JSON form here",
    "use null, or make the member optional with ?",
    "Only a member of an object can be absent; an element of an array or a whole value cannot.",
  ),
  SVC137: error(
    "no value has this type",
    "correct the type: it resolves to never",
    "A required member of type never has no possible value. No call could succeed.",
  ),
  SVC138: error(
    "a bigint literal type is not supported",
    "use bigint, with @minimum and @maximum if needed",
    "An integer is decoded as a bigint within a range; svc-gen has no comparison with a literal bigint.",
  ),
  SVC139: error(
    "the type still depends on a type parameter",
    "give the type parameter a concrete type",
    "The contract needs every type to be known when it is generated.",
  ),
  SVC140: error(
    "the type is too large, or endless",
    "a recursive type must refer to itself with the same type arguments; other types may have about 48 levels and 1,000 named types",
    "A type such as Deep<T> = { next?: Deep<T[]> } is a new type at every level, so its schema would be endless.",
  ),
  SVC141: error(
    "a member whose name is a symbol cannot be sent as JSON",
    "give the member a string as its name",
    "Names of JSON members are strings.",
  ),
  SVC142: error(
    "this intersection has no JSON form",
    'intersect object types only, or brand a primitive: string & { readonly __brand: "Id" }',
    "In JSON an array, a date or bytes cannot have named members as well.",
  ),
  SVC143: error(
    "a promise cannot be sent as JSON",
    "write the type of the resolved value: string, not Promise<string>. Only the return type of invoke() is a promise, and await gets the value",
    "A call sends finished values. A promise is still being computed, so it has no text.",
  ),
  SVC144: error(
    "this type is not supported",
    "use plain data types; if the type has an obvious JSON form, please report it",
    "svc-gen does not guess the JSON form of a type.",
  ),
  SVC145: note(
    "the members of this union look alike in JSON",
    "wrap each in an object with its own member name: { at: Date } | { text: string }",
    "The first member of the union that fits the text is chosen: a string in the form of a date becomes a Date, base64 text becomes bytes, an integer becomes a bigint. Of object types that fit a value, the one that omits the fewest members of the value is chosen, and members that only another one declares are omitted.",
  ),
  SVC146: error(
    "this text type, or a placeholder in it, cannot be checked",
    "use only string, number, bigint, boolean or a union of literals as a placeholder; or declare a string with the tag @pattern",
    "svc-gen publishes a template literal type as a regular expression. Other placeholders, Uppercase<string> and similar types have none.",
  ),
  SVC147: error(
    "this JSDoc comment is not attached to a declaration",
    "move the comment to a line of its own, above the member that it is for",
    "TypeScript attaches a comment to the declaration after it. A comment on the line of what it follows, such as a brace or a member, is not attached, so its tags would have no effect.",
  ),
  SVC148: error(
    "the name of the member contains half of a surrogate pair",
    "write the whole character",
    "JSON is sent as UTF-8, which cannot encode half of a surrogate pair.",
  ),
  SVC149: error(
    "this literal has no JSON form",
    "use another literal, such as a string",
    "JSON cannot represent NaN and infinities, nor half of a surrogate pair.",
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
    "not a name for a port or variant",
    "use 1 to 128 ASCII characters",
    "Names of ports and variants are registered on the network as ASCII bytes.",
  ),
  SVC154: note(
    "this input looks like a secret",
    "if it is a secret, add @secret; if not, add @notSecret. Read a secret of the tool itself from an environment variable",
    "Inputs are not encrypted for the tool: leaders see them, and so can networks and proxies that pass or store the call. With @secret the schema has writeOnly and the format password, and svc-gen never shows the value. @notSecret and @acknowledge SVC154 on a member or type also apply to everything nested in it.",
  ),
  SVC155: note(
    "this list cannot be empty",
    "if the list is never empty, add @minItems 1; if it may be empty, make the member optional; the port then changes from many to one, which breaks existing callers",
    `A list is sent as a \`many\` port with 1 to ${MAX_VALUES} values. An optional list is sent as one value, an array that may be empty.`,
  ),
  SVC156: note(
    "this port accepts an array, as one value",
    "if the port is never a list, declare its members; if it always is one, write a plain array type, such as string[]: each item is then a value of its own, and the port changes from one to many, which breaks existing callers",
    "Only a plain array type becomes a `many` port. A union of an array and another type is a `one` port, whose array is a single JSON value.",
  ),
  SVC157: error(
    "no list fits this port",
    `allow lengths from 1 to ${MAX_VALUES}, or make the member optional: an optional list is sent as one value of any length`,
    `A list is sent as a \`many\` port with 1 to ${MAX_VALUES} values, and the type allows none of these lengths, so every call would be refused.`,
  ),
  SVC158: note(
    "a bigint without @format",
    "add @format int64 or @format uint64",
    "Without a format, a bigint accepts -2^63 to 2^64-1, and the schema does not say that it has 64 bits. Clients generated from the schema would then use a double, which rounds integers beyond 2^53.",
  ),
  SVC159: note(
    "the port is required, so its @default is never used",
    "make the member optional (name?: …) and apply the default in invoke, or remove the @default",
    "Callers who read the default may omit the port, and their calls would be refused: a server does not fill in defaults.",
  ),
  SVC160: error(
    "the output is not a union of variants",
    'declare Output as { ok: { … } } | { err: { … } }, or string literals such as "done"',
    "Each part of the union is a variant: an object with exactly one member. The name of that member is the tag, its type has the output ports.",
  ),
  SVC161: error(
    "the payload of a variant is not an object",
    "wrap the value in an object: { ok: { value: T } }",
    "The payload is the object under the tag; its members are the output ports of the variant.",
  ),
  SVC162: error(
    "the tag of a variant is optional",
    "remove the question mark; if there is a second case, declare a second variant",
    "A result is identified by its tag, so the tag must be present.",
  ),
  SVC163: error(
    "two variants have the same tag",
    "merge the two payloads or rename one tag",
    "Only the tag distinguishes variants.",
  ),
  SVC164: error(
    "a variant does not have exactly one member",
    "put the members into one object under a tag: { ok: { a: …; b: … } }",
    "The name of the one member is the tag of the variant; its type has the output ports.",
  ),
  SVC165: error(
    "_err_eval cannot be declared",
    'remove the variant, and return errEval("why"), which fits every Output',
    "_err_eval is the failure variant that every tool has without declaring it.",
  ),
  SVC166: error(
    "more than 8 output variants",
    "merge variants, and use a port to distinguish their cases",
    "The network registers at most 8 variants for a tool.",
  ),
  SVC167: error(
    "more than 16 ports in one variant",
    "group members into nested objects",
    "The network registers at most 16 ports for a variant.",
  ),
  SVC168: error(
    "a DataRef is not allowed here",
    "use DataRef as the type of an output port (report: DataRef<T>) or of its items (parts: DataRef<T>[])",
    "A reference replaces a whole value of an output port, not a part of it. In inputs, references are resolved before the tool sees them.",
  ),
  SVC170: error(
    "the value of a JSDoc tag is not valid",
    "correct the value",
    "The tag becomes a keyword of the JSON Schema, and its value must be valid for that keyword.",
  ),
  SVC171: error(
    "the JSDoc tag does not apply to this type",
    "remove the tag, or move it to a member of a type that the tag applies to",
    "The schema would promise a check that never happens.",
  ),
  SVC172: error(
    "no value satisfies these JSDoc tags together",
    "correct one of the tags",
    "Every call would be refused: the minimum is greater than the maximum, or no allowed number lies between them.",
  ),
  SVC173: error(
    "the value of @default or @example does not fit the type",
    "write a JSON value of the member's type, such as @example 42; write explanations above the tags or under @remarks",
    "Defaults and examples are published in the schema; people and programs copy them.",
  ),
  SVC174: note(
    "unknown JSDoc tag",
    "correct the name of the tag, or remove it",
    "svc-gen ignores unknown tags. This one is reported because its name resembles a tag that would be checked.",
  ),
  SVC175: note(
    "this format is published, but the server does not check it",
    "use a format that the server checks, or add a @pattern",
    `The server checks these formats: on text ${FORMAT_NAMES.join(", ")}; on a bigint int64 and uint64; on a number int8 to int32 and uint8 to uint32.`,
  ),
  SVC177: error(
    "this pattern takes exponential time for some texts",
    "avoid a repetition inside a repetition, and repeated branches that match the same text: write ^a+$, not ^(a+)+$",
    "A text of thirty characters could block the server for minutes, because the regular expression engine tries every way to divide the text between the repetitions.",
  ),
  SVC178: note(
    "this pattern takes more than linear time for some texts",
    "add @maxLength 1000 or less, which is checked before the pattern; or begin the pattern with ^ and separate repetitions by text that neither matches",
    "The time grows with the square of the length or faster, and texts may have up to 65,536 characters.",
  ),
  SVC180: warning(
    "a second generator derives another schema from this type",
    "compare the schema in meta.json with the type. If the schema is wrong, please report the type; if it is right, add @acknowledge SVC180 to the member",
    "svc-gen --check also generates every schema with typescript-json-schema and compares both, apart from known differences of notation. Here one of the two is wrong, and a wrong schema must not be registered.",
  ),
  SVC181: error(
    "ajv refuses the schema of this type",
    "this is a bug in svc-gen; please report it together with the type",
    "Every schema of svc-gen must compile in ajv's strict mode, because leaders and clients compile it. ajv must know the formats, so register those that it lacks, such as uint64, with addFormat. svc-gen --check tests this.",
  ),
  SVC182: note(
    "this type is nested too deeply or too large for the second generator",
    "continue, or nest the type less deeply: the schema is valid; svc-gen --check only skips one comparison for this type",
    "svc-gen --check also generates every schema with typescript-json-schema and compares both. That library is recursive and exceeds the stack at about 200 nested types; unions with thousands of alternatives are not compared either.",
  ),
  SVC190: note(
    "any is published as any JSON value",
    "declare a type; write unknown if every JSON value is allowed",
    "The contract tells callers nothing about the value, the server does not check it, and TypeScript does not check how the tool uses it.",
  ),
  SVC191: error(
    "TypeScript cannot resolve this type",
    "install the package that declares it, or correct the import in the file that declares the member",
    "TypeScript treats an unknown name as any, and with skipLibCheck it does not report this in declarations of packages.",
  ),
  SVC194: note(
    "the tag in this comment has no effect, because the comment does not begin with /**",
    "write a comment such as /** @minimum 1 */ on a line of its own, above the member that it is for",
    "svc-gen reads tags only in JSDoc comments. It prints this note for other comments that begin with the tag of a constraint.",
  ),
  SVC198: warning(
    "a constraint of another declaration does not apply to this value",
    'repeat the tag on this member, or derive the type in another way, such as by Pick, Partial or T["name"]',
    "The type is derived from a declaration with this tag, but TypeScript does not keep the link between them, so the server does not check the constraint here.",
  ),
  SVC196: note(
    "this JSDoc tag may not have the intended effect",
    "correct the tag; if the effect is intended, acknowledge the note",
    "The rest of the line after a tag is its value, a pattern without anchors matches any part of a text, and of two tags the stricter one applies.",
  ),
  SVC197: note(
    "some regular expression engines do not compile this pattern",
    "write the pattern without this syntax, unless all callers use JavaScript, Java or .NET",
    "Callers in other languages read the pattern from the published schema. The server checks it with JavaScript's engine.",
  ),
  SVC199: warning(
    "this tag has no effect on the schema of a number",
    "declare int64 and uint64 as bigint; remove float and double; write @asType integer in place of @TJS-type integer",
    "A number is a double, which is exact only to ±(2^53−1), and it is published without a format. Generators of other tools use these tags for the types of other languages.",
  ),
  SVC200: note(
    "the index signature of the input is ignored",
    "declare a member of the type Record<string, T> for further names, or remove the index signature",
    "The input ports of a tool are the declared members of its Input, and a signed call has no other ports.",
  ),
  SVC201: error(
    "authorize would not get the input, because of a default value or a rest parameter",
    "write plain parameters: authorize(context: AuthContext, input: Input)",
    "The server decodes the input before authorize only if JavaScript counts two parameters (Function.length). Parameters with a default value, those after them, and rest parameters are not counted, so authorize would decide without the input.",
  ),
  SVC202: error(
    "this hint of the tool is not clear",
    "write only the tag, such as @readOnly, or the tag with false, and remarks above the tags",
    "Hosts decide by the hints of a tool whether to ask a person before a call. @readOnly, @idempotent, @destructive and @openWorld stand on a line of their own.",
  ),
} as const satisfies Record<string, Entry>;

export type Code = keyof typeof CODES;

/** Place in the source that explains a diagnostic. */
export interface RelatedPlace {
  /** Description of this place. */
  readonly message: string;
  /** Absent if TypeScript reports no place. */
  readonly place?: Place;
}

/** A diagnostic. TypeScript's errors keep their codes (`TS2322`). */
export interface Diagnostic {
  /** Stable code such as `SVC112`; all are listed in docs/diagnostics.md. */
  readonly code: Code | `TS${number}`;
  /** An error prevents generation; a warning fails `--check`; a note does neither. */
  readonly severity: Severity;
  /** Problem, as one sentence. */
  readonly message: string;
  /** Absent if the diagnostic is about the whole project. */
  readonly place?: Place;
  /** Member or class, such as `Sum.Input.items[].when`. */
  readonly subject?: string;
  /** How to fix it. */
  readonly hint?: string;
  /** Related places from TypeScript, such as `'x' is declared here.` */
  readonly related?: readonly RelatedPlace[];
}

/** Creates a diagnostic from the table. `detail` describes the case; `ownHint` replaces the hint of the code. */
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

/** The errors among diagnostics or other findings. */
export function errorsIn<Found extends { readonly severity: string }>(found: readonly Found[]): Found[] {
  return found.filter(({ severity }) => severity === "error");
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return errorsIn(diagnostics).length > 0;
}

const COLOURS = { error: "\u001b[31m", warning: "\u001b[33m", note: "\u001b[36m", dim: "\u001b[2m", off: "\u001b[0m" };

type Paint = (name: keyof typeof COLOURS, text: string) => string;

const painter =
  (colour: boolean): Paint =>
  (name, text) =>
    colour ? COLOURS[name] + text + COLOURS.off : text;

/** Formats a diagnostic for a terminal: place, code, message, code frame, related places, hint. */
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

/** Formats all diagnostics of a run. Notes come first, one line each, with one hint for each code; then all others. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[], colour = false): string {
  const paint = painter(colour);
  const notes = diagnostics.filter(({ severity }) => severity === "note");
  const blocks = [...new Set(notes.map(({ code }) => code))].map((code) => {
    // A type that several tools share is reported once.
    const keys = new Set<string>();
    const each = notes.filter(({ code: own, place, message, subject }) => {
      const key = `${placePrefix(place) || subject} ${message}`;
      return own === code && !keys.has(key) && keys.add(key);
    });
    const silence = each[0]?.subject === undefined ? "" : `; @acknowledge ${code} silences it`;
    const hint = `${each[0]?.hint}${silence}`;
    return [...each.map((note) => headline(note, paint)), `  ${paint("dim", "hint:")} ${hint}`].join("\n");
  });
  const others = diagnostics.filter(({ severity }) => severity !== "note");
  return `${[...blocks, ...others.map((each) => formatDiagnostic(each, colour))].join("\n\n")}\n`;
}

function headline({ code, severity, message, place, subject }: Diagnostic, paint: Paint): string {
  return `${placePrefix(place)}${paint(severity, severity)} ${code}: ${subject === undefined ? "" : `${subject}: `}${message}`;
}

/** Place of a diagnostic, before its text. */
export function placePrefix(place: Place | undefined): string {
  return place === undefined ? "" : `${placeText(place)} - `;
}

/** Maximum length of a source line; longer lines are shortened around the place. */
const MAX_SOURCE_WIDTH = 160;

/** Source line with its number, and a line that marks the place. */
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

/** Text that `svc-gen explain SVC112` prints. */
export function explain(code: Code): string {
  const { severity, title, hint, why } = CODES[code];
  return `${code} (${severity}): ${title}\n\n${why}\n\nWhat to do: ${hint}\n`;
}
