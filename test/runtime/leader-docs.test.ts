/** docs/client.md and docs/troubleshooting.md against the tables of errors and the options of the client. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LeaderClient } from "svc-runtime/leader";
import { ERROR_ANSWERS } from "#generator/error-answers.js";
import { LEADER_FAULTS } from "#runtime/leader/error.js";

const page = readFileSync(new URL("../../docs/client.md", import.meta.url), "utf8");
const section = (heading: string) =>
  page.split(/^## /m).find((text) => text.startsWith(heading)) ?? assert.fail(heading);
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| `(\w+)` \| ([^|]*) \| ([^|]*) \| (.*) \|$/gm)].map((row) => row.slice(1));

test("the table of failures has every code, with its status, ran and the next step", () => {
  const server = [...ERROR_ANSWERS].map(([code, { status, ran, caller }]) => [code, `${status}`, ran, caller]);
  const own = Object.entries(LEADER_FAULTS).map(([code, ran]) => [code, "–", ran]);
  const rows = rowsOf(section("Handle errors")).map((row) => row.map((cell) => cell.replaceAll("`", "")));
  assert.deepEqual(rows.slice(0, server.length), server);
  const others = rows.slice(server.length);
  assert.deepEqual(
    others.map((row) => row.slice(0, 3)),
    own,
  );
  for (const [code, , , todo = ""] of others) assert.ok(todo.length > 10, code);
});

test("docs/troubleshooting.md has the row of every code, and its sections the statuses", () => {
  const text = readFileSync(new URL("../../docs/troubleshooting.md", import.meta.url), "utf8");
  assert.deepEqual(
    rowsOf(text).map((row) => row.map((cell) => cell.replaceAll("`", ""))),
    [...ERROR_ANSWERS].map(([code, { status, meaning, operator }]) => [code, `${status}`, meaning, operator]),
  );
  const headings = [...text.matchAll(/^### `([a-z_]+)` \((\d{3})\)$/gm)];
  assert.ok(headings.length > 5);
  for (const [, code = "", status] of headings) assert.equal(ERROR_ANSWERS.get(code)?.status, Number(status), code);
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
