/** What SIGTERM and SIGINT do to a process that serves. */

import type { ShutdownSummary } from "./http/shutdown.js";

/** The exit code of a process that had to cut a request short at its end; 0 when all were finished. */
export const EXIT_CUT = 3;

/** A signal that comes again within this time is the same one: npm passes on what the terminal has sent to everybody. */
const ECHO_MS = 500;

/** With the numbers that shells add to 128. */
const SIGNALS = [
  ["SIGINT", 2],
  ["SIGTERM", 15],
] as const;

/**
 * Stops a server at the first signal, then ends the process with 0, or {@link EXIT_CUT} when something was cut short. A
 * second signal ends it at once with 128 and the signal's number. A signal during the start lets the start end first.
 */
export function stopOnSignals(starting: Promise<{ close(signal: NodeJS.Signals): Promise<ShutdownSummary> }>): void {
  let first: number | undefined;
  for (const [signal, number] of SIGNALS) {
    process.on(signal, () => {
      const now = performance.now();
      if (first !== undefined) {
        if (now - first > ECHO_MS) process.exit(128 + number);
        return;
      }
      first = now;
      void starting.then(
        (server) => server.close(signal).then(({ cut }) => process.exit(cut === 0 ? 0 : EXIT_CUT)),
        // A start that fails ends the process with its own message.
        () => {},
      );
    });
  }
}
