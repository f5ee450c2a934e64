/** The default level of the log, the bound of its buffer, and how deep it redacts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { initLogger } from "#runtime/server/log/log.js";
import { LogDestination } from "#runtime/server/log/log-destination.js";
import { SafeLogger } from "#runtime/server/log/safe-logger.js";
import { holdTimers } from "./held-timers.js";

test("SVC_LOG_LEVEL: info by default, trace to fatal, or silent", () => {
  const isEnabled = (env: Readonly<Record<string, string>>, level: string) => {
    const logger = initLogger(env);
    assert.ok(logger instanceof SafeLogger);
    return logger.isLevelEnabled(level);
  };
  for (const [env, lowest, below] of [
    [{}, "info", "debug"],
    [{ SVC_LOG_LEVEL: "" }, "info", "debug"],
    [{ SVC_LOG_LEVEL: "trace" }, "trace", undefined],
    [{ SVC_LOG_LEVEL: "debug" }, "debug", "trace"],
    [{ SVC_LOG_LEVEL: "warn" }, "warn", "info"],
    [{ SVC_LOG_LEVEL: "fatal" }, "fatal", "error"],
    [{ SVC_LOG_LEVEL: "silent" }, undefined, "fatal"],
  ] as const) {
    if (lowest !== undefined) assert.equal(isEnabled(env, lowest), true, JSON.stringify(env));
    if (below !== undefined) assert.equal(isEnabled(env, below), false, JSON.stringify(env));
  }
  assert.throws(() => initLogger({ SVC_LOG_LEVEL: "pear" }), /^StartupError: SVC_LOG_LEVEL: expected one of trace, /);
});

test("1 MiB of lines can wait; a failed write is repeated after 10 ms, then after twice the time, up to 1 s", () => {
  const timers = holdTimers(1);
  try {
    // No such descriptor: each write fails.
    const destination = new LogDestination(-1, true);
    destination.write("x".repeat(1_048_576));
    assert.equal(destination.dropped, 0);
    destination.write("x");
    assert.equal(destination.dropped, 1);
    for (let i = 0; i < 8; i++) timers.waiting[0]?.fire();
    assert.deepEqual(timers.started, [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]);
  } finally {
    timers.restore();
  }
});
