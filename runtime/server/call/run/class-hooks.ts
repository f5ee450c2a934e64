/**
 * Calls `static create()` and `static close()` of tool classes, which set up and release resources for all calls.
 */

import { endsWithin } from "../../../time-limit.js";
import type { ClassContext, SvcToolClass } from "../../../tool.js";
import { StartupError } from "../../errors/startup-error.js";
import { loadOpenTelemetry } from "../../log/open-telemetry.js";

/** Time limit for `close()`, in milliseconds. */
export const CLOSE_LIMIT_MS = 5_000;
/** Log message for a `close()` that exceeds its limit. */
export const CLOSE_OVERDUE = "close() of the tool exceeded its time limit; the shutdown continues without it";
/** Milliseconds after which a start that waits for `create()` is logged. */
const CREATE_NOTICE_MS = 10_000;

export interface HookedTool {
  readonly fqn: string;
  readonly tool: SvcToolClass;
}

/** Reference count of one class. `create()` is called for the first use, `close()` after the last. */
interface ClassUse {
  count: number;
  /** The last `create()` or `close()`, for which the next one waits. */
  last: Promise<void>;
}

const classes = new WeakMap<SvcToolClass, ClassUse>();

/**
 * Calls `create()` of each class that is not in use.
 *
 * @returns a function that ends these uses and calls `close()` of each class that has no other use. It never rejects.
 * @throws {@link StartupError} if a `create()` fails. The other classes are closed first; one whose `create()` is still
 * running has the time limit of `close()` and is closed when it ends
 */
export async function createClasses(
  tools: readonly HookedTool[],
  context: Omit<ClassContext, "meter">,
): Promise<() => Promise<void>> {
  const creations = tools.map((tool) => ({ tool, created: acquire(tool, context) }));
  try {
    await Promise.all(creations.map(({ created }) => created));
  } catch (error) {
    const releases = creations.map(({ tool, created }) =>
      created.then(
        () => releaseClass(tool, context),
        () => {},
      ),
    );
    await endsWithin(CLOSE_LIMIT_MS, Promise.all(releases));
    throw error;
  }
  return async () => {
    await Promise.all(tools.map((tool) => releaseClass(tool, context)));
  };
}

async function acquire(hooked: HookedTool, context: ClassContext): Promise<void> {
  const users = classes.get(hooked.tool) ?? { count: 0, last: Promise.resolve() };
  classes.set(hooked.tool, users);
  if (users.count++ === 0) users.last = users.last.then(() => create(hooked, context));
  const { last } = users;
  try {
    await last;
  } catch (error) {
    if (--users.count === 0) users.last = Promise.resolve();
    throw error;
  }
}

async function create({ fqn, tool }: HookedTool, given: ClassContext): Promise<void> {
  const { log } = given;
  const notice = () => log.warn({ tool: fqn }, "the server is not started yet: create() of the tool has not returned");
  const timer = setTimeout(notice, CREATE_NOTICE_MS);
  try {
    const context = await withMeter(fqn, given);
    await tool.create?.(context);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new StartupError(`create() of ${fqn} failed: ${message}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function withMeter(fqn: string, context: ClassContext): Promise<ClassContext> {
  const api = await loadOpenTelemetry("metrics", context.log);
  return api === undefined ? context : { ...context, meter: api.metrics.getMeter(fqn) };
}

function releaseClass(hooked: HookedTool, context: ClassContext): Promise<void> {
  const users = classes.get(hooked.tool) as ClassUse;
  if (--users.count === 0) users.last = users.last.then(() => close(hooked, context));
  return users.last;
}

/** Calls `close()` of a class. Never rejects: errors and timeouts are logged, because no caller can handle them. */
async function close({ fqn, tool }: HookedTool, given: ClassContext): Promise<void> {
  const { log } = given;
  const closed = async () => {
    try {
      const context = await withMeter(fqn, given);
      await tool.close?.(context);
    } catch (error) {
      log.error({ err: error, tool: fqn }, "close() of the tool failed");
    }
  };
  if (await endsWithin(CLOSE_LIMIT_MS, closed())) return;
  log.warn({ tool: fqn, limitMs: CLOSE_LIMIT_MS }, CLOSE_OVERDUE);
}
