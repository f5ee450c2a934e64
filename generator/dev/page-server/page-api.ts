/** Types of the JSON documents that the development page and its server exchange. */

/** Text shown instead of a secret. */
export type Hidden = "••••••••";

/** The state of the page, sent completely after every change. */
export interface PageState {
  /** `project` follows the files of a tool project, `remote` shows a server at a URL. */
  readonly source: "project" | "remote";
  /** Address of the server; null before the first start. */
  readonly url: string | null;
  /** Whether the server requires signatures; null while unknown. */
  readonly signed: boolean | null;
  readonly tools: readonly ToolView[];
  /**
   * Errors of the last build, or the reason why the server is not running. The last good build keeps serving meanwhile.
   */
  readonly problems: readonly ProblemView[];
  /** Whether a server is running. */
  readonly serving: boolean;
  /** The leaders that can sign calls; the first one does by default. Empty without keys. */
  readonly signers: readonly SignerView[];
}

export interface SignerView {
  readonly leaderId: string;
  readonly keyId: string;
}

export interface ToolView {
  readonly fqn: string;
  /** The tool's address, without a trailing slash. */
  readonly url: string;
  readonly description: string;
  readonly timeoutMs: number;
  /** What the hints of the tool say. */
  readonly effects: readonly string[];
  /** The schema as text, so that its numbers keep their digits. */
  readonly inputSchema: string;
  /** A small valid input, as JSON text. */
  readonly sample: string;
  /** The complete metadata document. */
  readonly metadata: string;
  readonly inputPorts: readonly { readonly name: string; readonly many: boolean }[];
  /** Names of the variants of the output. */
  readonly variants: readonly string[];
}

export interface ProblemView {
  readonly title: string;
  /** The code frame, as printed in a terminal. */
  readonly text: string;
}

/** Kinds of requests for which the protocol prescribes the answer. */
export type CheckKind = "retry" | "tampered" | "wrong-key" | "unsigned";
export type CallKind = "call" | CheckKind;

export interface PageCall {
  readonly fqn: string;
  readonly kind: CallKind;
  readonly signed: boolean;
  /** ID of the leader that signs; absent for the first one. */
  readonly as?: string | undefined;
  /** JSON text of the input. */
  readonly input: string;
  /** The input with hidden secrets; absent if it has none. */
  readonly shown?: string;
  /** The secrets of the input, which must not be shown. */
  readonly secrets?: readonly string[];
  /** For a retry: id of the call to repeat. */
  readonly of?: string;
}

/** One line of the history. */
export interface CallEntry {
  readonly id: string;
  readonly fqn: string;
  readonly kind: CallKind;
  readonly signed: boolean;
  /** Wall time, ISO 8601. */
  readonly at: string;
  /** Beginning of the input, on one line. */
  readonly preview: string;
  /** HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** Variant, error code, or `no answer`. */
  readonly outcome: string;
  /** Milliseconds from the start of the request to the end of the answer. */
  readonly ms: number;
  /** Verdict in one line; null if the protocol prescribes no answer. */
  readonly verdict: string | null;
  /** Whether the answer follows the protocol; null if a single call cannot prove that. */
  readonly holds: boolean | null;
}

export interface ExchangeReport extends CallEntry {
  readonly input: string;
  readonly exchange: ExchangeView;
}

export interface ExchangeView {
  /** Value of `X-Request-Id`; the log lines of this exchange contain it. */
  readonly requestId: string;
  readonly request: {
    readonly line: string;
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly body: BytesView;
  };
  readonly response: {
    readonly status: number;
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly body: BytesView;
  } | null;
  /** Reason why the answer is missing or incomplete. */
  readonly failure: string | null;
  readonly phases: readonly { readonly name: string; readonly ms: number }[];
  readonly result: ResultView | null;
  readonly error: ErrorView | null;
  /** Names and values of what was signed. Empty for an unsigned call. */
  readonly signed: readonly (readonly [name: string, value: string])[];
  /** Verdict about the tool's signature of a signed call; null for errors and unsigned calls. */
  readonly signature: "verified" | "not verified" | "no key to verify it" | "absent" | null;
  /** Receipt of a verified result, without inputs (docs/receipts.md); null if the result contains a secret. */
  readonly receipt: string | null;
}

export interface BytesView {
  readonly length: number;
  /** First bytes, in hex. Empty if they contain a secret. */
  readonly hex: string;
  /** First bytes as text; null for binary data. */
  readonly text: string | null;
}

export interface ResultView {
  readonly variant: string;
  /** `{"variant":{…}}`, indented. Numbers are printed as the server sent them. */
  readonly json: string;
}

export interface ErrorView {
  readonly code: string;
  /** Explanation of the code. */
  readonly title: string;
  readonly details: string | null;
  /** Member of the input that caused the error, such as `tags[1]`; null if the answer contains none. */
  readonly path: string | null;
  /** What to do next. */
  readonly advice: string;
}

export interface HealthView {
  /** HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** Reason why the answer is missing. */
  readonly failure: string | null;
}

export interface ContractView {
  /** Text about the contracts that were compared with, or the reason why there is no comparison. */
  readonly against: string;
  /** The changes, as `svc-gen diff` prints them. */
  readonly changes: string;
  readonly broken: boolean;
  /** TypeScript declarations of the input and the output. */
  readonly types: string;
}

/** A line of the server's log. */
export interface LogEvent {
  /** `X-Request-Id` of the call. */
  readonly request: string | null;
  readonly text: string;
  /** Whether the level is warn or higher. */
  readonly alarms: boolean;
  /** Whether the line is about an exception, whose stack is in the text. */
  readonly thrown: boolean;
  /** On the last line of a call: whether the answer came from the replay memory. */
  readonly replayed: boolean | null;
  /** On the last line of a call: milliseconds of each step, measured by the server. */
  readonly steps: Readonly<Record<string, number>> | null;
}
