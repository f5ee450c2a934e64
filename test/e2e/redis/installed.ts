/** Which programs of the tests with Redis this machine has. A suite without its program is skipped with a loud line. */

import { spawnSync } from "node:child_process";
import { after } from "node:test";

const has = (command: string, version: string) => spawnSync(command, [version]).status === 0;

/** The server under test: Debian's `redis-server`, or the program that `SVC_TEST_REDIS` names. */
export const REDIS = process.env.SVC_TEST_REDIS ?? "redis-server";
/** A second engine for full runs, such as a `valkey-server`. */
export const VALKEY = process.env.SVC_TEST_VALKEY;

const MISSING = has(REDIS, "--version")
  ? undefined
  : "NOT TESTED: redis-server is not installed (apt-get install redis-server)";

let said = false;

/** Options of a test or suite that needs a Redis server. */
export function withRedis(): { readonly skip: string | false } {
  if (MISSING !== undefined && !said) {
    said = true;
    const file = process.argv[1]?.split("/").slice(-2).join("/");
    after(() => console.error(`\n${MISSING}: ${file} was not run\n`));
  }
  return { skip: MISSING ?? false };
}
