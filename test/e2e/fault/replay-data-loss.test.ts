/** A Redis that fails in the middle of a load and loses data, or may lose it. */

import { describe } from "node:test";
import { withRedis } from "../redis/installed.js";
import { restart, row, testFaults } from "./redis-faults.js";

describe("a shared Redis under load that may lose data", withRedis(), () => {
  const durable = { redis: { directives: { appendonly: "yes", appendfsync: "everysec" } } };
  testFaults({
    "killed and restarted empty": { isOut: true, make: () => row(restart) },
    "killed and restarted from its append-only file": { isOut: true, make: () => row(restart, durable) },
    FLUSHALL: { isOut: true, make: () => row(({ client }) => client.flushall()) },
  });
});
