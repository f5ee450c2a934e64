/** The member of the input that an error names. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { errorView } from "#generator/dev/page-server/calls/advice.js";

test("a position in the envelope is translated to its port", () => {
  const call = {
    headerPrefix: "X-Svc-",
    signed: true,
    isSigned: true,
    kind: "call",
    ports: ["a", "odd name", "tags"],
  } as const;
  const inputPathIn = (details: string, error = "input_deserialization_error") =>
    errorView(Buffer.from(JSON.stringify({ error, details })), call).path;
  assert.equal(inputPathIn("tags[1]: expected a string, got null"), "tags[1]");
  assert.equal(inputPathIn('deep["odd name"].at[0]: expected a string'), 'deep["odd name"].at[0]');
  assert.equal(inputPathIn("ports[2].value.many: expected 1 to 256 items"), "tags");
  assert.equal(inputPathIn("ports[1].value.one: x"), '["odd name"]');
  assert.equal(inputPathIn("ports[0].port_name: the tool has no such input port"), "a");
  assert.equal(inputPathIn('ports: port "odd name" is missing'), '["odd name"]');
  assert.equal(inputPathIn("nothing of this form"), null);
  assert.equal(inputPathIn("tags[1]: x", "auth_failed"), null);
  assert.equal(errorView(Buffer.from("<html>"), call).code, "invalid_answer");
  assert.equal(errorView(Buffer.from('{"error":"<img>"}'), call).code, "invalid_answer");
});
