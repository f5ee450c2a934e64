/** What a tool author extends, receives and throws (protocol.md sections 2 and 7). */

import type { StatusCode } from "./status.js";
import type { OffchainToolOutput } from "./wire/data.js";
import { ErrEval } from "./wire/err-eval.js";

/** The default of `timeout()`: 10 s for construction, authorize, decoding, invoke and encoding together. */
export const DEFAULT_TIMEOUT_MS = 10_000;

/** Where a tool writes what an operator should read. The runtime gives one that carries the tool's name. */
export interface Logger {
  debug(fields: object, message?: string): void;
  debug(message: string): void;
  info(fields: object, message?: string): void;
  info(message: string): void;
  warn(fields: object, message?: string): void;
  warn(message: string): void;
  error(fields: object, message?: string): void;
  error(message: string): void;
}

/** The authenticated caller of a signed request (protocol.md section 7). */
export interface AuthContext {
  /** The id of the leader's capability, as in the allow-list. */
  readonly leaderId: string;
  /** The leader's key that verified the request: a u64. */
  readonly leaderKeyId: bigint;
  /** 32 bytes: the hash over all input ports that the leader signed and the runtime rebuilt. */
  readonly inputHash: Uint8Array;
  /** 64 bytes: the leader's Ed25519 signature over `inputHash`. */
  readonly leaderSignature: Uint8Array;
  /** 32 bytes: derived by the leader from the invocation. Not covered by the leader's signature (protocol.md section 4). */
  readonly nonce: Uint8Array;
}

/** The platform's `AbortSignal`; what tools need of it where a program has the types of neither DOM nor node. */
type Signal = typeof globalThis extends { readonly AbortSignal: { readonly prototype: infer Own } }
  ? Own
  : {
      readonly aborted: boolean;
      readonly reason: unknown;
      throwIfAborted(): void;
      addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
      removeEventListener(type: "abort", listener: () => void): void;
    };

/** Why an invocation's `AbortSignal` fired: its `reason` is one of these. */
export class InvocationAborted extends Error {
  override readonly name = "InvocationAborted";
  constructor(readonly reason: "timeout" | "disconnect" | "shutdown") {
    super(`the invocation was aborted: ${reason}`);
  }
}

/** The second argument of `invoke`. */
export interface InvokeContext {
  /** Fires with an {@link InvocationAborted}: at the deadline, at shutdown, and in unsigned mode when the caller leaves. */
  readonly signal: Signal;
  /** When the caller gets its 504, on the clock of this thread's `performance.now()`, in milliseconds. */
  readonly deadline: number;
  readonly log: Logger;
  /** The authenticated caller; absent when signed requests are not required. */
  readonly auth?: AuthContext;
}

/**
 * Thrown by `authorize` to refuse a caller: answered 403 `permission_denied` with this message as `details`, of which the
 * first 1,024 characters are sent.
 */
export class PermissionDenied extends Error {
  override readonly name: string = "PermissionDenied";
}

/**
 * The reserved failure result, for a tool that cannot answer: `return errEval("no such city")`. It is signed like a
 * success and reaches the caller as variant `_err_eval` with the port `reason` (protocol.md section 2).
 *
 * Typed `never` so that it fits every `Output`, annotated or inferred.
 */
export function errEval(reason: string): never {
  return new ErrEval(reason) as never;
}

/** The threads of a tool that does not run on the main thread (docs/operations.md, "Isolation and deadlines"). */
export interface IsolateOptions {
  /** Calls that run at once, each on a thread of its own: by default one for each core, 2 to 4. */
  readonly threads?: number;
  /** MiB of JavaScript heap of one thread: 256 by default, at least 16. Beyond it the thread ends and its call fails. */
  readonly memoryMb?: number;
  /** Milliseconds that a call has after its deadline to end by itself: 1,000 by default. Then its thread is ended. */
  readonly graceMs?: number;
  /** Calls that may wait for a thread: 100 by default. One more is answered 503 `overloaded`. */
  readonly queue?: number;
  /** The module that each thread loads and that calls `bootstrap` with the tool: by default the one node was started with. */
  readonly entry?: string | { readonly href: string };
}

/**
 * A tool: one typed function with a name, served over HTTP. `svc-gen` reads `Input` and `Output` from the type
 * arguments; the runtime makes one instance for each invocation and each health check.
 */
export abstract class SvcTool<Input, Output> {
  /** Carries the types to svc-gen: an un-annotated `invoke` would lose variants. Never present at run time. */
  declare readonly __io: { readonly input: Input; readonly output: Output };

  /** `domain.name@version` (protocol.md section 1). Required. */
  static fqn(): string {
    throw new TypeError('fqn() is missing: add `static override fqn() { return "domain.name.tool@1"; }`');
  }

  /** What the tool does, for people. Required (or the JSDoc of the class). */
  static description(): string {
    throw new TypeError('description() is missing: add `static override description() { return "…"; }`');
  }

  /** Relative path of the three endpoints, by default the root. */
  static path(): string {
    return "";
  }

  /** Milliseconds for one invocation as a whole: 1 to 2,147,483,647. */
  static timeout(): number {
    return DEFAULT_TIMEOUT_MS;
  }

  /** Whether this tool runs on threads of its own; the option of `bootstrap` when it does not say. */
  static isolate(): boolean | IsolateOptions | undefined {
    return undefined;
  }

  /** Makes an instance; override it to give the tool its dependencies. */
  static async new(): Promise<SvcTool<unknown, unknown>> {
    // biome-ignore lint/complexity/noThisInStatic: the class it is called on, not this base class
    return Reflect.construct(this, []) as SvcTool<unknown, unknown>;
  }

  /** Runs the tool once. What it throws is logged and answered 500 without a word of it. */
  abstract invoke(input: Input, context: InvokeContext): Output | Promise<Output>;

  /** The status that `GET /health` answers. */
  abstract health(): StatusCode | Promise<StatusCode>;

  /** Refuses a caller by throwing {@link PermissionDenied}. Runs in signed mode, after authentication. */
  authorize(_context: AuthContext): void | Promise<void> {}

  /**
   * Turns the result into ports. By default the runtime writes it as inline JSON in schema order; an override may build
   * explicit ports with `OffchainToolOutput.fromPorts`, which are checked against the contract.
   */
  encodeOutput(output: Output): Output | OffchainToolOutput | Promise<Output | OffchainToolOutput> {
    return output;
  }
}

/** A tool class, as `bootstrap` takes it. */
export interface SvcToolClass {
  fqn(): string;
  description(): string;
  path(): string;
  timeout(): number;
  isolate?(): boolean | IsolateOptions | undefined;
  "new"(): Promise<SvcTool<unknown, unknown>>;
  /** Replaces the metadata document that svc-gen derived. Optional, and rarely a good idea: `meta.json` then differs. */
  meta?(url: string): unknown;
  readonly prototype: SvcTool<unknown, unknown>;
}
