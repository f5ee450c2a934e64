import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { JsonDouble, JsonError, JsonObject, lineColumn, locate, parseJson, prettyJson, readJson, textOf } from "#runtime/wire/json.js";

interface Case {
  input: string;
  accepted: boolean;
  output: string | null;
  output_before_1_0_147?: string;
  note: string;
}

const { cases } = JSON.parse(readFileSync(new URL("../vectors/json-canonical.json", import.meta.url), "utf8")) as {
  cases: Case[];
};

const bytes = (text: string) => Buffer.from(text);
const canonical = (text: string) => textOf(parseJson(bytes(text)), 0, "canonical").toString();
const sent = (text: string) => textOf(parseJson(bytes(text)), 0, "sent").toString();

describe("json-canonical.json", () => {
  for (const [i, { input, accepted, output, output_before_1_0_147: legacy, note }] of cases.entries()) {
    it(`${i} ${note}`, () => {
      const text = Buffer.from(input, "base64");
      if (!accepted) {
        assert.throws(() => parseJson(text), JsonError);
        return;
      }
      const document = parseJson(text);
      assert.equal(textOf(document, 0, "canonical").toString("base64"), output);
      assert.equal(textOf(document, 0, "legacy").toString("base64"), legacy ?? output);
    });
  }
});
