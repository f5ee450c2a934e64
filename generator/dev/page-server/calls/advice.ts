/** What to do about a refused or failed call, for someone who sees the page only. */

import { capitalised, ERROR_ANSWERS } from "../../../error-answers.js";
import type { CallKind, ErrorView } from "../page-api.js";

const UNSIGNED_SERVER =
  "The server takes unsigned calls and refuses signed ones. Make an unsigned call, or start svc-gen dev --signed.";

/** The call behind an error. */
export interface FailedCall {
  readonly signed: boolean;
  /** Whether the server requires signatures; null when unknown. */
  readonly isSigned: boolean | null;
  readonly kind: CallKind;
  /** Names of the sent ports, in the order of the envelope. */
  readonly ports: readonly string[];
}

/** Advice about an error answer. */
function adviceFor(code: string, details: string | undefined, call: FailedCall): string {
  if (code === "auth_failed") return authAdvice(details ?? "", call);
  if (code === "input_deserialization_error" && call.signed && call.isSigned === false) return UNSIGNED_SERVER;
  const answer = ERROR_ANSWERS.get(code);
  if (answer === undefined) return "The log of the server says more.";
  return `${capitalised(answer.caller)}.${answer.ran === "no" ? " The tool did not run." : ""}`;
}

function authAdvice(details: string, { signed, kind }: FailedCall): string {
  if (kind === "wrong-key")
    return "As it should be: the signature is of a key that the allow-list does not have for this leader.";
  if (kind === "unsigned") return "As it should be: this server requires signatures.";
  if (!signed) return "The server requires signatures: switch to a signed call.";
  if (/no such leader and key/.test(details)) {
    return "The allow-list of the server has no such leader id and key id: it is stale, or of another network. Add the leader's public key shown under “Signatures”, and reload.";
  }
  if (/does not verify/.test(details)) {
    return "The allow-list knows the leader id and key id, but with another public key. Compare it with the key shown under “Signatures”.";
  }
  if (/missing$/.test(details))
    return "A signature header was lost on the way, or the server reads headers with another prefix.";
  return "Compare the request headers with section 5 of docs/protocol.md.";
}

/**
 * The member that an error names: `tags[1]` of `tags[1]: expected a string, got null`. A place in the envelope is the
 * port there.
 *
 * @param ports in the order of the envelope
 */
export function pathOf(code: string, details: string | undefined, ports: readonly string[]): string | null {
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

/** A port as the first step of a path. */
function spelt(port: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(port) ? port : `[${JSON.stringify(port)}]`;
}

/** The error of an answer: its members when they have the protocol's form. */
export function errorOf(body: Buffer, call: FailedCall): ErrorView {
  const { error, details } = members(body);
  if (typeof error !== "string" || !/^[a-z_]{1,64}$/.test(error)) {
    const advice = "This is no answer of the protocol: something else answers at this address, such as a proxy.";
    return { code: "invalid_answer", title: "Not an answer of the protocol", details: null, path: null, advice };
  }
  const text = typeof details === "string" ? details.slice(0, 1000) : undefined;
  return {
    code: error,
    title: capitalised(ERROR_ANSWERS.get(error)?.meaning ?? "refused"),
    details: text ?? null,
    path: pathOf(error, text, call.ports),
    advice: adviceFor(error, text, call),
  };
}

function members(body: Buffer): { readonly error?: unknown; readonly details?: unknown } {
  try {
    return Object(JSON.parse(body.toString("utf8"))) as { readonly error?: unknown; readonly details?: unknown };
  } catch {
    return {};
  }
}
