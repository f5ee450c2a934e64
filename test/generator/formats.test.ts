/** `@format` on texts: decoding checks the formats that the runtime knows. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Contract } from "#client/wire/codec/contract.js";
import { FORMAT_NAMES, formats } from "#runtime/server/wire/formats.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { assertLinear } from "../wire/growth.js";
import { ToolProject, table, toolSource } from "./project.js";

/** Formats, texts that fit and texts that do not, most of them from the RFCs. */
const CASES = table(String.raw`
date ;; ["2024-02-29","1999-12-31"] ;; ["2023-02-29","2024-13-01","2024-1-01","2024-01-01T00:00:00Z",""]
time ;; ["23:59:59Z","00:00:00.5+01:00"] ;; ["24:00:00Z","12:00:00","12:00"]
date-time ;; ["2024-02-29T23:59:59Z","1985-04-12t23:20:50.52-08:00"] ;; ["2023-02-29T00:00:00Z","2024-01-01 00:00:00Z","2024-01-01T00:00:00","2024-01-01T00:00:00+01","2024-01-01"]
duration ;; ["P1Y2M3DT4H5M6S","PT1S","P4W"] ;; ["P","1D","PT","P1S"]
uri ;; ["https://example.org/a?b=%20#c","urn:isbn:0451450523","http://[2001:db8::1]:80/"] ;; ["/relative","http://a b/","no scheme","http://a/%2","http://é.example/"]
uri-reference ;; ["/relative?a#b","a/b","","https://example.org"] ;; ["\\a","a b","%zz"]
uri-template ;; ["https://example.org/{id}{?a,b*}"] ;; ["https://example.org/{id","{a b}"]
email ;; ["a.b+c@example.org","x@y.z"] ;; ["@example.org","a@","a@b@c.d","a b@c.d","a@-b.c"]
hostname ;; ["example.org","a-b","localhost"] ;; ["-a","a_b","a..b","${"a".repeat(64)}.org"]
ipv4 ;; ["192.0.2.1","0.0.0.0"] ;; ["256.0.0.1","1.2.3","01.2.3.4"]
ipv6 ;; ["2001:db8::1","::","::ffff:192.0.2.1"] ;; ["1::2::3","12345::","1:2:3:4:5:6:7:8:9","fe80::1%eth0"]
uuid ;; ["f81d4fae-7dec-11d0-a765-00a0c91e6bf6","F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"] ;; ["f81d4fae7dec11d0a76500a0c91e6bf6","g81d4fae-7dec-11d0-a765-00a0c91e6bf6",""]
json-pointer ;; ["","/a~1b/0","/"] ;; ["a","/~2","#/a"]
relative-json-pointer ;; ["0","1/a","2#"] ;; ["/a","-1","01"]
`).map(([name, ...lists]) => [name, ...lists.map((list) => JSON.parse(list))] as [string, string[], string[]]);

const members = CASES.map(([name]) => `  /** @format ${name} */\n  ${JSON.stringify(name)}?: string;`);
const project = new ToolProject({
  "src/a.ts": toolSource(
    "A",
    `{\n${members.join("\n")}\n  /** @format email */\n  list?: (string | null)[];\n  /** @format iban */\n  unknown?: string;\n}`,
  ),
});

test("a text that does not fit its format is refused, with the path and never the text", async () => {
  project.build();
  const contracts = await project.contracts();
  const decoder = new InputDecoder(contracts[0] as Contract);
  const decode = (name: string, value: unknown) =>
    decoder.decodeUnsigned(Buffer.from(JSON.stringify({ [name]: value })));
  for (const [name, fits, not] of CASES) {
    for (const text of fits) assert.deepEqual(decode(name, text), { [name]: text }, `${name} ${text}`);
    for (const text of not) {
      assert.throws(
        () => decode(name, text),
        (error: Error & { details?: string }) => {
          assert.match(
            error.details ?? "",
            new RegExp(`^${name.includes("-") ? ".*" : name}.*${name}`),
            `${name} ${text}`,
          );
          assert.ok(text.length < 6 || !error.details?.includes(text));
          return true;
        },
        `${name} ${JSON.stringify(text)}`,
      );
    }
    assert.deepEqual(decode(name, null), {});
  }
  assert.deepEqual(decode("list", ["a@example.org", null]), { list: ["a@example.org", null] });
  assert.throws(() => decode("list", ["a@example.org", "b"]), /list\[1\]/);
  assert.deepEqual(decode("unknown", "anything"), { unknown: "anything" });
});

test("every format that is checked has cases", () => {
  assert.deepEqual(CASES.map(([name]) => name).sort(), [...FORMAT_NAMES].sort());
});

test("every format checks a text of several MiB without delay", () => {
  const shapes = ["a", "a.", "0:", "/%41", "{a}", "1-"].flatMap((part) => [
    (size: number) => part.repeat(size),
    (size: number) => `http://${part.repeat(size)}\n`,
    (size: number) => `a@${part.repeat(size)}!`,
  ]);
  for (const [name, check] of Object.entries(formats)) {
    for (const textOf of shapes) {
      const judge = (size: number) => assert.equal(typeof check(textOf(size)), "boolean");
      assertLinear(`${name} of ${textOf(2)}`, judge, 200_000);
    }
  }
});
