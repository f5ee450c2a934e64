/** What the protocol says must happen for each way to call, beside what did (protocol.md sections 5 to 8). */

import type { CallKind, CallReport, ExchangeView } from "./page-api.js";

export interface Outcome {
  readonly kind: CallKind;
  readonly signed: boolean;
  readonly exchange: ExchangeView;
  /** The answer that a retry repeats. */
  readonly first: ExchangeView | undefined;
  /** Milliseconds since that answer. */
  readonly ageMs: number;
}

type Verdict = Pick<CallReport, "must" | "did" | "holds">;

/** Whether a page may ask for this kind of call. */
export function isCallKind(kind: unknown): kind is CallKind {
  return typeof kind === "string" && Object.hasOwn(JUDGES, kind);
}

export function verdictOf(outcome: Outcome): Verdict {
  return { did: said(outcome.exchange), ...JUDGES[outcome.kind](outcome) };
}

type Judge = (outcome: Outcome) => Omit<Verdict, "did"> & Partial<Verdict>;

/** Statuses of answers that end a run, and are remembered (section 8). */
const REMEMBERED = new Set([200, 403, 422, 500, 504]);
/** The replay TTL without another in the configuration, in milliseconds. */
const DEFAULT_TTL_MS = 300_000;
/** Codes of refusals before a tool runs. */
const NOT_RUN = new Set(["auth_failed", "request_in_flight", "input_integrity_error"]);

const JUDGES: Readonly<Record<CallKind, Judge>> = {
  call: ({ signed, exchange }) => {
    if (!signed)
      return {
        must: "a result of the tool, unsigned, or an error that says what to mend",
        holds: statusOf(exchange) === 200 || null,
      };
    const tool = exchange.signatures.find(({ by }) => by === "tool");
    const must = "a result that the tool signed, over the leader's signature, the nonce and the result (section 4)";
    if (tool === undefined) return { must, holds: null };
    const holds = tool.verdict === "verified" ? true : tool.verdict === "not verified" ? false : null;
    const note =
      holds === false
        ? ": the result is not what the tool with this key signed. Something on the way changed it, or the key is of another tool"
        : "";
    return { must, holds, did: `${said(exchange)}; signature of the tool: ${tool.verdict}${note}` };
  },
  retry: ({ signed, first, ageMs, exchange }) => {
    if (!signed) return { must: "an unsigned call is not remembered: the tool runs again (section 8)", holds: null };
    const must = "within the replay TTL the same status and body, and the tool does not run again (section 8)";
    const status = first?.response?.status ?? 0;
    if (first == null || !REMEMBERED.has(status) || NOT_RUN.has(codeOf(first) ?? "")) {
      return { must: "the first call did not run, so nothing is remembered: judged anew", holds: null };
    }
    const same = statusOf(exchange) === status && exchange.response?.body.hex === first.response?.body.hex;
    if (same) return { must, holds: true, did: `${said(exchange)}: the same status and body as the first answer` };
    const did = `${said(exchange)}: ANOTHER answer than the first one`;
    return ageMs < DEFAULT_TTL_MS
      ? { must, holds: false, did }
      : { must, holds: null, did: `${did}; the TTL may be over` };
  },
  tampered: ({ exchange }) =>
    expected(exchange, 422, "input_integrity_error", "the body is not what the leader signed (section 5)"),
  "wrong-key": ({ exchange }) =>
    expected(exchange, 401, "auth_failed", "the allow-list has another key for this leader (section 5)"),
};

function expected(exchange: ExchangeView, status: number, code: string, why: string): Omit<Verdict, "did"> {
  return { must: `${status} ${code}: ${why}`, holds: statusOf(exchange) === status && codeOf(exchange) === code };
}

function statusOf({ response }: ExchangeView): number | undefined {
  return response?.status;
}

function codeOf({ error }: ExchangeView): string | undefined {
  return error?.code;
}

/** The answer in a few words. */
function said(each: ExchangeView): string {
  if (each.response === null) return `no answer: ${each.failure}`;
  const { status } = each.response;
  if (each.result !== null) return `${status} ${each.result.variant}`;
  if (each.error === null) return `${status}: ${each.failure}`;
  return `${status} ${each.error.code}${each.error.details === null ? "" : `: ${each.error.details}`}`;
}
