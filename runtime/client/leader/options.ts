/** Options of a client and of its calls, checked at run time, because a misspelt option could silently disable a check. */

import { BOOLEAN, type Checks, checkOptions, FUNCTION, having, STRING } from "../check-options.js";
import { isLoopback } from "../loopback.js";
import type { Contract } from "../wire/codec/contract.js";
import type { Ran } from "../wire/error-codes.js";
import { kindOf } from "../wire/kinds.js";
import { DEFAULT_HEADER_PREFIX, MAX_TIMEOUT_MS, SignatureHeaders } from "../wire/protocol.js";
import type { Receipt } from "../wire/receipt.js";
import { LeaderError, type LeaderErrorCode } from "./error.js";
import { type Leader, prepareLeader, type SignOptions } from "./request/request.js";
import type { ValueReader } from "./result/resolve.js";
import { type ToolKeys, toolKeyRing } from "./tool-keys.js";
import type { Dispatcher } from "./transport/dispatcher.js";
import type { TlsOptions } from "./transport/transport.js";

/** Options of a client. */
export interface LeaderOptions {
  /** Signer of requests. Without it, only unsigned calls are possible. */
  readonly leader?: Leader;
  /**
   * The tool's public key, several keys during a key rotation, or a function that returns them for each result. A
   * result of a signed call is rejected unless one of these keys signed it.
   */
  readonly toolKey?: ToolKeys;
  /**
   * Accepts results of signed calls without verifying their signature, as an alternative to `toolKey`. Off by default.
   */
  readonly acceptUnverified?: boolean;
  /**
   * Permits signed requests over `http:` to other machines, although third parties can read and repeat them. Off by
   * default.
   */
  readonly allowHttp?: boolean;
  /** FQN of the expected tool. Metadata of another tool is rejected. */
  readonly fqn?: string;
  /** `X-Svc-` by default, `X-Nexus-` for tools that serve older leaders. */
  readonly headerPrefix?: string;
  /** TLS options; only in Node. */
  readonly tls?: TlsOptions;
  /**
   * An undici agent, for a proxy, socket limits, pinned certificates or tests (`MockAgent`); only in Node. By default,
   * all clients of the process share an agent that reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. A client does not
   * close an agent passed to it.
   */
  readonly dispatcher?: Dispatcher;
  /** Fetches the references of results: a `WalrusReader` of svc-runtime-storage. */
  readonly reader?: ValueReader;
  /**
   * Generated contracts that include the tool's: `contracts` of `src/generated/contracts.ts`. With them, the `value` of
   * a result has the types of the tool's class.
   */
  readonly contracts?: readonly Contract[];
  /**
   * Called with the receipt of each signed call before the call returns, and awaited. If it throws or takes longer than
   * the time limit of the attempt, the call fails with `receipt_not_kept`; a repeat of the request gets the receipt
   * again. Requires `leader` and `toolKey`.
   */
  readonly receipts?: (receipt: Receipt) => void | Promise<void>;
  /**
   * Called when a call begins. It may return a function that is called when the call ends. Use it for spans, counters
   * or log lines. Exceptions are ignored.
   */
  readonly observe?: (call: CallStart) => ((end: CallEnd) => void) | undefined;
}

export interface CallStart {
  readonly fqn: string;
  readonly url: string;
  /** 32 bytes; undefined for unsigned calls. */
  readonly nonce: Uint8Array | undefined;
}

export interface CallEnd {
  /** Number of HTTP requests. */
  readonly attempts: number;
  /** Status of the last answer, if any. */
  readonly status: number | undefined;
  readonly ran: Ran;
  /** Variant of the result. */
  readonly tag: string | undefined;
  /** Error code of the failure. */
  readonly code: LeaderErrorCode | undefined;
  readonly milliseconds: number;
}

/** Options of one request. */
export interface CallOptions {
  /** Time limit of one attempt, in milliseconds: by default the tool's timeout plus 5 s. */
  readonly timeoutMs?: number;
  /** When to give up the whole call, including repeats: a `Date`, or milliseconds since 1970. */
  readonly deadline?: Date | number;
  readonly signal?: AbortSignal;
}

/** Options of {@link LeaderClient.invoke}. */
export interface InvokeOptions extends CallOptions, Pick<SignOptions, "nonce"> {
  /**
   * Repeats the signed request until it has a final outcome, at most until `deadline`, by default for five minutes. If
   * the server sends the name of its replay memory, the tool runs at most once, even after a crash, a shutdown or the
   * TTL. Off by default.
   */
  readonly repeat?: boolean;
}

/** Options of {@link LeaderClient.close}. */
export interface CloseOptions {
  /** Milliseconds to wait for running calls before they are aborted; 30,000 by default. */
  readonly timeoutMs?: number;
}

export const CALL_OPTIONS = {
  timeoutMs: true,
  deadline: true,
  signal: [isSignal, "an AbortSignal"],
} as const satisfies Checks<CallOptions>;
export const NONCE: Checks<Pick<SignOptions, "nonce">> = {
  nonce: [(value) => kindOf(value) === "an object", "a Uint8Array of 32 bytes or an invocation"],
};
export const INVOKE_OPTIONS = { ...CALL_OPTIONS, ...NONCE, repeat: BOOLEAN } as const satisfies Checks<InvokeOptions>;
export const LEADER_OPTIONS = {
  leader: true,
  toolKey: true,
  acceptUnverified: BOOLEAN,
  allowHttp: BOOLEAN,
  fqn: STRING,
  headerPrefix: true,
  tls: true,
  dispatcher: having("dispatch", "a dispatcher of the package undici"),
  reader: having("resolve", "a reader, such as WalrusReader of svc-runtime-storage"),
  contracts: [Array.isArray, "the list `contracts` of src/generated/contracts.ts"],
  receipts: FUNCTION,
  observe: FUNCTION,
} as const satisfies Checks<LeaderOptions>;
const LEADER_PARTS = { id: true, keyId: true, key: true } as const satisfies Checks<Leader>;
const TLS_OPTIONS = { ca: true, servername: true, cert: true, key: true } as const satisfies Checks<TlsOptions>;

function isSignal(value: unknown): boolean {
  const { aborted, addEventListener } = Object(value) as Partial<AbortSignal>;
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}

/**
 * Milliseconds until a deadline.
 *
 * @throws TypeError if the value is not a time; {@link LeaderError} `timeout` if it is in the past
 */
export function timeLeft(deadline: unknown): number {
  const at = deadline instanceof Date ? deadline.getTime() : deadline;
  const isDuration = typeof deadline === "number" && deadline > 0 && deadline <= MAX_TIMEOUT_MS;
  if (typeof at !== "number" || Number.isNaN(at) || isDuration) {
    const got = isDuration ? "a duration: add it to Date.now()" : "another value";
    throw new TypeError(`deadline: expected a valid Date or milliseconds since 1970, got ${got}`);
  }
  const left = at - Date.now();
  if (left > 0) return left;
  throw new LeaderError("timeout", "the deadline had passed before the request was sent", { ran: "no" });
}

/**
 * Checks a tool's address.
 *
 * @returns the address without fragment and trailing slashes
 * @throws TypeError for an invalid address, for one with a user name, password or query, and for `http:` to another machine unless `allowHttp` is set
 */
export function addressOf(url: unknown, { leader, allowHttp = false }: LeaderOptions): string {
  const text = String(url);
  if (!URL.canParse(text) || !/^https?:/i.test(text)) {
    const fault = /^https?:/i.test(text) ? "one that cannot be parsed" : "one without https:// or http://";
    const got = typeof url === "string" ? fault : kindOf(url);
    throw new TypeError(`url: expected an absolute URL, such as https://tools.example/sum, got ${got}`);
  }
  const { protocol, username, password, host, hostname, pathname, search } = new URL(text);
  let end = pathname.length;
  while (pathname[end - 1] === "/") end--;
  const extra = search !== "" ? "a query" : username !== "" || password !== "" ? "a user name or password" : undefined;
  if (extra !== undefined) throw new TypeError(`url: expected scheme, host and path alone, got ${extra} too`);
  if (protocol === "http:" && leader !== undefined && !allowHttp && !isLoopback(hostname)) {
    throw new TypeError(
      "url: expected https, because anyone who can read a signed request on the network can repeat it with another nonce; set `allowHttp: true` to send it over http",
    );
  }
  return `${protocol}//${host}${pathname.slice(0, end)}`;
}

/** Keys and header names of a client. */
export type Trust = ReturnType<typeof trustOf>;

/** @throws TypeError, RangeError for invalid keys, and if neither toolKey nor acceptUnverified is set */
export function trustOf(options: LeaderOptions) {
  const { leader, tls, toolKey, acceptUnverified = false, receipts, headerPrefix = DEFAULT_HEADER_PREFIX } = options;
  if (leader !== undefined) checkOptions("leader", leader, LEADER_PARTS);
  if (tls !== undefined) checkOptions("tls", tls, TLS_OPTIONS);
  if (leader !== undefined && toolKey === undefined && !acceptUnverified) {
    throw new TypeError(
      "toolKey: expected the tool's public key, got none; `acceptUnverified: true` accepts results without it",
    );
  }
  if (receipts !== undefined && (leader === undefined || toolKey === undefined)) {
    throw new TypeError("receipts: expected also `leader` and `toolKey`: only a verified result has a receipt");
  }
  if (toolKey !== undefined && acceptUnverified) {
    throw new TypeError("acceptUnverified: cannot be combined with a toolKey: leave one of them out");
  }
  return {
    headerPrefix,
    headers: new SignatureHeaders(headerPrefix),
    leader: leader && prepareLeader(leader),
    toolKeys: toolKey === undefined ? undefined : toolKeyRing(toolKey),
  };
}

/** @throws TypeError if the contracts do not include the tool's */
export function contractIn(contracts: readonly Contract[], fqn: string): Contract {
  const found = contracts.find((contract) => contract.fqn === fqn);
  if (found !== undefined) return found;
  const names = contracts.map((contract) => contract.fqn).join(", ") || "none";
  throw new TypeError(`contracts: expected a contract of ${fqn}, got ${names}`);
}
