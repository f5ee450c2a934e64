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
const NO_GATEWAY = has("nginx", "-v") ? undefined : "NOT TESTED: nginx is not installed (apt-get install nginx-light)";

let said = false;

/** Options of a test or suite that needs a Redis server, and nginx where it has a gateway. */
export function withRedis({ gateway = false } = {}): { readonly skip: string | false } {
  const why = MISSING ?? (gateway ? NO_GATEWAY : undefined);
  if (why !== undefined && !said) {
    said = true;
    const file = process.argv[1]?.split("/").slice(-2).join("/");
    after(() => console.error(`\n${why}: ${file} was not run\n`));
  }
  return { skip: why ?? false };
}
