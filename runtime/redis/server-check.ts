/** Checks that a Redis server is suitable for a replay store: a supported version, a primary, no eviction. */

import { asciiText } from "svc-runtime/internal/redis";

export interface ServerVerdict {
  /** Reason why the server cannot be used. */
  readonly fault?: string;
  readonly warnings: readonly string[];
  /** Name and version, for the log. */
  readonly server: string;
}

const MIN_REDIS = [7, 0] as const;
const MIN_VALKEY = [7, 2] as const;

/**
 * Checks a server by its `INFO`.
 *
 * @param facts lines of `INFO`
 */
export function checkServer(facts: ReadonlyMap<string, string>): ServerVerdict {
  const valkey = facts.get("valkey_version");
  const version = valkey ?? facts.get("redis_version") ?? "";
  const name = valkey === undefined ? "Redis" : "Valkey";
  const least = valkey === undefined ? MIN_REDIS : MIN_VALKEY;
  const fault = versionFault(name, version, least) ?? roleFault(facts) ?? policyFault(facts);
  const warnings: string[] = [];
  if (facts.get("maxmemory") === "0") {
    warnings.push(
      "maxmemory is not set, so the memory of Redis is unlimited: set it, with maxmemory-policy noeviction",
    );
  }
  if (!facts.has("maxmemory_policy"))
    warnings.push("Redis does not report its maxmemory-policy: make sure that it is noeviction");
  if (!facts.has("run_id")) {
    warnings.push("Redis does not report its run_id, so a restart is detected only if it lost all data");
  }
  return { ...(fault !== undefined && { fault }), warnings, server: `${name} ${printable(version)}` };
}

/** Reason why the memory policy makes the server unusable; undefined if it does not. */
export function policyFault(facts: ReadonlyMap<string, string>): string | undefined {
  const policy = facts.get("maxmemory_policy");
  return policy === undefined || policy === "noeviction"
    ? undefined
    : `maxmemory-policy is ${printable(policy)}, so Redis may delete entries that are still needed: set it to noeviction`;
}

function versionFault(name: string, version: string, least: readonly [number, number]): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > least[0] || (major === least[0] && minor >= least[1]);
  return isEnough
    ? undefined
    : `expected ${name} ${least.join(".")} or later, got ${printable(version) || "no version"}`;
}

function roleFault(facts: ReadonlyMap<string, string>): string | undefined {
  if (facts.get("cluster_enabled") === "1") return "expected a single server or Sentinels, got a cluster node";
  return facts.get("role") === "master" ? undefined : "expected a primary, got a replica";
}

const printable = (text: string) => asciiText(text, 40);
