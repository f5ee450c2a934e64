/** Types of the JSON documents that the development page and its server exchange. */

/** The text shown in place of a secret. */
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
  /** Errors of the last build, or why the server is not running. Meanwhile the last good build keeps serving. */
  readonly problems: readonly ProblemView[];
  /** Whether a server is running. */
  readonly serving: boolean;
  /** The leader that signs calls; null without keys. */
  readonly signer: SignerView | null;
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
  /** The schemas as text, because the order of their members is the order of the ports. */
  readonly inputSchema: string;
  readonly outputSchema: string;
  /** A small valid input, as JSON text. */
  readonly sample: string;
  /** The complete metadata document. */
  readonly metadata: string;
  readonly inputPorts: readonly PortView[];
  readonly variants: readonly { readonly name: string; readonly ports: readonly PortView[] }[];
}

export interface PortView {
  readonly name: string;
  readonly many: boolean;
}

export interface ProblemView {
  readonly title: string;
  /** The code frame, as printed in a terminal. */
  readonly text: string;
}

/** Kinds of requests whose answer the protocol prescribes. */
export type CheckKind = "retry" | "tampered" | "wrong-key" | "unsigned";
export type CallKind = "call" | CheckKind;

export interface PageCall {
  readonly fqn: string;
  readonly kind: CallKind;
  readonly signed: boolean;
  /** JSON text of the input. */
  readonly input: string;
  /** The input with its secrets hidden; absent if it has none. */
  readonly shown?: string;
  /** The secrets of the input, which must not be shown. */
  readonly secrets?: readonly string[];
  /** For a retry: the ID of the call to repeat. */
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
  /** The start of the input, on one line. */
  readonly preview: string;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** The variant, the error code, or `no answer`. */
  readonly outcome: string;
  /** Milliseconds from the start of the request to the end of the answer. */
  readonly ms: number;
  /** The verdict in one line; null if the protocol prescribes no answer. */
  readonly verdict: string | null;
  /** Whether the answer follows the protocol; null if this call cannot prove it. */
  readonly holds: boolean | null;
}

/** A call with its input and its HTTP exchange. */
export interface ExchangeReport extends CallEntry {
  readonly input: string;
  readonly exchange: ExchangeView;
}

export interface ExchangeView {
  /** Sent as `X-Request-Id`; the log lines of this exchange have it. */
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
  /** Why the answer is missing or incomplete. */
  readonly failure: string | null;
  readonly phases: readonly { readonly name: string; readonly ms: number }[];
  readonly result: ResultView | null;
  readonly error: ErrorView | null;
  readonly inputHash: HashView | null;
  /** 64 hex digits. */
  readonly nonce: string | null;
  readonly signatures: readonly SignatureView[];
}

export interface BytesView {
  readonly length: number;
  /** The first bytes, in hex. Empty if the bytes contain a secret. */
  readonly hex: string;
  /** The first bytes as text; null for binary data. */
  readonly text: string | null;
}

export interface ResultView {
  readonly variant: string;
  /** `{"variant":{…}}`, indented. Numbers are printed as the server sent them. */
  readonly json: string;
}

export interface ErrorView {
  readonly code: string;
  /** The meaning of the code. */
  readonly title: string;
  readonly details: string | null;
  /** The member of the input at fault, such as `tags[1]`; null if the answer names none. */
  readonly path: string | null;
  /** The next step. */
  readonly advice: string;
}

export interface HashView {
  /** The signed hash: 64 hex digits. */
  readonly hash: string;
  /** The hash of the values in the sent body; it differs from `hash` if the body was changed after signing. */
  readonly bodyHash: string;
  /** The committed values by port. */
  readonly ports: readonly {
    readonly name: string;
    readonly many: boolean;
    readonly values: readonly { readonly text: string; readonly commitment: string }[];
  }[];
}

export interface SignatureView {
  readonly by: "leader" | "tool";
  readonly header: string;
  /** The parts that the signature covers, in hex. */
  readonly covers: readonly { readonly name: string; readonly hex: string }[];
  readonly verdict: "verified" | "not verified" | "no key to verify it" | "absent";
  /** 64 hex digits; null when unknown. */
  readonly key: string | null;
}

export interface ContractView {
  /** The other side of the comparison, or why there is none. */
  readonly against: string;
  readonly differences: readonly {
    readonly tool: string;
    readonly verdict: string;
    readonly versions: string;
    readonly changes: readonly { readonly kind: string; readonly port: string | null; readonly change: string }[];
  }[];
  readonly broken: boolean;
}

/** A line of the server's log. */
export interface LogEvent {
  /** The `X-Request-Id` of its call. */
  readonly request: string | null;
  readonly text: string;
  /** Whether its level is warn or higher. */
  readonly alarms: boolean;
  /** The error that the tool threw. */
  readonly thrown: ThrownView | null;
  /** On the last line of a call: whether the answer came from the replay memory. */
  readonly replayed: boolean | null;
  /** On the last line of a call: milliseconds by step, measured by the server. */
  readonly steps: Readonly<Record<string, number>> | null;
}

export interface ThrownView {
  /** Type and message. */
  readonly text: string;
  /** Position in a source file of the project, such as `src/sum.ts:12:11`. */
  readonly at: string | null;
  /** The source lines around the position. */
  readonly frame: string | null;
}
