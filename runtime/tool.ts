/** Base class, arguments and exceptions of a tool (protocol.md sections 2 and 7). */

import type { Registry } from "prom-client";
import { requireContract } from "./contracts.js";
import { outputEncoderOf } from "./output-encoders.js";
import { StatusCode } from "./status.js";
import { NexusData, type NexusValue, OffchainToolOutput } from "./wire/bcs/data.js";
import { ErrEval } from "./wire/err-eval.js";
import { isPathText } from "./wire/fault.js";
import { type MetadataDocument, metadataDocument } from "./wire/metadata.js";
import { withoutControls } from "./wire/printable.js";
import { DEFAULT_TIMEOUT_MS } from "./wire/protocol.js";

/** Log for operators. The runtime provides a logger with the tool's name. */
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
  /** The id of the leader's capability in the allow-list. */
  readonly leaderId: string;
  /** The id of the leader's key that verified the request: a u64. */
  readonly leaderKeyId: bigint;
  /** 32 bytes: the hash over the values of all input ports. The leader signs it, the runtime recomputes it. */
  readonly inputHash: Uint8Array;
  /** 64 bytes: the leader's Ed25519 signature over `inputHash`. */
  readonly leaderSignature: Uint8Array;
  /**
   * 32 bytes, derived by the leader from the invocation. Not covered by the leader's signature (protocol.md section 4).
   */
  readonly nonce: Uint8Array;
}

/** The platform's `AbortSignal`, or the part that tools need where neither DOM nor node types are present. */
type Signal = typeof globalThis extends { readonly AbortSignal: { readonly prototype: infer Own } }
  ? Own
  : {
      readonly aborted: boolean;
      readonly reason: unknown;
      throwIfAborted(): void;
      addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
      removeEventListener(type: "abort", listener: () => void): void;
    };

/** The `reason` of an invocation's `AbortSignal`. */
export class InvocationAborted extends Error {
  override readonly name = "InvocationAborted";
  constructor(readonly reason: "timeout" | "disconnect" | "shutdown") {
    super(`the invocation was aborted: ${reason}`);
  }
}

/**
 * The second argument of `invoke`.
 *
 * @example
 * ```ts
 * import type { InvokeContext } from "svc-runtime";
 *
 * export async function pages(urls: readonly string[], context: InvokeContext) {
 *   const { signal, log } = context;
 *   log.debug({ count: urls.length, left: context.msLeft() }, "asking");
 *   return Promise.all(urls.map(async (url) => (await fetch(url, { signal })).text()));
 * }
 * ```
 */
export interface InvokeContext {
  /**
   * Fires with an {@link InvocationAborted}: at the deadline, at shutdown, and in unsigned mode when the caller
   * disconnects.
   */
  readonly signal: Signal;
  /** Time of the caller's 504, in milliseconds of this thread's `performance.now()`. */
  readonly deadline: number;
  /** Whole milliseconds until the deadline, 0 once it has passed: such as the time limit of a request. */
  msLeft(): number;
  readonly log: Logger;
  /** The authenticated caller; absent when signed requests are not required. */
  readonly auth?: AuthContext;
}

/** The part of an OpenTelemetry meter that counts and times, which needs no types of a package that may not be installed. */
export interface ToolMeter {
  createCounter(name: string, options?: MetricOptions): { add(value: number, attributes?: MetricAttributes): void };
  createHistogram(
    name: string,
    options?: MetricOptions,
  ): { record(value: number, attributes?: MetricAttributes): void };
}

/** Options of a metric of OpenTelemetry. */
export interface MetricOptions {
  readonly description?: string;
  /** In UCUM: `s`, `By`. */
  readonly unit?: string;
}

/** Attributes of one measurement. */
export type MetricAttributes = { readonly [name: string]: string | number | boolean };

/** The argument of `static create` and `static close`. */
export interface ClassContext {
  /** The log of the server; a line names the tool only if you add it. */
  readonly log: Logger;
  /**
   * The registry of prom-client to which metrics of the tool are added: that of the admin listener, or the one given to
   * `svcTools`. Absent where neither is, in the threads of an isolated tool, and in the test kit.
   */
  readonly registry?: Registry;
  /** The OpenTelemetry meter of the tool, named like it. Absent where the application has registered no meter provider. */
  readonly meter?: ToolMeter;
}

/**
 * Thrown by `authorize` to refuse a caller: answered 403 `permission_denied` with the first 1,024 characters of the
 * message as `details`.
 *
 * @example
 * ```ts
 * import { type AuthContext, PermissionDenied } from "svc-runtime";
 * import { Sum } from "./sum.js";
 *
 * export class Guarded extends Sum {
 *   override authorize({ leaderId }: AuthContext) {
 *     if (leaderId !== "cashier") throw new PermissionDenied("cashiers only");
 *   }
 * }
 * ```
 */
export class PermissionDenied extends Error {
  override readonly name: string = "PermissionDenied";
}

/**
 * Thrown by `invoke` to refuse an input that fits its type and is wrong all the same: answered 422
 * `input_deserialization_error` with path and text as `details`, like a fault that decoding finds. A caller takes that
 * answer for "the tool did not run": throw it before the tool has any effect.
 *
 * @example
 * ```ts
 * import { InvalidInput } from "svc-runtime";
 *
 * export function parsePair(pair: string) {
 *   const [base, quote] = pair.split("-");
 *   if (!base || !quote) throw new InvalidInput("currency_pair", "expected BASE-QUOTE");
 *   return { base, quote };
 * }
 * ```
 */
export class InvalidInput extends Error {
  override readonly name: string = "InvalidInput";

  /**
   * @param path of the member: `currency_pair`, `legs[1].pair`, `names["odd name"]`; empty for the whole input
   * @param problem what is expected, for the caller: its first 1,024 characters, with `?` in place of control characters
   * @throws TypeError for a path of another form
   */
  constructor(path: string, problem: string) {
    if (!isPathText(path)) throw new TypeError("InvalidInput: expected a path such as legs[1].pair, got another text");
    const text = withoutControls(problem, MAX_REFUSAL_LENGTH, "?");
    super(path === "" ? text : `${path}: ${text}`);
  }
}

/** Maximum number of characters of a refusal's text for the caller; the replay memory keeps the text. */
export const MAX_REFUSAL_LENGTH = 1024;

/**
 * Makes the reserved failure result: `return errEval("no such city")`. It is signed like a success; the caller gets the
 * variant `_err_eval` with the port `reason` (protocol.md section 2).
 *
 * The return type `never` fits every `Output`, annotated or inferred.
 *
 * @example
 * ```ts
 * import { errEval } from "svc-runtime";
 *
 * export function temperature(city: string) {
 *   return city === "Bonn" ? { ok: { celsius: 21 } } : errEval("no such city");
 * }
 * ```
 */
export function errEval(reason: string): never {
  return new ErrEval(reason) as never;
}

/**
 * Threads of an isolated tool (docs/deadlines.md).
 *
 * @example
 * ```ts
 * import { Sum } from "./sum.js";
 *
 * export class Isolated extends Sum {
 *   static override isolate() {
 *     return { threads: 2, memoryMb: 128 };
 *   }
 * }
 * ```
 */
export interface IsolateOptions {
  /** Number of threads, each for one call at a time: by default one per core, 2 to 4. */
  readonly threads?: number;
  /**
   * Limit of the JavaScript heap of one thread, in MiB: 256 by default, at least 16. Beyond it the thread ends and its
   * call fails.
   */
  readonly memoryMb?: number;
  /** Milliseconds between the deadline of a call and the termination of its thread: 1,000 by default. */
  readonly graceMs?: number;
  /** Limit of calls that wait for a thread: 100 by default. Further calls are answered 503 `overloaded`. */
  readonly queue?: number;
  /** The module that each thread loads and that calls `bootstrap` with the tool: by default the main module of node. */
  readonly entry?: string | { readonly href: string };
}

/**
 * A tool: one named, typed function served over HTTP. `svc-gen` reads `Input` and `Output` from the type arguments; the
 * runtime makes one instance for each invocation and each health check.
 *
 * @example
 * ```ts
 * import { SvcTool } from "svc-runtime";
 *
 * export class Greet extends SvcTool<{ name: string }, { ok: { text: string } }> {
 *   static override fqn() {
 *     return "xyz.demo.greet@1";
 *   }
 *
 *   static override description() {
 *     return "Greets by name.";
 *   }
 *
 *   override async invoke({ name }: { name: string }) {
 *     return { ok: { text: `Hello, ${name}!` } };
 *   }
 * }
 * ```
 */
export abstract class SvcTool<Input, Output> {
  /** Type-only member for svc-gen: an `invoke` without annotations would lose variants. Never present at run time. */
  declare readonly __io: { readonly input: Input; readonly output: Output };

  /** `domain.name@version` (protocol.md section 1). Required. */
  static fqn(): string {
    throw new TypeError('fqn() is missing: add `static override fqn() { return "domain.name.tool@1"; }`');
  }

  /** Description of the tool for people. Required, unless the class has JSDoc. */
  static description(): string {
    throw new TypeError('description() is missing: add `static override description() { return "…"; }`');
  }

  /** Relative path of the three endpoints: by default the root. */
  static path(): string {
    return "";
  }

  /** Timeout of one whole invocation, in milliseconds: 1 to 2,147,483,647. */
  static timeout(): number {
    return DEFAULT_TIMEOUT_MS;
  }

  /**
   * The environment variables that the tool needs, with what each is for: literals that svc-gen reads. A server does not
   * start without them; a name that ends in `?` is optional. Default: none.
   *
   * @example
   * ```ts
   * import { SvcTool } from "svc-runtime";
   *
   * export abstract class RateTool<Input, Output> extends SvcTool<Input, Output> {
   *   static override variables() {
   *     return { RATES_TOKEN: "Token of the rates service.", "RATES_URL?": "Another address of the service." };
   *   }
   * }
   * ```
   */
  static variables(): Readonly<Record<string, string>> {
    return {};
  }

  /** Whether this tool runs on threads of its own: by default the option of `bootstrap`. */
  static isolate(): boolean | IsolateOptions | undefined {
    return undefined;
  }

  /**
   * Makes what all calls share, such as a connection pool, and keeps it in a static member. Runs once before the first
   * call, in each process, or in each thread of an isolated tool; not for `--meta`. An exception is a start-up error.
   */
  static create(_context: ClassContext): void | Promise<void> {}

  /**
   * Releases what `create` made. Runs once after the last call has ended, within 5 s; an exception is logged. A thread
   * that is ended because of its call does not run it, nor does a process that is killed.
   */
  static close(_context: ClassContext): void | Promise<void> {}

  /**
   * Builds the metadata document that `GET /meta` answers and `--meta` prints. An override replaces it; svc-gen then
   * cannot judge `meta.json`, which `node dist/generated/server.js --meta` prints.
   *
   * @param url the address of the tool, as its caller reaches it
   * @throws TypeError for a tool without a contract
   */
  static meta(url: string): MetadataDocument {
    // biome-ignore lint/complexity/noThisInStatic: the class it is called on, not this base class
    return metadataDocument(requireContract(this.fqn()), url);
  }

  /** Makes the instance of one call or one health check. Override it to inject dependencies. */
  static async new(): Promise<SvcTool<unknown, unknown>> {
    // biome-ignore lint/complexity/noThisInStatic: the class it is called on, not this base class
    return Reflect.construct(this, []) as SvcTool<unknown, unknown>;
  }

  /**
   * Runs the tool once. An {@link InvalidInput} refuses the input; any other exception is logged and answered 500 without
   * its message.
   */
  abstract invoke(input: Input, context: InvokeContext): Output | Promise<Output>;

  /** The status of `GET /health`: by default 200. An exception is logged and answered 500. */
  health(): StatusCode | Promise<StatusCode> {
    return StatusCode.OK;
  }

  /** Refuses a caller by throwing {@link PermissionDenied}. Runs in signed mode, after authentication. */
  authorize(_context: AuthContext): void | Promise<void> {}

  /**
   * Encodes the output as the ports of the result. The default writes each port as inline JSON, in schema order. An
   * override can change a port of it, or build all ports with `OffchainToolOutput.fromPorts`. The server checks them
   * against the contract: names, order, cardinality, kinds, sizes and the types of inline values.
   *
   * @example
   * ```ts
   * import { NexusData, NexusValue } from "svc-runtime";
   * import { type Output, Sum } from "./sum.js";
   *
   * export class Shouting extends Sum {
   *   override async encodeOutput(output: Output) {
   *     const ports = await super.encodeOutput(output);
   *     return ports.tag === "ok" ? ports.withPort("label", NexusData.one(NexusValue.json('"SUM"'))) : ports;
   *   }
   * }
   * ```
   *
   * @throws {@link WireFault} `output_serialization_error` for an output that does not fit the contract
   */
  encodeOutput(output: Output): OffchainToolOutput | Promise<OffchainToolOutput> {
    const { tag, ports } = outputEncoderOf((this.constructor as typeof SvcTool).fqn()).encode(output);
    return OffchainToolOutput.fromPorts(
      tag,
      ports.map(({ name, many, values }) => [
        name,
        many ? NexusData.many(values) : NexusData.one(values[0] as NexusValue),
      ]),
    );
  }
}

/** The tool class that `bootstrap` accepts. */
export interface SvcToolClass {
  fqn(): string;
  description(): string;
  path(): string;
  timeout(): number;
  isolate?(): boolean | IsolateOptions | undefined;
  create?(context: ClassContext): void | Promise<void>;
  close?(context: ClassContext): void | Promise<void>;
  "new"(): Promise<SvcTool<unknown, unknown>>;
  meta?(url: string): unknown;
  readonly prototype: SvcTool<unknown, unknown>;
}
