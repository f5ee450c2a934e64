/** Reads Prometheus' text format as a client library writes it. */

import assert from "node:assert/strict";

export interface Family {
  readonly type: string;
  /** By name and labels as they stand: `svc_calls_total{tool="a",code="ok"}`. */
  readonly samples: ReadonlyMap<string, number>;
}

/** The metrics of a text by their names. */
export function readExposition(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, { type: string; samples: Map<string, number> }>();
  let samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, type = ""] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    const [, key = "", value] = /^([^#].*) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) {
      samples = new Map();
      families.set(name, { type, samples });
    } else if (value !== undefined) {
      assert.ok(!samples.has(key), `${key} is given twice`);
      samples.set(key, Number(value));
    }
  }
  return families;
}
