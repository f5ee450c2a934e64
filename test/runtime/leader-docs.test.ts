/** docs/error-codes.md against the tables of errors, docs/client.md against the options of the client. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LeaderClient } from "svc-runtime/leader";
import { LEADER_FAULTS } from "#client/leader/error.js";
import { ERROR_ANSWERS } from "#generator/text/error-answers.js";

const page = readFileSync(new URL("../../docs/client.md", import.meta.url), "utf8");
const section = (heading: string) =>
  page.split(/^## /m).find((text) => text.startsWith(heading)) ?? assert.fail(heading);

test("docs/error-codes.md has each code of a server and of the client, and its headings have the statuses", () => {
  const text = readFileSync(new URL("../../docs/error-codes.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, code = "", cells = ""]) => [
    code,
    ...cells.replaceAll("`", "").split(" | "),
  ]);
  const server = [...ERROR_ANSWERS].map(([code, { status, ran, meaning, caller, operator }]) => [
    code,
    `${status}`,
    ran,
    meaning,
    caller,
    operator,
  ]);
  assert.deepEqual(rows.slice(0, server.length), server);
  const own = rows.slice(server.length);
  assert.deepEqual(
    own.map((row) => row.slice(0, 2)),
    Object.entries(LEADER_FAULTS),
  );
  for (const [code, , next = ""] of own) assert.ok(next.length > 10, code);
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
