/** Every default in the documents is the one of the code. Other tests hold servers to the constants. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  DEFAULT_INVOKE_MAX_BODY_BYTES,
  DEFAULT_REPLAY_CACHE_TTL_MS,
  DEFAULT_TIMEOUT_MS,
} from "#client/wire/protocol.js";
import { DEFAULT_RELOAD_INTERVAL_MS } from "#runtime/config/file-follower.js";
import { DEFAULT_ENDPOINT } from "#runtime/server/bootstrap.js";
import { CLOSE_LIMIT_MS } from "#runtime/server/call/run/class-hooks.js";
import {
  BACKLOG,
  DEADLINES,
  MAX_HEADER_BYTES,
  MAX_HEADERS,
  MAX_UNREAD_BYTES,
  MIN_BODY_BYTES_PER_SECOND,
} from "#runtime/server/http/limits.js";
import { KEPT_UNREAD_BYTES, MAX_DISCARDED_BYTES } from "#runtime/server/http/lingering-close.js";
import { MAX_PIPELINED, MAX_UNANSWERED } from "#runtime/server/http/request-queue.js";
import { GRACE_MS, LINGER_MS, Shutdown } from "#runtime/server/http/shutdown.js";
import { DEFAULT_QUEUE, DEFAULT_QUEUE_TIMEOUT_MS } from "#runtime/server/load/concurrency-limit.js";
import { DEFAULT_WINDOW_MS } from "#runtime/server/load/load-control.js";
import { memoryBudget } from "#runtime/server/load/memory-budget.js";
import { BOOTSTRAP_OPTIONS } from "#runtime/server/options.js";
import { CLAIM_LIMIT_MS } from "#runtime/server/replay/claim.js";
import { DEFAULT_MAX_INPUT_VALUES } from "#runtime/server/wire/heap-bytes.js";
import { BASE_STEPS } from "#runtime/server/wire/union-steps.js";
import { ROOT } from "./child.js";
import { countingTool, serveFor, serveHasty } from "./tools.js";

/** The numbers of a text, in milliseconds, bytes or by themselves. */
function quantities(text: string): number[] {
  const units = { ms: 1, s: 1000, KiB: 1024, MiB: 1_048_576, bytes: 1 } as const;
  return [...text.matchAll(/(\d[\d,]*)(?: (ms|s|KiB|MiB|bytes)\b)?/g)].map(
    ([, digits = "", unit]) => Number(digits.replaceAll(",", "")) * (unit === undefined ? 1 : units[unit as "s"]),
  );
}

const SETTINGS = "docs/settings.md";

/** The rows of the table below a heading, by their first cell, with the text of another. */
function table(file: string, heading: string, column: number, first = 1): Map<string, string> {
  const [, section = ""] = `\n${readFileSync(join(ROOT, file), "utf8")}`.split(`\n${heading}\n`);
  const [text = ""] = section.split(/\n#/);
  const block = text.split(/\n(?!\|)/).find((part) => part.includes("\n|")) ?? assert.fail(`${file}: ${heading}`);
  const rows = block.split("\n").slice(3);
  const cells = rows.map((row) => row.split("|").map((cell) => cell.trim().replaceAll("`", "")));
  return new Map(cells.map((row) => [row[first] ?? "", row[column] ?? ""]));
}

/** The rows of a table with a number have these numbers, in the order in which the document names them. */
function compare(what: string, rows: ReadonlyMap<string, string>, constants: () => Promise<object> | object): void {
  it(what, async () => {
    const named = [...rows].flatMap(([name, text]) => (quantities(text).length > 0 ? [[name, quantities(text)]] : []));
    assert.deepEqual(Object.fromEntries(named), await constants());
  });
}

/** The parts of a large machine's memory. */
const BUDGET = memoryBudget(
  {},
  { bodyLimit: DEFAULT_INVOKE_MAX_BODY_BYTES, remembers: true, ownStore: 0, listens: true, tls: false },
  { container: undefined, machine: 2 ** 35, heap: 2 ** 32 },
);

describe("the documents have the defaults of the code", () => {
  compare("docs/settings.md, limits", table(SETTINGS, "### Limits of a server", 2), async () => {
    const { server } = await serveHasty([countingTool()]);
    const { load } = await serveFor([countingTool()]);
    return {
      "open connections": [BUDGET.maxConnections],
      "new connections that wait to be accepted": [BACKLOG],
      "time of a TLS handshake": [DEADLINES.handshakeMs],
      "time from the first byte of a request until the end of its headers": [server.headersTimeout],
      "time until a whole request has arrived": [server.requestTimeout],
      "time until a caller has read an answer": [DEADLINES.answerMs],
      "idle time between two requests of a connection": [server.keepAliveTimeout],
      "headers of a request": [MAX_HEADERS, MAX_HEADER_BYTES],
      "size of one body": [Number(DEFAULT_INVOKE_MAX_BODY_BYTES)],
      "values in the input of one call": [DEFAULT_MAX_INPUT_VALUES],
      "attempts to match union branches in one call": [BASE_STEPS],
      "memory of bodies in flight (received, but not yet answered)": [BUDGET.bodies],
      "requests of a connection that are handled at the same time": [1],
      "unanswered requests of a connection": [MAX_UNANSWERED],
      "requests that wait for an earlier answer on their connection, in the whole server": [MAX_PIPELINED],
      "answers that callers have not read": [MAX_UNREAD_BYTES],
      "runs of all tools at the same time": [load().runs.most],
      "size of the replay memory": [BUDGET.replay],
      "time of a call": [DEFAULT_TIMEOUT_MS],
      "slowest rate of a body": [MIN_BODY_BYTES_PER_SECOND],
      "size of a refused call's body, up to which the server keeps the connection": [KEPT_UNREAD_BYTES],
      "size and time of the bytes that the server discards before it closes a connection": [
        MAX_DISCARDED_BYTES,
        DEADLINES.lingerMs,
      ],
    };
  });

  compare("docs/settings.md, load", table(SETTINGS, "## `load`", 2), () => ({
    "rateLimit.windowMs": [DEFAULT_WINDOW_MS],
    "limits.queue": [DEFAULT_QUEUE],
    "limits.queueTimeoutMs": [DEFAULT_QUEUE_TIMEOUT_MS],
  }));

  compare("docs/deploy/README.md, Shutdown", table("docs/deploy/README.md", "### Steps", 2), () => ({
    "the listener closes": [0, 600_000],
    "unsent bodies": [LINGER_MS],
    "the drain limit": [new Shutdown().limitMs - GRACE_MS, 3_600_000],
    "remaining calls": [GRACE_MS],
    "the last answers": [LINGER_MS],
    "shared resources": [CLOSE_LIMIT_MS],
  }));

  compare("docs/settings.md, the configuration", table(SETTINGS, "## Configuration file", 2), () => ({
    replay_cache_ttl_ms: [DEFAULT_REPLAY_CACHE_TTL_MS],
  }));

  const options = table(SETTINGS, "## Server", 3, 2);
  options.delete("–");
  compare("docs/settings.md, in code", options, () => ({ reloadIntervalMs: [DEFAULT_RELOAD_INTERVAL_MS] }));

  it("docs/settings.md has every option of bootstrap, and the default address", () => {
    assert.deepEqual([...options.keys()].sort(), Object.keys(BOOTSTRAP_OPTIONS).sort());
    const { host, port } = DEFAULT_ENDPOINT;
    assert.equal(table(SETTINGS, "## Server", 3).get("BIND_ADDR"), `${host}:${port}`);
  });

  it("docs/error-codes.md has the time limit of a claim", () => {
    const [, time = ""] = /did not answer within ([\d.]+ s)/.exec(readFileSync("docs/error-codes.md", "utf8")) ?? [];
    assert.deepEqual(quantities(time), [CLAIM_LIMIT_MS]);
  });
});
