/** Two sample texts of each format; the second is for lists whose items must differ. */
export const FORMAT_SAMPLES: Readonly<Record<string, readonly [string, string]>> = {
  date: ["2026-01-01", "2026-01-02"],
  time: ["00:00:00Z", "12:00:00Z"],
  "date-time": ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
  duration: ["P1D", "P2D"],
  uri: ["https://example.org/", "https://example.org/a"],
  "uri-reference": ["a/b", "a/c"],
  "uri-template": ["a{b}", "a{c}"],
  email: ["a@example.org", "b@example.org"],
  hostname: ["example.org", "example.com"],
  ipv4: ["192.0.2.1", "192.0.2.2"],
  ipv6: ["2001:db8::1", "2001:db8::2"],
  uuid: ["00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000001"],
  "json-pointer": ["/a", "/b"],
  "relative-json-pointer": ["0/a", "0/b"],
};
