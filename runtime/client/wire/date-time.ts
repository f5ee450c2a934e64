/** RFC 3339 date-times, for `Date` members and texts with the format `date-time`. */

const DATE_TIME =
  /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Parses an RFC 3339 date-time; undefined for anything else, such as impossible days and leap seconds. */
export function parseDateTime(text: string): Date | undefined {
  if (!DATE_TIME.test(text)) return undefined;
  // V8 reads February 30 as March 2.
  const day = new Date(text.slice(0, 10)).getUTCDate();
  const date = new Date(text.toUpperCase());
  return day === Number(text.slice(8, 10)) && !Number.isNaN(date.getTime()) ? date : undefined;
}

/** Formats a date as RFC 3339. Undefined for an invalid date or a year that does not have four digits. */
export function formatDateTime(date: Date): string | undefined {
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
}
