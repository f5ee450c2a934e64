import { REDIS_VARIABLES, StartupError, textKind } from "svc-runtime/internal/redis";
import { type RedisReplayOptions, RedisReplayStore } from "./redis-replay-store.js";

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLES: Record<Exclude<keyof RedisReplayOptions, "client">, string> = REDIS_VARIABLES;

/**
 * Creates the store that the environment configures.
 *
 * @throws StartupError for an invalid setting; the message names the variable and contains no password
 */
export function redisFromEnv(env: Environment = process.env): RedisReplayStore {
  const options = Object.entries(VARIABLES).flatMap(([option, variable]) => {
    const text = env[variable];
    if (text === undefined) return [];
    return [[option, option.endsWith("Ms") ? numberOf(variable, text) : text] as const];
  });
  try {
    return new RedisReplayStore(Object.fromEntries(options));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StartupError(inVariables(error.message));
  }
}

function numberOf(variable: string, text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new StartupError(`${variable}: expected a number of milliseconds, such as 1000, got ${textKind(text)}`);
  return Number(text);
}

/** Replaces names of options in a message by names of variables. */
function inVariables(message: string): string {
  const named = Object.entries(VARIABLES).reduce(
    (text, [option, variable]) => text.replace(new RegExp(`\\b${option}\\b`, "g"), variable),
    message,
  );
  return named === message ? `${REDIS_VARIABLES.url}: ${message}` : named;
}
