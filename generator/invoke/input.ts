/** Input of a call. Every value is kept as text, so that integers and decimals stay exact. */

import { JsonError, jsonSlip, lineColumn, MAX_VALUES, membersByName, parseJson } from "svc-runtime/internal/generator";
import type { PortShape } from "svc-runtime/leader";
import { unknownName } from "../cli/arguments.js";
import { CommandError } from "../cli/command.js";
import { quoted } from "../compile/diagnostics/quote.js";
import { readNamed } from "../files/read-file.js";
import { type InputDocument, isKind, type PortTexts, portTexts } from "./port-texts.js";

/**
 * Reads the bytes of an input: JSON text, `@file`, or `-` for standard input.
 *
 * @throws UnreadableFile
 */
export async function readInputText(given: string, cwd: string, readInput: () => Promise<Buffer>): Promise<Buffer> {
  if (given === "-") return readInput();
  return given.startsWith("@") ? readNamed(cwd, given.slice(1)) : Buffer.from(given);
}

/** @throws CommandError with the position of the error */
export function parseInput(bytes: Uint8Array): InputDocument {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { reason, offset } = error;
    const { line, column } = lineColumn(bytes, offset);
    const place = line === 1 ? error.message : `${reason} at line ${line}, column ${column}`;
    throw new CommandError(`the input is not JSON: ${place}`, remedyOf(bytes, offset));
  }
}

/**
 * Splits an input into the values of its ports.
 *
 * @throws CommandError
 */
export function inputOf(document: InputDocument, ports: readonly PortShape[]): PortTexts {
  if (!isKind(document, 0, "{")) {
    throw new CommandError("the input is not a JSON object", `its members are the input ports: ${nameList(ports)}`);
  }
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
    if (port.many && !isKind(document, entry, "[")) {
      throw new CommandError(
        `input port ${quoted(name)} expects an array of 1 to ${MAX_VALUES} values`,
        `write ${quoted(name)}: [ … ]`,
      );
    }
  }
  return portTexts(document, ports);
}

function remedyOf(bytes: Uint8Array, offset: number): string {
  switch (jsonSlip(bytes, offset)) {
    case "comma":
      return `remove the comma before ${String.fromCharCode(bytes[offset] ?? 0)}`;
    case "single quotes":
      return `write names and texts in double quotes, and the whole input in single quotes: '{"name":"text"}'`;
    case "comment":
      return "remove the comment: JSON has none";
  }
  if (offset >= bytes.length) return "the end is missing: close every quote, bracket and brace";
  return `quote the JSON for the shell, such as '{"name":"text"}', or write it to a file and pass @input.json`;
}

function nameList(ports: readonly PortShape[]): string {
  return ports.map(({ name }) => name).join(", ") || "none";
}
