/** docs/client.md against the tables and the options of the client. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LeaderClient } from "svc-runtime/leader";
import { LEADER_FAULTS } from "#runtime/leader/error.js";
import { ERROR_CODES } from "#runtime/wire/error-codes.js";

const page = readFileSync(new URL("../../docs/client.md", import.meta.url), "utf8");
const section = (heading: string) =>
  page.split(/^## /m).find((text) => text.startsWith(heading)) ?? assert.fail(heading);
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| `(\w+)` \| ([^|]*) \| ([^|]*) \| (.*) \|$/gm)].map((row) => row.slice(1));

test("the table of failures has every code, with its status and ran, and says what to do", () => {
  const server = Object.entries(ERROR_CODES).map(([code, { status, ran }]) => [code, `${status}`, ran]);
  const own = Object.entries(LEADER_FAULTS).map(([code, ran]) => [code, "–", ran]);
  const rows = rowsOf(section("Did it run?"));
  assert.deepEqual(
    rows.map((row) => row.slice(0, 3)),
    [...server, ...own],
  );
  for (const [code, , , todo = ""] of rows) assert.ok(todo.length > 10, code);
});

test("the tables of options have every option", () => {
  const namesOf = (call: () => unknown) => {
    try {
      call();
    } catch (error) {
      return (/it has (.*)$/.exec(String(error))?.[1] ?? assert.fail(String(error))).split(", ");
    }
    return assert.fail();
  };
  const text = section("Options");
  const documented = [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const unknown = { qqqqqqqqqqqq: 1 } as never;
  const names = namesOf(() => LeaderClient.fromMetadata("", unknown));
  assert.deepEqual(documented.slice(0, names.length), names);
  assert.deepEqual(documented.slice(names.length), ["timeoutMs", "deadline", "signal", "repeat", "nonce"]);
});
