/** What the protocol says must happen for each way to call, beside what did (protocol.md sections 5 to 8). */

import type { CallKind, CallReport, ExchangeView } from "./page-api.js";

export interface Outcome {
  readonly kind: CallKind;
  readonly signed: boolean;
  /** Whether the server requires signatures; null when unknown. */
  readonly isSigned: boolean | null;
  readonly exchanges: readonly ExchangeView[];
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
  const last = outcome.exchanges.at(-1) as ExchangeView;
  return { did: said(last), ...JUDGES[outcome.kind](outcome, last) };
}

type Judge = (outcome: Outcome, last: ExchangeView) => Omit<Verdict, "did"> & Partial<Verdict>;

/** Statuses of answers that end a run, and are remembered (section 8). */
const REMEMBERED = new Set([200, 403, 422, 500, 504]);
/** The replay TTL without another in the configuration, in milliseconds. */
const DEFAULT_TTL_MS = 300_000;
/** Codes of refusals before a tool runs. */
const NOT_RUN = new Set(["auth_failed", "request_in_flight", "input_integrity_error"]);

const JUDGES: Readonly<Record<CallKind, Judge>> = {
  call: ({ signed }, last) => {
    if (!signed)
      return {
        must: "a result of the tool, unsigned, or an error that says what to mend",
        holds: statusOf(last) === 200 || null,
      };
    const tool = last.signatures.find(({ by }) => by === "tool");
    const must = "a result that the tool signed, over the leader's signature, the nonce and the result (section 4)";
    if (tool === undefined) return { must, holds: null };
    const holds = tool.verdict === "verified" ? true : tool.verdict === "not verified" ? false : null;
    const note =
      holds === false
        ? ": the result is not what the tool with this key signed. Something on the way changed it, or the key is of another tool"
        : "";
    return { must, holds, did: `${said(last)}; signature of the tool: ${tool.verdict}${note}` };
  },
  retry: ({ signed, first, ageMs }, last) => {
    if (!signed) return { must: "an unsigned call is not remembered: the tool runs again (section 8)", holds: null };
    const must = "within the replay TTL the same status and body, and the tool does not run again (section 8)";
    const status = first?.response?.status ?? 0;
    if (first == null || !REMEMBERED.has(status) || NOT_RUN.has(codeOf(first) ?? "")) {
      return { must: "the first call did not run, so nothing is remembered: judged anew", holds: null };
    }
    const same = statusOf(last) === status && last.response?.body.hex === first.response?.body.hex;
    if (same) return { must, holds: true, did: `${said(last)}: the same status and body as the first answer` };
    const did = `${said(last)}: ANOTHER answer than the first one`;
    return ageMs < DEFAULT_TTL_MS
      ? { must, holds: false, did }
      : { must, holds: null, did: `${did}; the TTL may be over` };
  },
  "same-nonce": ({ exchanges }) => {
    const must =
      "409 request_in_flight for one while the other runs; else both are invocations of their own (section 8)";
    const blocked = exchanges.filter((each) => codeOf(each) === "request_in_flight").length;
    const did = exchanges.map((each) => `${each.title}: ${said(each)}`).join("; ");
    const ran = exchanges.filter((each) => each.response !== null && !NOT_RUN.has(codeOf(each) ?? "")).length;
    const holds = exchanges.some(({ response }) => response?.status === 401)
      ? null
      : blocked + ran === 2 && blocked < 2;
    return { must, did: blocked === 0 && ran === 2 ? `${did} (the first had ended)` : did, holds };
  },
  tampered: (_, last) =>
    expected(last, 422, "input_integrity_error", "the body is not what the leader signed (section 5)"),
  unsigned: ({ isSigned }, last) =>
    isSigned === false
      ? { must: "200: this server runs unsigned (section 6)", holds: statusOf(last) === 200 || null }
      : expected(last, 401, "auth_failed", "this server requires signatures (section 7)"),
  "wrong-key": (_, last) =>
    expected(last, 401, "auth_failed", "the allow-list has another key for this leader (section 5)"),
  disconnect: ({ signed, exchanges }, last) => {
    if (!signed) {
      const must = "the tool's signal fires with reason “disconnect”; nothing is remembered (section 8)";
      return { must, holds: null, did: "the page closed the connection; the log below shows what the tool did" };
    }
    const must = "the run goes on, and the same bytes sent again get its answer: 409 until it ends (section 8)";
    const waited = exchanges.some((each) => codeOf(each) === "request_in_flight");
    const admitted = last.response !== null && statusOf(last) !== 401 && !NOT_RUN.has(codeOf(last) ?? "");
    const did = `the connection was closed; the retry got ${waited ? "409 while it ran, then " : ""}${said(last)}`;
    return { must, holds: admitted || null, did };
  },
  "slow-body": (_, last) => {
    const must = "a request may take 30 s to arrive: the usual answer (section 1)";
    return { must, holds: last.response !== null && statusOf(last) !== 408 };
  },
  "stalled-body": (_, last) =>
    expected(last, 408, "request_timeout", "the whole request does not arrive within 30 s, or too slowly (section 1)"),
};

function expected(last: ExchangeView, status: number, code: string, why: string): Omit<Verdict, "did"> {
  return { must: `${status} ${code}: ${why}`, holds: statusOf(last) === status && codeOf(last) === code };
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
