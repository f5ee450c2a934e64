/** Verdicts: whether the answer to each kind of call is what protocol.md requires (sections 5 to 8). */

import { DEFAULT_REPLAY_CACHE_TTL_MS } from "svc-runtime/internal/generator";
import { ERROR_ANSWERS } from "../../../text/error-answers.js";
import type { CallEntry, CallKind, CheckKind, ExchangeView } from "../page-api.js";

export interface Outcome {
  readonly kind: CallKind;
  readonly signed: boolean;
  readonly exchange: ExchangeView;
  readonly first: ExchangeView | undefined;
  /** Whether status, signature and body equal those of the first answer. */
  readonly isSame: boolean;
  /** Milliseconds since the first answer. */
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

/** Variant, error code, or the reason why there is neither. */
export function outcomeOf({ response, result, error }: ExchangeView): string {
  return response === null ? "no answer" : (result?.variant ?? error?.code ?? "unreadable result");
}

/** For a valid call, only the signature of the result is judged. */
function ofResult({ signature }: ExchangeView): Verdict {
  switch (signature) {
    case "verified":
      return { verdict: "the result has the tool's valid signature for this request", holds: true };
    case "not verified":
      return {
        verdict: "the signature is not valid: a proxy changed the result, or the key belongs to another tool",
        holds: false,
      };
    case "no key to verify it":
      return {
        verdict: "the result is signed, but not verified: pass the tool's public key as --tool-key",
        holds: null,
      };
    case "absent":
      return { verdict: "the result is not signed", holds: null };
    default:
      return { verdict: null, holds: null };
  }
}

const CHECKS: Readonly<Record<CheckKind, (outcome: Outcome) => Verdict>> = {
  retry: ({ signed, first, isSame, ageMs, exchange }) => {
    if (!signed)
      return {
        verdict: "the tool ran again: answers to unsigned calls are not stored (protocol, section 8)",
        holds: null,
      };
    const status = first?.response?.status;
    if (status === undefined || (status !== 200 && !ERROR_ANSWERS.get(first?.error?.code ?? "")?.isStored)) {
      return { verdict: "nothing to check: the first call did not run, so its answer was not stored", holds: null };
    }
    if (isSame) {
      return {
        verdict: "same status, signature and body: the tool did not run again (protocol, section 8)",
        holds: true,
      };
    }
    const got = `expected the first answer again (protocol, section 8), got ${summaryOf(exchange)}`;
    return ageMs < DEFAULT_REPLAY_CACHE_TTL_MS
      ? { verdict: got, holds: false }
      : { verdict: `${got}; the stored answer may have expired`, holds: null };
  },
  tampered: (outcome) =>
    refusal(outcome, 422, "input_integrity_error", "the body is not the one that the leader signed"),
  "wrong-key": (outcome) => refusal(outcome, 401, "auth_failed", "the allow-list has another key for this leader"),
  unsigned: (outcome) => refusal(outcome, 401, "auth_failed", "this server requires signatures"),
};

function refusal({ exchange }: Outcome, status: number, code: string, why: string): Verdict {
  const holds = exchange.response?.status === status && exchange.error?.code === code;
  const wanted = `${status} ${code}: ${why} (protocol, section 5)`;
  return { verdict: holds ? `refused with ${wanted}` : `expected ${wanted}, got ${summaryOf(exchange)}`, holds };
}

function summaryOf(exchange: ExchangeView): string {
  return `${exchange.response?.status ?? ""} ${outcomeOf(exchange)}`.trim();
}
