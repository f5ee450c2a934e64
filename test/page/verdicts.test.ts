/** What the page says of an answer: as the protocol says, not, or not decided by one call. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Outcome, verdictOf } from "#generator/dev/page-server/calls/verdicts.js";
import type { CallKind, ExchangeView } from "#generator/dev/page-server/page-api.js";

/** An answer: its status, and the code of an error. */
function answer(status: number, code?: string): ExchangeView {
  const body = { length: 1, hex: "00", text: null };
  return {
    requestId: "",
    request: { line: "", headers: [], body },
    response: status === 0 ? null : { status, headers: [], body },
    failure: status === 0 ? "ECONNRESET" : null,
    phases: [],
    result: status === 200 ? { variant: "ok", json: "{}" } : null,
    error: code === undefined ? null : { code, title: "", details: null, path: null, advice: "" },
    signed: [],
    signature: null,
    receipt: null,
  };
}

const judge = (kind: CallKind, exchange: ExchangeView, more: Partial<Outcome> = {}) =>
  verdictOf({ kind, signed: true, exchange, first: undefined, isSame: false, ageMs: 0, ...more });
const holds = (...outcome: Parameters<typeof judge>) => judge(...outcome).holds;

test("a server that accepts an invalid call violates the protocol", () => {
  for (const kind of ["tampered", "wrong-key", "unsigned"] as const) {
    assert.equal(holds(kind, answer(200)), false, kind);
    assert.equal(holds(kind, answer(0)), false, kind);
  }
  assert.equal(holds("tampered", answer(422, "input_integrity_error")), true);
  assert.equal(holds("tampered", answer(422, "input_deserialization_error")), false, "the right status, another code");
  for (const kind of ["wrong-key", "unsigned"] as const) {
    assert.equal(holds(kind, answer(401, "auth_failed")), true);
    const { verdict } = judge(kind, answer(200));
    assert.match(verdict ?? "", /^expected 401 auth_failed: .*, got 200 ok$/);
  }
});

test("a retry must get the first answer, if the tool ran and the answer is stored", () => {
  const first = answer(200);
  assert.equal(holds("retry", answer(200), { first, isSame: true }), true);
  assert.equal(holds("retry", answer(200), { first }), false, "the shown parts are the same, but not the answers");
  assert.equal(holds("retry", answer(500, "internal_error"), { first }), false);
  assert.equal(holds("retry", answer(200), { first, ageMs: 400_000 }), null, "the TTL may be over");
  assert.equal(holds("retry", answer(200), { first: answer(408, "request_timeout") }), null, "it never ran");
  assert.equal(holds("retry", answer(200), { first: answer(503, "overloaded") }), null);
  assert.equal(holds("retry", answer(200), { first: answer(401, "auth_failed") }), null);
  assert.equal(holds("retry", answer(200), { first: answer(0) }), null);
  assert.equal(holds("retry", answer(200), { first, signed: false }), null, "unsigned calls are not remembered");
});
