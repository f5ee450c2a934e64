/** The formats of texts that the runtime checks (`formats` in its `wire/formats.ts`). Any other is published and not checked. */

export const FORMATS = [
  "date",
  "time",
  "date-time",
  "duration",
  "uri",
  "uri-reference",
  "uri-template",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
  "json-pointer",
  "relative-json-pointer",
] as const;

export function isCheckedFormat(format: unknown): boolean {
  return (FORMATS as readonly unknown[]).includes(format);
}
