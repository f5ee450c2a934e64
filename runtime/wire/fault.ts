/** A fault of a request or a result that the caller is told about, with fixed words and places, never with values. */

/** The codes of faults that `wire` finds (protocol.md section 7). */
export type WireCode = "input_integrity_error" | "input_deserialization_error" | "output_serialization_error";

/** Thrown by `wire`. `details` reaches the caller: it holds places, kinds and limits, nothing of the input. */
export class WireFault extends Error {
  override readonly name = "WireFault";
  constructor(
    readonly code: WireCode,
    readonly details: string,
  ) {
    super(`${code}: ${details}`);
  }
}

/** A place inside a value: `tags[1]`, `deep.at`, `["odd name"]`. */
export type Path = readonly (string | number)[];

/** A path as an author would write it; empty for the value itself. */
export function pathText(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
