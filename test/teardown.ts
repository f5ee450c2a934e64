/** Ends what the tests of a process have started once its last test has ended, passed or failed. */

import { after } from "node:test";
// Not the global one, which a test may have replaced.
import { setTimeout } from "node:timers";

/** Milliseconds between the last test and the end of a process that something keeps alive. */
const GRACE_MS = 30_000;

const pending = new Set<() => unknown>();

/**
 * Registers an action for the end of the process's last test, such as the close of a server. Latest first; one that fails or
 * does not settle holds up no other.
 *
 * @returns removes it, for a resource that has ended already
 */
export function atEnd(end: () => unknown): () => void {
  pending.add(end);
  return () => pending.delete(end);
}

export async function endAll(): Promise<void> {
  // Unreferenced: a process that nothing keeps alive does not wait for it.
  setTimeout(() => {
    console.error(`kept alive after the last test by ${process.getActiveResourcesInfo().join(", ")}`);
    process.exit(1);
  }, GRACE_MS).unref();
  const results = await Promise.allSettled([...pending].reverse().map(async (end) => end()));
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  if (errors.length > 0) throw new AggregateError(errors, "teardown failed");
}

// At the root of a test file: a hook within a hook would run at once. Benches use the same harness and are no tests.
if (/\.test\.[jt]s$/.test(process.argv[1] ?? "")) after(endAll);
