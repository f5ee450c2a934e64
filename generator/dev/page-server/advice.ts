/** What to do about a refused or failed call, for someone who sees the page only. */

import type { CallKind, ErrorView } from "./page-api.js";

/** By code: the code in words, and the next step. */
const ERRORS: Readonly<Record<string, readonly [title: string, advice: string]>> = {
  input_integrity_error: [
    "The body is not the signed one",
    "The body that arrived is not the body that was signed: something on the way changed it. Call the tool without the proxy in between.",
  ],
  input_deserialization_error: [
    "The input does not fit the contract",
    "Correct the input at the named place. The tool has done nothing.",
  ],
  permission_denied: [
    "The tool refused this leader",
    "The tool's authorize() refused this leader. The signature is valid.",
  ],
  not_found: ["No tool at this address", "No tool is at this address. The list of tools is what the server serves."],
  request_in_flight: [
    "The call is still running",
    "A call with this nonce is still running. Repeat it later for its answer.",
  ],
  tool_invocation_failed: ["The tool threw an error", "Code of the tool threw. The log has the exception."],
  tool_invocation_timeout: ["The tool timed out", "The tool took longer than its timeout(). Its signal was aborted."],
  output_serialization_error: [
    "The result does not fit the Output type",
    "What the tool returned does not fit its Output type.",
  ],
  payload_too_large: ["The body is too large", "The body is longer than invoke_max_body_bytes of the server."],
  request_timeout: [
    "The request arrived too slowly",
    "The whole request has to arrive within 30 seconds, and a body at no less than 16 KiB a second.",
  ],
  rate_limited: [
    "Too many calls of this leader",
    "This leader calls more often than the server allows. Wait for Retry-After seconds.",
  ],
  overloaded: ["The server is overloaded", "Nothing ran. Repeat the same request after Retry-After seconds."],
  shutting_down: [
    "The server is stopping",
    "The server is stopping. Repeat the same request after Retry-After seconds.",
  ],
  tool_invocation_interrupted: [
    "The run was interrupted",
    "The server stopped while the tool ran. The tool may have had effects.",
  ],
  replay_memory_lost: [
    "The replay memory is lost",
    "The replay memory that may know this call is gone, so it is not known whether the call ran. Nothing ran now.",
  ],
  replay_store_full: ["The replay memory is full", "The replay memory is full. Nothing ran."],
  replay_store_unavailable: [
    "The replay store does not answer",
    "The shared replay memory does not answer. Nothing ran.",
  ],
  internal_error: ["The server failed", "A fault of the server itself. The log has it."],
};

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
  return known(code)?.[1] ?? "The log of the server says more.";
}

function known(code: string): readonly [title: string, advice: string] | undefined {
  return Object.hasOwn(ERRORS, code) ? ERRORS[code] : undefined;
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
    title: error === "auth_failed" ? "The signature was refused" : (known(error)?.[0] ?? "Refused"),
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
