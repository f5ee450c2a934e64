/** A strict reader of Prometheus' text format, version 0.0.4: what it does not know is a fault. */

import assert from "node:assert/strict";

export interface Family {
  readonly type: string;
  readonly help: string;
  /** By name and labels as they stand: `svc_calls_total{tool="a",code="ok"}`. */
  readonly samples: ReadonlyMap<string, number>;
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
const SAMPLE = new RegExp(`^(${NAME})(\\{(?:${LABEL}(?:,${LABEL})*)?\\})? (\\S+)$`);
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [""],
  gauge: [""],
  histogram: ["_bucket", "_sum", "_count"],
  summary: ["", "_sum", "_count"],
};

/** Reads a whole exposition. */
export function readExposition(text: string): ReadonlyMap<string, Family> {
  assert.ok(text.endsWith("\n"), "the last line ends");
  const families = new Map<string, { type: string; help: string; samples: Map<string, number> }>();
  let help: string | undefined;
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    if (line === "") continue;
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === "HELP") {
      assert.match(name, new RegExp(`^${NAME}$`));
      help = rest;
      current = name;
    } else if (kind === "TYPE") {
      assert.equal(name, current, "HELP and TYPE belong together");
      assert.ok(!families.has(name), `${name} is given twice`);
      assert.ok(rest in SUFFIXES, `${name} has the type ${rest}`);
      families.set(name, { type: rest, help: help ?? "", samples: new Map() });
    } else {
      const [, sample = "", labels = "", value = ""] = SAMPLE.exec(line) ?? assert.fail(`no sample: ${line}`);
      const family = families.get(current) ?? assert.fail(`${sample} before its TYPE`);
      const suffixes = SUFFIXES[family.type] ?? [];
      assert.ok(
        suffixes.some((suffix) => sample === current + suffix),
        `${sample} stands under ${current}`,
      );
      const key = sample + (labels === "{}" ? "" : labels);
      assert.ok(!family.samples.has(key), `${key} is given twice`);
      const number =
        value === "+Inf" ? Number.POSITIVE_INFINITY : value === "Nan" || value === "NaN" ? Number.NaN : Number(value);
      assert.ok(value === "Nan" || value === "NaN" || !Number.isNaN(number), `${key} has the value ${value}`);
      family.samples.set(key, number);
    }
  }
  for (const [name, { type, samples }] of families) if (type === "histogram") checkHistogram(name, samples);
  return families;
}

/** Buckets grow, the last is +Inf and equals the count. */
function checkHistogram(name: string, samples: ReadonlyMap<string, number>): void {
  const series = new Map<string, [le: number, count: number][]>();
  for (const [key, count] of samples) {
    const [, le] = /le="([^"]*)"/.exec(key) ?? [];
    if (le === undefined) continue;
    const labels = key
      .slice(key.indexOf("{"))
      .replace(/,?le="[^"]*"/, "")
      .replace("{,", "{");
    series.set(labels, [...(series.get(labels) ?? []), [le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le), count]]);
  }
  for (const [labels, buckets] of series) {
    for (const [i, [le, count]] of buckets.entries()) {
      const [before, fewer] = buckets[i - 1] ?? [Number.NEGATIVE_INFINITY, 0];
      assert.ok(le > before && count >= fewer, `${name}${labels} grows`);
    }
    const [last, all] = buckets.at(-1) ?? assert.fail();
    assert.equal(last, Number.POSITIVE_INFINITY);
    assert.equal(samples.get(`${name}_count${labels === "{}" ? "" : labels}`), all);
  }
}
