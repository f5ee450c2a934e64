/** Signals of a server: SIGTERM and SIGINT stop it, SIGUSR2 changes the log level. */

import type { ShutdownSummary } from "./http/shutdown.js";
import { toggleDebug } from "./log/log.js";
import { exitWith } from "./log/log-destination.js";
import type { ServerLogger } from "./log/safe-logger.js";

/** Exit code if the shutdown cut a request short; otherwise it is 0. */
const EXIT_CUT = 3;

/**
 * Time, in milliseconds, within which a repeated signal is ignored: npm forwards a signal that the terminal has already
 * sent to every process of the group.
 */
const ECHO_MS = 500;

/**
 * Time limit, in milliseconds, for the start to finish after a signal: a `create()` that waits for a database may never
 * end.
 */
const START_LIMIT_MS = 5_000;

/** Handled signals and their numbers. The exit code is 128 plus the number. */
const SIGNALS = [
  ["SIGINT", 2],
  ["SIGTERM", 15],
] as const;

type Starting = Promise<{ close(signal: NodeJS.Signals): Promise<ShutdownSummary> }>;

/** The servers of this process. */
const servers: Starting[] = [];

/**
 * Stops a server at the first signal. When all servers of the process have stopped, exits with 0, or with {@link
 * EXIT_CUT} if a request was cut short. A second signal exits at once with 128 plus the signal's number. A signal during
 * a start takes effect after it, or ends the process if that takes longer than {@link START_LIMIT_MS}.
 */
export function stopOnSignals(starting: Starting): void {
  servers.push(starting);
  if (servers.length > 1) return;
  let first: number | undefined;
  for (const [signal, number] of SIGNALS) {
    process.on(signal, () => {
      const now = performance.now();
      if (first !== undefined) {
        if (now - first > ECHO_MS) process.exit(128 + number);
        return;
      }
      first = now;
      const late = setTimeout(() => exitLate(signal, number), START_LIMIT_MS);
      void Promise.allSettled(servers).then(() => clearTimeout(late));
      void Promise.all(servers.map(async (each) => (await each).close(signal))).then(
        (ends) => process.exit(ends.every(({ cut }) => cut === 0) ? 0 : EXIT_CUT),
        // bootstrap reports a failed start and exits.
        () => {},
      );
    });
  }
}

function exitLate(signal: string, number: number): void {
  const text = `cannot start: received ${signal} while starting, and the start did not end within ${START_LIMIT_MS / 1000} s\n`;
  exitWith(128 + number, text);
}

let isToggled = false;

/**
 * Raises the log level of the process to `debug` at the first SIGUSR2, and restores it at the next. Windows has no such
 * signal.
 *
 * @param isOwn whether the logger was set in code; then its level is not changed
 */
export function toggleDebugOnSignal(log: ServerLogger, isOwn: boolean): void {
  if (isToggled) return;
  isToggled = !isOwn;
  process.on("SIGUSR2", () => {
    if (isOwn) log.warn({}, "SIGUSR2 was ignored: the application passed its own logger, and controls the log level");
    else toggleDebug(log);
  });
}
