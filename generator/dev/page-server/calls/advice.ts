/** Advice on calls that failed, for a reader who sees only the page. */

import { authReason, callerAdvice, explainAnswer, readErrorAnswer } from "../../../text/error-answers.js";
import { capitalised } from "../../../text/sentences.js";
import type { CallKind, ErrorView } from "../page-api.js";

const UNSIGNED_SERVER = "The server accepts unsigned calls only. Make an unsigned call, or start svc-gen dev --signed.";

export interface FailedCall {
  readonly signed: boolean;
  /** Whether the server requires signatures; null when unknown. */
  readonly isSigned: boolean | null;
  readonly kind: CallKind;
  readonly headerPrefix: string;
  /** Names of the sent ports, in the order of the envelope. */
  readonly ports: readonly string[];
}

/** Advice about an error answer. */
function adviceFor(code: string, details: string | undefined, call: FailedCall): string {
  if (code === "auth_failed") return capitalised(`${authAdvice(details ?? "", call)}.`);
  if (code === "input_deserialization_error" && call.signed && call.isSigned === false) return UNSIGNED_SERVER;
  const answer = explainAnswer(code, details);
  return answer === undefined ? "See the server's log." : callerAdvice(answer);
}

function authAdvice(details: string, { signed, kind, headerPrefix }: FailedCall): string {
  if (kind === "wrong-key")
    return "this answer is expected: the call was signed with a key that is not in the allow-list";
  if (kind === "unsigned") return "this answer is expected: the server requires signatures";
  return signed ? authReason(details, headerPrefix).advice : "the server requires signatures: make a signed call";
}

/**
 * Path of the member that caused the error, such as `tags[1]` in `tags[1]: expected a string, got null`. Translates a
 * position in the envelope to the name of its port.
 *
 * @param ports names in the order of the envelope
 */
export function inputPathIn(code: string, details: string | undefined, ports: readonly string[]): string | null {
  if (code !== "input_deserialization_error" || details === undefined) return null;
  const [, index, item] = /^ports\[(\d+)\]\.(?:port_name|value(?:\.(?:one|many)(\[\d+\])?)?)/.exec(details) ?? [];
  if (index !== undefined && ports[Number(index)] !== undefined)
    return `${spelt(ports[Number(index)] ?? "")}${item ?? ""}`;
  const missing = /^ports: port ("(?:[^"\\]|\\.)*") is missing/.exec(details)?.[1];
  if (missing !== undefined) return spelt(JSON.parse(missing) as string);
  return (
    /^((?:[A-Za-z_$][\w$]*|\["(?:[^"\\]|\\.)*"\])(?:\.[A-Za-z_$][\w$]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*): /.exec(
      details,
    )?.[1] ?? null
  );
}

/** A port name as the first segment of a path. */
function spelt(port: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(port) ? port : `[${JSON.stringify(port)}]`;
}

/** The error in an answer. An answer without a protocol error gets the code `invalid_answer`. */
export function errorView(body: Buffer, call: FailedCall): ErrorView {
  const answer = readErrorAnswer(body);
  if (answer === undefined) {
    const advice =
      "The answer does not follow the protocol. Something other than the tool, such as a proxy, may have sent it.";
    return { code: "invalid_answer", title: "Not a protocol answer", details: null, path: null, advice };
  }
  const { code } = answer;
  const details = answer.details?.slice(0, 1000);
  return {
    code,
    title: capitalised(explainAnswer(code, details)?.meaning ?? "refused"),
    details: details ?? null,
    path: inputPathIn(code, details, call.ports),
    advice: adviceFor(code, details, call),
  };
}
