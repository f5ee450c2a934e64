/** What the wrapper around a logger passes on, and what it counts as dropped. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ServerLogger } from "#runtime/index.js";
import { SafeLogger } from "#runtime/server/log/safe-logger.js";

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** A logger that keeps the arguments of its calls; `then` is what each call gives. */
function recorder(given: unknown = undefined, more: Partial<ServerLogger> = {}) {
  const calls: unknown[][] = [];
  const write =
    (level: string) =>
    (...args: unknown[]) => {
      calls.push([level, ...args]);
      return given as undefined;
    };
  const logger: ServerLogger = {
    ...{ debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") },
    child: (fields) => {
      calls.push(["child", fields]);
      return logger;
    },
    ...more,
  };
  return { logger, calls };
}

describe("a line", () => {
  it("is forwarded at its level, with or without a message", () => {
    const { logger, calls } = recorder();
    const safe = SafeLogger.of(logger);
    for (const level of LEVELS) {
      safe[level]("text");
      safe[level]({ a: 1 }, "text");
      assert.deepEqual(calls.splice(0), [
        [level, "text"],
        [level, { a: 1 }, "text"],
      ]);
    }
    assert.equal(safe.lines.dropped, 0);
  });

  it("is counted if its promise, of any library, rejects, and not if it fulfils", async () => {
    const thenable = {
      // biome-ignore lint/suspicious/noThenProperty: a promise of another library
      then: (_: unknown, reject: (error: Error) => void) => reject(new Error("broken")),
    };
    for (const [given, dropped] of [
      [Promise.reject(new Error("broken")), 1],
      [thenable, 1],
      [Promise.resolve(), 0],
      [null, 0],
      ["text", 0],
    ] as const) {
      const { logger } = recorder(given);
      const safe = SafeLogger.of(logger);
      safe.info("text");
      await new Promise(setImmediate);
      assert.equal(safe.lines.dropped, dropped);
    }
  });
});

describe("the wrapper", () => {
  it("forwards the fields of a child logger", () => {
    const { logger, calls } = recorder();
    SafeLogger.of(logger).child({ tool: "a" }).info("text");
    assert.deepEqual(calls, [
      ["child", { tool: "a" }],
      ["info", "text"],
    ]);
  });

  it("writes the lines of a child logger whose level is more verbose than that of its parent", () => {
    const inner = recorder(undefined, { isLevelEnabled: () => true });
    const { logger } = recorder(undefined, { isLevelEnabled: () => false, child: () => inner.logger });
    const safe = SafeLogger.of(logger);
    safe.info("parent");
    safe.child({ tool: "a" }).debug("child");
    assert.deepEqual(inner.calls, [["debug", "child"]]);
  });

  it("treats every level as enabled if the logger has no isLevelEnabled", () => {
    assert.equal(SafeLogger.of(recorder().logger).isLevelEnabled("debug"), true);
    const fail = () => {
      throw new Error("broken");
    };
    assert.equal(SafeLogger.of(recorder(undefined, { isLevelEnabled: fail }).logger).isLevelEnabled("debug"), true);
    const only = (level: string) => level === "info";
    const { logger } = recorder(undefined, { isLevelEnabled: only });
    assert.deepEqual(
      ["info", "debug"].map((level) => SafeLogger.of(logger).isLevelEnabled(level)),
      [true, false],
    );
  });
});
