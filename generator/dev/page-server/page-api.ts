/** What the development page and its server exchange: JSON documents, types only. */

/** The text in place of a secret. */
export type Hidden = "••••••••";

/** The state of the page: sent whole, after every change. */
export interface PageState {
  /** `project` follows the files of a tool project, `remote` shows a running server. */
  readonly source: "project" | "remote";
  /** Where the tools are served; null until the first build serves. */
  readonly url: string | null;
  /** Whether the server requires signatures; null while that is not known. */
  readonly signed: boolean | null;
  readonly tools: readonly ToolView[];
  /** Errors of the last run, or why the server does not run. The last good build serves meanwhile. */
  readonly problems: readonly ProblemView[];
  /** Whether a server answers now. */
  readonly serving: boolean;
  /** The signer of signed calls; null without keys. */
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
  /** The schemas as text: the order of their members is the order of the ports. */
  readonly inputSchema: string;
  readonly outputSchema: string;
  /** A small input that fits, as JSON text. */
  readonly sample: string;
  /** The whole metadata document. */
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
  /** The frame of the source, as on a terminal. */
  readonly text: string;
}

/** Requests for which the protocol prescribes the answer. */
export type CheckKind = "retry" | "tampered" | "wrong-key" | "unsigned";
export type CallKind = "call" | CheckKind;

export interface PageCall {
  readonly fqn: string;
  readonly kind: CallKind;
  readonly signed: boolean;
  /** JSON text of the input. */
  readonly input: string;
  /** The input as it is kept and shown; absent when it has no secrets. */
  readonly shown?: string;
  /** The secrets of the input, which are neither kept nor shown. */
  readonly secrets?: readonly string[];
  /** Of a retry: the id of the call to repeat. */
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
  /** The start of the input, in one line. */
  readonly preview: string;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** The variant, the code of the error, or `no answer`. */
  readonly outcome: string;
  /** Milliseconds from the request to the whole answer. */
  readonly ms: number;
  /** Comparison with the protocol in one line; null when there is nothing to compare. */
  readonly verdict: string | null;
  /** Whether the server did what the protocol requires; null when this call cannot prove it. */
  readonly holds: boolean | null;
}

/** One exchange with its input. */
export interface ExchangeReport extends CallEntry {
  readonly input: string;
  readonly exchange: ExchangeView;
}

export interface ExchangeView {
  /** Sent as `X-Request-Id`: lines of the log with it are of this exchange. */
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
  /** Why there is no whole answer. */
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
  /** The first bytes; all of them when twice as long as `length`. Empty for bytes with a secret. */
  readonly hex: string;
  /** As text, when it is text. */
  readonly text: string | null;
}

export interface ResultView {
  readonly variant: string;
  /** `{"variant":{…}}`, indented; numbers keep their spelling. */
  readonly json: string;
}

export interface ErrorView {
  readonly code: string;
  /** The code in words. */
  readonly title: string;
  readonly details: string | null;
  /** The member of the input at fault, such as `tags[1]`; null when the answer names none. */
  readonly path: string | null;
  /** What to do. */
  readonly advice: string;
}

export interface HashView {
  /** The signed hash: 64 hex digits. */
  readonly hash: string;
  /** The hash of the values in the body that was sent; another one when the body was changed after signing. */
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
  /** What the signature covers, part by part, as hex. */
  readonly covers: readonly { readonly name: string; readonly hex: string }[];
  readonly verdict: "verified" | "not verified" | "no key to verify it" | "absent";
  /** 64 hex digits; null when unknown. */
  readonly key: string | null;
}

export interface ContractView {
  /** What the schema was compared with, or why there is no comparison. */
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
  /** An error that was thrown in the tool. */
  readonly thrown: ThrownView | null;
  /** Of the line about a whole call: whether the answer came from the replay memory. */
  readonly replayed: boolean | null;
  /** Of the line about a whole call: the server's own milliseconds by step. */
  readonly steps: Readonly<Record<string, number>> | null;
}

export interface ThrownView {
  /** Type and message. */
  readonly text: string;
  /** The place in a source file of the project, such as `src/sum.ts:12:11`. */
  readonly at: string | null;
  /** The lines of the source around it. */
  readonly frame: string | null;
}
