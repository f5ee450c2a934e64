import { NexusData, type NexusValue, OffchainToolOutput } from "svc-client/internal/wire/bcs/data";
import { isPathText } from "svc-client/internal/wire/fault";
import { withoutControls } from "svc-client/internal/wire/printable";
import { DEFAULT_TIMEOUT_MS } from "svc-client/internal/wire/protocol";
import { requireContract } from "./contracts.js";
import { outputEncoderOf } from "./output-encoders.js";
import { type MetadataDocument, metadataDocument } from "./server/wire/metadata.js";
import { ErrEval } from "./server/wire/output.js";
import { StatusCode } from "./status.js";

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
  /** Id of the leader in the allow-list. */
  readonly leaderId: string;
  /** Id of the leader's key that verified the request: a u64. */
  readonly leaderKeyId: bigint;
  /** 32 bytes: hash of the values of all input ports. The leader signs it, and the runtime recomputes it. */
  readonly inputHash: Uint8Array;
  /** 64 bytes: the leader's Ed25519 signature over `inputHash`. */
  readonly leaderSignature: Uint8Array;
  /** 32 bytes, derived by the leader from the invocation. Not covered by the leader's signature (protocol.md section 4). */
  readonly nonce: Uint8Array;
}

/** The platform's `AbortSignal`, or its essential members where neither DOM nor Node types are present. */
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
 *   log.debug({ count: urls.length, left: context.msLeft() }, "fetching pages");
 *   return Promise.all(urls.map(async (url) => (await fetch(url, { signal })).text()));
 * }
 * ```
 */
export interface InvokeContext {
  /**
   * Fires with an {@link InvocationAborted}: at the deadline, at shutdown, and in unsigned mode if the caller
   * disconnects.
   */
  readonly signal: Signal;
  /** Time at which the caller gets a 504, in milliseconds on this thread's `performance.now()` clock. */
  readonly deadline: number;
  /** Whole milliseconds until the deadline; 0 after it. Use it as the time limit of a request. */
  msLeft(): number;
  readonly log: Logger;
  /** The authenticated caller; absent if signed requests are not required. */
  readonly auth?: AuthContext;
}

/** Counters and histograms of an OpenTelemetry meter. Declared here because `@opentelemetry/api` may not be installed. */
export interface ToolMeter {
  createCounter(name: string, options?: MetricOptions): { add(value: number, attributes?: MetricAttributes): void };
  createHistogram(
    name: string,
    options?: MetricOptions,
  ): { record(value: number, attributes?: MetricAttributes): void };
}

/** Options of an OpenTelemetry metric. */
export interface MetricOptions {
  readonly description?: string;
  /** A UCUM unit, such as `s` or `By`. */
  readonly unit?: string;
}

/** Attributes of one measurement. */
export type MetricAttributes = { readonly [name: string]: string | number | boolean };

/** The part of a registry of `@prometheus-io/client` or prom-client that svc-runtime and tools use. */
export interface MetricRegistry {
  readonly contentType: string;
  metrics(): Promise<string>;
  /** Adds a counter, gauge, histogram or summary of the same library. */
  registerMetric(metric: object): void;
}

/** The argument of `static create` and `static close`. */
export interface ClassContext {
  /** Log of the server. Its lines do not contain the name of the tool. */
  readonly log: Logger;
  /**
   * Registry for the tool's own metrics: that of the admin listener, or the one passed to `svcTools`. Absent if there is
   * neither or no metrics library, and in the test kit.
   */
  readonly registry?: MetricRegistry;
  /** OpenTelemetry meter with the tool's name. Absent unless the application has registered a meter provider. */
  readonly meter?: ToolMeter;
}

/**
 * Thrown by `authorize` to refuse a caller. The answer is 403 `permission_denied` with the first 1,024 characters of
 * the message as `details`.
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
 * Thrown by the server's option `around` to refuse a call for now, because a budget is used up. The answer is 429
 * `rate_limited` with the first 1,024 characters of the message as `details`. It is not stored, so a retry of the same
 * request can run. `LeaderClient` retries by itself only without a message.
 */
export class RateLimited extends Error {
  override readonly name: string = "RateLimited";
}

/**
 * Thrown by `invoke` to refuse an input that matches its type but is invalid. The answer is 422
 * `input_deserialization_error` with path and problem as `details`, as for an input that does not decode. To a caller a
 * 422 means that the tool did not run, so throw it before the tool has any effect.
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
   * @param path path of the invalid member: `currency_pair`, `legs[1].pair`, `names["odd name"]`; empty for the whole
   * input
   * @param problem description of the expected value. The caller gets at most 1,024 characters, with `?` for control
   * characters
   * @throws TypeError for a path of another form
   */
  constructor(path: string, problem: string) {
    if (!isPathText(path))
      throw new TypeError("InvalidInput: expected a path such as legs[1].pair, got a string of another form");
    const text = withoutControls(problem, MAX_REFUSAL_LENGTH, "?");
    super(path === "" ? text : `${path}: ${text}`);
  }
}

/** Maximum number of characters of a rejection's text, which is sent to the caller and kept in the replay memory. */
export const MAX_REFUSAL_LENGTH = 1024;

/**
 * Creates the reserved failure result: `return errEval("no such city")`. The caller gets the variant `_err_eval` with
 * the port `reason`, signed like any result (protocol.md section 2).
 *
 * The return type `never` is assignable to every `Output`, annotated or inferred.
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
  /**
   * Type-only member, from which svc-gen reads the types: an inferred `invoke` may not show all variants. Never present
   * at run time.
   */
  declare readonly __io: { readonly input: Input; readonly output: Output };

  /** `domain.name@version` (protocol.md section 1). Required. */
  static fqn(): string {
    throw new TypeError('fqn() is missing: add `static override fqn() { return "domain.name.tool@1"; }`');
  }

  /** Human-readable description of the tool. Required, unless the class has JSDoc. */
  static description(): string {
    throw new TypeError('description() is missing: add `static override description() { return "…"; }`');
  }

  /** Relative path before `/invoke`, `/meta` and `/health`: by default the root. */
  static path(): string {
    return "";
  }

  /** Time limit of one call, in milliseconds: 1 to 2,147,483,647. The default is 10,000. */
  static timeout(): number {
    return DEFAULT_TIMEOUT_MS;
  }

  /**
   * Environment variables that the tool needs, each with its purpose. svc-gen reads them, so they must be literals. A
   * server does not start without them, except those whose name ends in `?`. The default is none.
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

  /**
   * Creates resources that all calls share, such as a connection pool; keep them in static members. Called once before
   * the first call, once in each process. Not called for `--meta`. An exception is a start-up error.
   */
  static create(_context: ClassContext): void | Promise<void> {}

  /**
   * Releases the resources of `create`. Called once after the last call has ended, with a time limit of 5 s; an
   * exception is logged. Not called in a process that is killed.
   */
  static close(_context: ClassContext): void | Promise<void> {}

  /**
   * Builds the metadata document of `GET /meta` and `--meta`. svc-gen cannot derive `meta.json` for a class that
   * overrides this method (SVC121); `node dist/generated/server.js --meta` prints the document.
   *
   * @param url address at which the caller reaches the tool
   * @throws TypeError if the tool has no contract
   */
  static meta(url: string): MetadataDocument {
    // biome-ignore lint/complexity/noThisInStatic: the class on which the method is called, not this base class
    return metadataDocument(requireContract(this.fqn()), url);
  }

  /** Creates the instance for one call or one health check. Override it to inject dependencies. */
  static async new(): Promise<SvcTool<unknown, unknown>> {
    // biome-ignore lint/complexity/noThisInStatic: the class on which the method is called, not this base class
    return Reflect.construct(this, []) as SvcTool<unknown, unknown>;
  }

  /**
   * Runs the tool once. Throw {@link InvalidInput} to refuse the input. Any other exception is logged, and the caller
   * gets a 500 without its message.
   */
  abstract invoke(input: Input, context: InvokeContext): Output | Promise<Output>;

  /** Returns the status of `GET /health`: 200 by default. An exception is logged, and the status is 500. */
  health(): StatusCode | Promise<StatusCode> {
    return StatusCode.OK;
  }

  /**
   * Rejects a caller by throwing {@link PermissionDenied}; by default permits every caller. A value other than
   * `undefined` also refuses the caller. Called in signed mode, after authentication; a server without signatures
   * never calls it.
   *
   * Declare the second parameter, without a default value, to decide by the input too: it is then decoded first, and an
   * input that does not conform is answered with 422.
   */
  authorize(_context: AuthContext, _input?: Input): void | Promise<void> {}

  /**
   * Encodes the output as the ports of the result. By default, each port is written as inline JSON, in schema order. An
   * override can change single ports, or build all of them with `OffchainToolOutput.fromPorts`. The server checks the
   * ports against the contract: names, order, one or many values, kinds, sizes and the types of inline values.
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

/** A tool class, as accepted by `bootstrap`. */
export interface SvcToolClass {
  fqn(): string;
  description(): string;
  path(): string;
  timeout(): number;
  create?(context: ClassContext): void | Promise<void>;
  close?(context: ClassContext): void | Promise<void>;
  "new"(): Promise<SvcTool<unknown, unknown>>;
  meta?(url: string): unknown;
  readonly prototype: SvcTool<unknown, unknown>;
}

/** A call of which the caller is authenticated and permitted, and the input is decoded. */
export interface AroundCall<Input = unknown, Output = unknown> {
  readonly fqn: string;
  /** The object that `invoke` gets. Do not change it. */
  readonly input: Input;
  /** The second argument of `invoke`, with the caller in `auth`. */
  readonly context: InvokeContext;
  /**
   * Whether another leader or key repeats a call that has run. The caller gets the stored result, so `next` runs nothing
   * and `output` stays undefined.
   */
  readonly stored: boolean;
  /** What `invoke` returned: undefined before `next` resolves, and for a failed call. The result is encoded by then. */
  readonly output: Output | undefined;
  /** Whether this is a call of the class; narrows the types of `input` and `output`. */
  is<Tool extends SvcToolClass>(tool: Tool): this is CallOf<Tool>;
}

/** A call of a class. */
export type CallOf<Tool extends SvcToolClass> = AroundCall<
  Tool["prototype"]["__io"]["input"],
  Tool["prototype"]["__io"]["output"]
>;

/** How a call ended. */
export interface CallEnd {
  readonly status: number;
  /** Error code; undefined for a result. */
  readonly code: string | undefined;
}

/**
 * Runs around each call: `next` runs the tool once, and never rejects. Throw `PermissionDenied`, `InvalidInput` or
 * `RateLimited` before `next` to refuse the call.
 */
export type Around = (call: AroundCall, next: () => Promise<CallEnd>) => unknown;
