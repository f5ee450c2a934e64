/** The input of a call. Every value is kept as text, so that integers and decimals stay exact. */

import { resolve } from "node:path";
import { itemsOf, JsonError, MAX_VALUES, membersByName, parseJson, textOf } from "svc-runtime/internal/generator";
import { JsonText, type PortShape } from "svc-runtime/leader";
import { unknownName } from "../cli/arguments.js";
import { CommandError, UsageError } from "../cli/command.js";
import { quoted } from "../compile/diagnostics/quote.js";
import { readRegular, UnreadableFile } from "../files/read-file.js";

/**
 * Reads the bytes of an input: JSON text, `@file`, or `-` for standard input.
 *
 * @throws UsageError when the file cannot be read
 */
export async function readInputText(given: string, cwd: string, readInput: () => Promise<Buffer>): Promise<Buffer> {
  if (given === "-") return readInput();
  if (!given.startsWith("@")) return Buffer.from(given);
  try {
    return readRegular(resolve(cwd, given.slice(1)), { named: true });
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    throw new UsageError(`cannot read ${quoted(given.slice(1))}: ${(error as NodeJS.ErrnoException).code ?? "failed"}`);
  }
}

/** Values of an input, by port. */
export type PortInput = Record<string, JsonText | JsonText[]>;

/**
 * Splits an input into the values of its ports.
 *
 * @throws CommandError with the position of the fault
 */
export function inputOf(bytes: Uint8Array, ports: readonly PortShape[]): PortInput {
  const document = parsed(bytes);
  if (document.bytes[0] === undefined || !isKind(document, 0, "{")) {
    throw new CommandError("the input is not a JSON object", `its members are the input ports: ${nameList(ports)}`);
  }
  const input: PortInput = {};
  const text = (entry: number) => new JsonText(textOf(document, entry, "sent"));
  for (const [name, entry] of membersByName(document, 0)) {
    const port = ports.find((each) => each.name === name);
    if (port === undefined) {
      const { message } = unknownName(
        "input port",
        name,
        ports.map((each) => each.name),
      );
      throw new CommandError(message, `the input ports are: ${nameList(ports)}`);
    }
    if (!port.many) input[name] = text(entry);
    else if (isKind(document, entry, "[")) input[name] = itemsOf(document, entry).map(text);
    else
      throw new CommandError(
        `input port ${quoted(name)} expects an array of 1 to ${MAX_VALUES} values`,
        `write ${quoted(name)}: [ … ]`,
      );
  }
  return input;
}

type Document = ReturnType<typeof parseJson>;

function parsed(bytes: Uint8Array): Document {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new CommandError(
      `the input is not JSON: ${error.message}`,
      "quote it for the shell, or put it in a file: @input.json",
    );
  }
}

function isKind(document: Document, entry: number, first: string): boolean {
  return textOf(document, entry, "sent").toString("utf8", 0, 1) === first;
}

function nameList(ports: readonly PortShape[]): string {
  return ports.map(({ name }) => name).join(", ") || "none";
}

/**
 * The input with its first value changed, as a proxy might change it; undefined for an input without values.
 */
export function tampered(input: PortInput): PortInput | undefined {
  const [name, value] = Object.entries(input)[0] ?? [];
  if (name === undefined || value === undefined) return undefined;
  if (!Array.isArray(value)) return { ...input, [name]: otherText(value) };
  const [first, ...others] = value;
  return first && { ...input, [name]: [otherText(first), ...others] };
}

function otherText({ bytes }: JsonText): JsonText {
  const text = Buffer.from(bytes).toString("utf8");
  if (/^-?\d/.test(text)) return new JsonText(text === "1" ? "2" : "1");
  if (text.startsWith('"')) return new JsonText(text === '""' ? '"x"' : '""');
  return new JsonText(text === "null" ? "0" : "null");
}
