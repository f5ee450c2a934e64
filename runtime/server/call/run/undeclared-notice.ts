/** Logs members that callers send but a tool's input does not declare, for the author of the tool. */

import { closest } from "svc-client/internal/did-you-mean";
import type { Contract } from "svc-client/internal/wire/codec/contract";
import { type CommittedText, committedBytes } from "svc-client/internal/wire/envelope/committed-texts";
import type { Logger } from "../../../tool.js";
import { undeclaredMembers } from "../../wire/undeclared.js";
import type { CallInput } from "../messages.js";

/** Minimum interval between two checks of a tool's inputs, in milliseconds. */
const INTERVAL_MS = 1_000;
/** Maximum size of a body that is checked, in bytes. */
const MAX_BYTES = 65_536;
/** Maximum number of log lines for one tool in a process. */
const MAX_LINES = 20;

/**
 * Makes the function that looks for undeclared members in the inputs of one tool. It logs each position once, with the
 * nearest declared name and no text from the caller.
 */
export function undeclaredNotice(contract: Contract): (input: CallInput, log: Logger) => void {
  const said = new Set<string>();
  let next = 0;
  return (input, log) => {
    const now = performance.now();
    if (said.size >= MAX_LINES || now < next) return;
    const body = "texts" in input ? plainJson(contract, input.texts) : input.body;
    if (body === undefined || body.length > MAX_BYTES) return;
    next = now + INTERVAL_MS;
    for (const { at, name, declared } of undeclaredMembers(contract, body)) {
      const [nearest] = closest(name, declared);
      const line = JSON.stringify([at, nearest]);
      if (said.has(line) || said.size >= MAX_LINES) continue;
      said.add(line);
      const message = "the input contained a member that the tool does not declare; the member was ignored";
      log.warn({ at: at === "" ? "the input" : at, ...(nearest !== undefined && { nearest }) }, message);
    }
  };
}

/** Committed texts of a signed call, as the body of an unsigned one; undefined if they are too large to be checked. */
function plainJson({ input }: Contract, texts: readonly (readonly CommittedText[])[]): Buffer | undefined {
  const values = texts.map((each) => each.map(committedBytes));
  if (values.flat().reduce((size, { length }) => size + length, 0) > MAX_BYTES) return undefined;
  const members = input.map(({ name, many }, i) => {
    const list = (values[i] ?? []).join(",");
    return `${JSON.stringify(name)}:${many ? `[${list}]` : list}`;
  });
  return Buffer.from(`{${members.join(",")}}`);
}
