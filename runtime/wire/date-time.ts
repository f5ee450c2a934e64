/** RFC 3339 date-times, for `Date` members and texts with the format `date-time`. */

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Parses an RFC 3339 date-time; undefined for anything else, including impossible days and leap seconds. */
export function parseDateTime(text: string): Date | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number];
  const daysInMonth = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth) return undefined;
  const date = new Date(text.toUpperCase());
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Formats a date as RFC 3339, which has four digits for the year; undefined for other years and invalid dates. */
export function formatDateTime(date: Date): string | undefined {
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
}
