/** ajv over the published input schema: the judge of the walk that decodes. */

import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { decodeBase64 } from "#client/wire/base64.js";
import type { Contract } from "#client/wire/codec/contract.js";
import { WireFault } from "#client/wire/fault.js";
import { InputDecoder } from "#runtime/server/wire/input.js";

/** What the walk refuses although the schema takes it, by what it says, with the reason. There is no other difference. */
const STRICTER: readonly (readonly [details: RegExp, reason: string])[] = [
  [
    /expected an integer.*got a (?:number that is no integer$|double beyond)/,
    "1.0 and 1e3 are doubles on the wire; JSON Schema sees integers",
  ],
  [
    /expected (an u?int64 integer|an integer from -2\^63 to 2\^64-1), /,
    "the range of a bigint is its format, an annotation",
  ],
  [/expected a number within \+\/-\(2\^53-1\), got an integer beyond it/, "a number would round it"],
  [/expected an RFC 3339 date-time/, "a Date has no leap second"],
  [
    /expected unique items/,
    "items that are equal once read: undeclared members left out, one instant in two spellings",
  ],
  [/expected 1 to 256 values, got /, "the protocol's limit of a list port"],
  [/expected the member once, got it twice/, "JSON.parse drops the first one"],
];

export interface Verdict {
  readonly accepted: boolean;
  readonly decoded?: unknown;
  /** Of a refusal. */
  readonly details: string;
}

/** One for all contracts: half of the work is its own schema. No schema of a tool has an id that could clash. */
const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictTuples: false,
  ownProperties: true,
  // Otherwise ajv parses the quotient, and reads 2e300 as 2.
  multipleOfPrecision: 9,
  logger: false,
});
for (const [name, format] of Object.entries(fullFormats)) ajv.addFormat(name, format);
ajv.addFormat("iban", true);
// Annotations, which decoding asserts: else a union would take another branch. JSON.parse rounds the largest values up.
ajv.addFormat("int64", { type: "number", validate: (value) => value >= -(2 ** 63) && value <= 2 ** 63 });
ajv.addFormat("uint64", { type: "number", validate: (value) => value >= 0 && value <= 2 ** 64 });
ajv.removeKeyword("contentEncoding");
const isBase64 = (_: unknown, text: string) => decodeBase64(text) !== undefined;
ajv.addKeyword({ keyword: "contentEncoding", type: "string", validate: isBase64 });

/** Judges inputs of one contract by the walk, and the walk by ajv. */
export function openJudge(contract: Contract): (body: string) => Verdict {
  const fits = ajv.compile(JSON.parse(contract.inputSchema));
  const decoder = new InputDecoder(contract);
  // JSON Schema has no place for the last items of [...rest[], last]: `items` is any of them.
  const looser = JSON.stringify(contract.input).includes('"tail"');
  // The value of a port is never published as null; an optional item that is null counts as absent all the same.
  const nulls = contract.input.some(({ list }) => list?.kind === "tuple" && (list.optional ?? 0) > 0);
  // ajv passes over a member of this name.
  const unjudged = contract.inputSchema.includes('"__proto__"');
  return (body) => {
    const wanted = fits(JSON.parse(body));
    try {
      const decoded = decoder.decodeUnsigned(Buffer.from(body));
      assert.ok(
        wanted || unjudged || nulls,
        `${body} is accepted, and ajv says ${ajv.errorsText(fits.errors)}\n${contract.inputSchema}`,
      );
      return { accepted: true, decoded, details: "" };
    } catch (error) {
      if (!(error instanceof WireFault)) throw error;
      const details = error.details ?? "";
      assert.ok(
        !wanted || unjudged || looser || STRICTER.some(([pattern]) => pattern.test(details)),
        `${body} is refused (${details}), and ajv accepts it\n${contract.inputSchema}`,
      );
      return { accepted: false, details };
    }
  };
}
