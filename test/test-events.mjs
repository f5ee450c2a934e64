/** A reporter of node:test for run.ts: a line of JSON for each test and suite at the top of a process, and a last line. */

export default async function* (source) {
  let counts = { tests: 0, skipped: 0, reasons: [] };
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, nesting, skip, details } = data;
    if (details.type !== "suite") {
      counts.tests++;
      if (skip !== undefined) counts.skipped++;
    }
    if (skip !== undefined) counts.reasons.push(`${skip}`);
    if (nesting > 0) continue;
    yield `${JSON.stringify({ name, hasPassed: type === "test:pass", ...counts })}\n`;
    counts = { tests: 0, skipped: 0, reasons: [] };
  }
  yield '{"name":"the end"}\n';
}
