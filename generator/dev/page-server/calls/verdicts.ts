/** Compares the answer of each kind of call with the protocol (protocol.md sections 5 to 8). */

import { DEFAULT_REPLAY_CACHE_TTL_MS } from "svc-runtime/internal/generator";
import { ERROR_ANSWERS } from "../../../error-answers.js";
import type { CallEntry, CallKind, CheckKind, ExchangeView } from "../page-api.js";

export interface Outcome {
  readonly kind: CallKind;
  readonly signed: boolean;
  readonly exchange: ExchangeView;
  /** The answer that a retry repeats. */
  readonly first: ExchangeView | undefined;
  /** Milliseconds since that answer. */
  readonly ageMs: number;
}

type Verdict = Pick<CallEntry, "verdict" | "holds">;

/** Whether a page may ask for this kind of call. */
export function isCallKind(kind: unknown): kind is CallKind {
  return kind === "call" || (typeof kind === "string" && Object.hasOwn(CHECKS, kind));
}

export function verdictOf(outcome: Outcome): Verdict {
  return outcome.kind === "call" ? ofResult(outcome.exchange) : CHECKS[outcome.kind](outcome);
}

/** The variant, the code of the error, or why there is neither. */
export function outcomeOf({ response, result, error }: ExchangeView): string {
  return response === null ? "no answer" : (result?.variant ?? error?.code ?? "unreadable result");
}

/** A usual call is judged by the signature of its result alone. */
function ofResult({ signatures }: ExchangeView): Verdict {
  switch (signatures.find(({ by }) => by === "tool")?.verdict) {
    case "verified":
      return { verdict: "the tool signed this result for this request", holds: true };
    case "not verified":
      return {
        verdict:
          "the signature does not verify: something on the way changed the result, or the key is of another tool",
        holds: false,
      };
    case "no key to verify it":
      return { verdict: "the result is signed, but no key of the tool is known: give --tool-key", holds: null };
    case "absent":
      return { verdict: "the result has no signature of the tool", holds: null };
    default:
      return { verdict: null, holds: null };
  }
}

const CHECKS: Readonly<Record<CheckKind, (outcome: Outcome) => Verdict>> = {
  retry: ({ signed, first, ageMs, exchange }) => {
    if (!signed) return { verdict: "the tool ran again: unsigned calls are not remembered (section 8)", holds: null };
    const status = first?.response?.status;
    if (status === undefined || (status !== 200 && !ERROR_ANSWERS.get(first?.error?.code ?? "")?.isStored)) {
      return { verdict: "nothing to repeat: the first call did not run, so it was not remembered", holds: null };
    }
    const same = exchange.response?.status === status && exchange.response.body.hex === first?.response?.body.hex;
    if (same) return { verdict: "the same status and body, and the tool did not run again (section 8)", holds: true };
    const got = `must repeat the first answer within the replay TTL (section 8), got ${said(exchange)}`;
    return ageMs < DEFAULT_REPLAY_CACHE_TTL_MS
      ? { verdict: got, holds: false }
      : { verdict: `${got}; the TTL may be over`, holds: null };
  },
  tampered: (outcome) => refusal(outcome, 422, "input_integrity_error", "the body is not what the leader signed"),
  "wrong-key": (outcome) => refusal(outcome, 401, "auth_failed", "the allow-list has another key for this leader"),
  unsigned: (outcome) => refusal(outcome, 401, "auth_failed", "this server requires signatures"),
};

function refusal({ exchange }: Outcome, status: number, code: string, why: string): Verdict {
  const holds = exchange.response?.status === status && exchange.error?.code === code;
  const wanted = `${status} ${code}: ${why} (section 5)`;
  return { verdict: holds ? `refused with ${wanted}` : `got ${said(exchange)}, must be ${wanted}`, holds };
}

function said(exchange: ExchangeView): string {
  return `${exchange.response?.status ?? ""} ${outcomeOf(exchange)}`.trim();
}
