/**
 * What generated validators call (ajv standalone code imports it from `svc-runtime/v1`): they see plain trees, in which
 * integers beyond ±(2^53−1) are bigints.
 */

/** Whether two trees are the same JSON value; the order of members does not matter, a bigint equals its number. */
export function equal(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number of one value are one JSON number
  if (isNumeric(one) && isNumeric(other)) return one == other;
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => equal(item, other[index]));
  }
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && equal(member(one, name), member(other, name)))
  );
}

/** The length of a text in code points, as JSON Schema counts it. A lone surrogate counts as one. */
export function ucs2length(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      length--;
      index++;
    }
  }
  return length;
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function member(object: object, name: string): unknown {
  return (object as Readonly<Record<string, unknown>>)[name];
}
