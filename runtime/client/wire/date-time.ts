/** RFC 3339 date-times, for `Date` members and texts with the format `date-time`. */

const DATE_TIME =
  /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Length of a UTC date-time without a fraction, such as `2026-01-31T00:00:00Z`; parsed without the slower parser of
 * `Date`.
 */
const WHOLE_SECONDS = 20;

/** Parses an RFC 3339 date-time; undefined for anything else, such as impossible days and leap seconds. */
export function parseDateTime(text: string): Date | undefined {
  if (!DATE_TIME.test(text)) return undefined;
  const [year, month, day] = [Number(text.slice(0, 4)), twoDigits(text, 5), twoDigits(text, 8)];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const daysInMonth = month === 2 && isLeap ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
  if (day < 1 || day > daysInMonth) return undefined;
  if (text.length === WHOLE_SECONDS && year >= 100) {
    const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
    return new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  }
  const isUpper = text.charCodeAt(10) === 0x54 && text.charCodeAt(text.length - 1) !== 0x7a;
  const date = new Date(isUpper ? text : text.toUpperCase());
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const DAYS_IN_MONTH: readonly number[] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30;
}

/** Formats a date as RFC 3339. Undefined for an invalid date or a year that does not have four digits. */
export function formatDateTime(date: Date): string | undefined {
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
}
