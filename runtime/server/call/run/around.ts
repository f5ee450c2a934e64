/** The option `around`: a function of the server's operator that runs around the `invoke` of every tool. */

import type { InputOf } from "svc-client/internal/leader/tool-types";
import { type InvokeContext, type Logger, RateLimited, type SvcToolClass } from "../../../tool.js";
import { type Answer, errorAnswer } from "../messages.js";

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
  is<Tool extends SvcToolClass>(tool: Tool): this is AroundCall<InputOf<Tool>, Tool["prototype"]["__io"]["output"]>;
}

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

/** The call that a run passes to `around`. */
export class OpenCall implements AroundCall {
  output: unknown;

  constructor(
    readonly fqn: string,
    readonly input: unknown,
    readonly context: InvokeContext,
    readonly stored: boolean,
    readonly tool: SvcToolClass,
  ) {}

  is<Tool extends SvcToolClass>(tool: Tool): this is AroundCall<InputOf<Tool>, Tool["prototype"]["__io"]["output"]> {
    return this.tool === (tool as SvcToolClass);
  }
}

const SKIPPED = "around() returned without calling next(), so the tool did not run: throw an error to refuse a call";
const LATE = "around() threw an error after next(); the answer is that of the tool";

/**
 * Calls `around`. After `next`, the answer is that of the run, whatever the function does.
 *
 * @param failed answer for an error that `around` throws before `next`
 */
export async function runAround(
  around: Around,
  call: OpenCall,
  { run, failed, log }: { run(): Promise<Answer>; failed(error: unknown): Answer; readonly log: Logger },
): Promise<Answer> {
  let running: Promise<Answer> | undefined;
  const next = async (): Promise<CallEnd> => {
    running ??= run();
    const { status, code } = await running;
    return { status, code };
  };
  try {
    await around(call, next);
  } catch (error) {
    if (running === undefined)
      return error instanceof RateLimited ? errorAnswer("rate_limited", error.message) : failed(error);
    log.error({ err: error, phase: "around" }, LATE);
  }
  return running ?? failed(new Error(SKIPPED));
}
