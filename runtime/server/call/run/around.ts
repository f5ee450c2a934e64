/** The option `around`: a function of the server's operator that runs around the `invoke` of every tool. */

import type { Around, AroundCall, CallEnd, Logger } from "../../../tool.js";
import type { Answer } from "../messages.js";

const SKIPPED = "around() returned without calling next(), so the tool did not run: throw an error to refuse a call";
const LATE = "around() threw an error after next(); the answer is that of the tool";

/**
 * Calls `around`. After `next`, the answer is that of the run, whatever the function does. Without `next`, the answer is
 * that of the refusal, and a later `next` runs nothing, because a retry may run by then.
 *
 * @param failed answer for an error that `around` throws before `next`
 */
export async function runAround(
  around: Around,
  call: AroundCall,
  { run, failed, log }: { run(): Promise<Answer>; failed(error: unknown): Answer; readonly log: Logger },
): Promise<Answer> {
  let running: Promise<Answer> | undefined;
  const next = async (): Promise<CallEnd> => {
    running ??= run();
    const { status, code } = await running;
    return { status, code };
  };
  // A promise also for an error that cannot be read, so that a later `next` finds the call ended.
  const refuse = async (error: unknown) => failed(error);
  try {
    await around(call, next);
  } catch (error) {
    if (running !== undefined) log.error({ err: error, phase: "around" }, LATE);
    running ??= refuse(error);
  }
  running ??= refuse(new Error(SKIPPED));
  return running;
}
