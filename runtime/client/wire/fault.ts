/** Error codes of faults in requests and results (protocol.md section 7). */
export type WireCode =
  | "payload_too_large"
  | "input_integrity_error"
  | "input_deserialization_error"
  | "output_serialization_error";

/** An invalid request or result. `details` is sent to the caller: it has paths, kinds and limits, never a value. */
export class WireFault extends Error {
  override readonly name = "WireFault";
  constructor(
    readonly code: WireCode,
    readonly details: string,
  ) {
    super(`${code}: ${details}`);
  }
}

export const inputFault = (details: string) => new WireFault("input_deserialization_error", details);

/** The fault of a result that does not match its contract. */
export const outputFault = (details: string) => new WireFault("output_serialization_error", details);

/** Path of a member inside a value: names and array indexes. */
export type Path = readonly (string | number)[];

/** Path in source notation: `tags[1]`, `deep.at`, `["odd name"]`; empty for the value itself. */
export function pathText(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** Maximum length of a path's text. */
const MAX_PATH_LENGTH = 256;

export function isPathText(text: string): boolean {
  if (text.length > MAX_PATH_LENGTH) return false;
  const step = String.raw`\[(?:\d+|"(?:[^"\\\p{Cc}]|\\["\\])*")\]`;
  return new RegExp(String.raw`^(?:|(?:[A-Za-z_$][\w$]*|${step})(?:\.[A-Za-z_$][\w$]*|${step})*)$`, "u").test(text);
}
