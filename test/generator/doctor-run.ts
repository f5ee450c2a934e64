/** Runs `svc-gen doctor`. */

import assert from "node:assert/strict";
import { svcGenIn } from "./run-cli.js";

interface Check {
  readonly name: string;
  readonly ok: boolean | null;
  readonly detail: string;
  readonly next: string;
}

/** Checks by name, and the names of those that failed. */
export async function doctorIn(cwd: string, args: readonly string[], env?: Record<string, string>) {
  const { code, out, err } = await svcGenIn(cwd, ["doctor", "--json", ...args], env && { env });
  assert.equal(err, "");
  const { checks } = JSON.parse(out) as { checks: Check[] };
  const failed = checks.filter(({ ok }) => ok === false);
  assert.equal(code, failed.length > 0 ? 1 : 0);
  for (const { next, name } of failed) assert.notEqual(next, "", `${name} says what to do`);
  const of = (name: string) => checks.find((check) => check.name === name) ?? assert.fail(`no check ${name}: ${out}`);
  return { code, checks, failed: failed.map(({ name }) => name), of, out };
}
