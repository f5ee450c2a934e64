/** Types, values that have them, JSON texts: what the property tests draw from. */

import fc from "fast-check";
import type { Codec, Contract, ContractMember } from "#client/wire/codec/contract.js";
import { isPortName } from "#client/wire/codec/ports.js";
import { setMember } from "#client/wire/json/untyped-json.js";

/** A value as a tool may give it, and what reads back: optional members that are null or undefined are absent. */
export interface Sample {
  readonly given: unknown;
  readonly read: unknown;
}

/** A type and its values. */
export interface Typed {
  readonly codec: Codec;
  readonly values: fc.Arbitrary<Sample>;
}

/** Names that a JavaScript object would order, hide or inherit. */
const HOSTILE_NAMES = [
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "toJSON", "length", "prototype"],
  ...["0", "1", "10", "2", "-1", "01", "4294967295", "a", "b", "A", "", " ", '"', "\\", "\u0001", "é", "漢", "🦭"],
];

/**
 * A code point, as likely of each length in UTF-8. The unit `binary` of fast-check has the same ones, and builds a map of all
 * of them at first.
 */
export const codePoint = fc
  .oneof(
    fc.nat({ max: 0x7f }),
    fc.integer({ min: 0x80, max: 0x7ff }),
    fc.integer({ min: 0x800, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0xffff }),
    fc.integer({ min: 0x1_0000, max: 0x10_ffff }),
  )
  .map((code) => String.fromCodePoint(code));
export const text = fc.string({ unit: codePoint, maxLength: 12 });
export const name = fc.oneof(fc.constantFrom(...HOSTILE_NAMES), text);
/** What a port or variant may be called. */
export const portName = fc.oneof(
  fc.constantFrom(...HOSTILE_NAMES.filter(isPortName)),
  fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 12 }),
);

const same = (value: unknown): Sample => ({ given: value, read: value });
const scalar = (codec: Codec, values: fc.Arbitrary<unknown>): Typed => ({ codec, values: values.map(same) });

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
  fc.constantFrom(0, -0, 1e15, 1e16, 1e21, 2 ** 53, -(2 ** 53), 2 ** 63, 2 ** 64, 5e-324, Number.MAX_VALUE, 0.1),
);
const bigintOf = (min: bigint, max: bigint) =>
  fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max, 0n, 1n, 2n ** 53n, 2n ** 53n - 1n, 2n ** 63n - 1n));
const bytes = fc.uint8Array({ maxLength: 20 }).map((octets) => new Uint8Array(octets));
const date = fc.date({
  min: new Date("0000-01-01T00:00:00Z"),
  max: new Date("9999-12-31T23:59:59.999Z"),
  noInvalidDate: true,
});
const literalValue = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));

/** A JavaScript object with its own members, in this order. */
export function objectOf(members: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [key, value] of members) setMember(object, key, value);
  return object;
}

/** Plain JSON values, integers beyond ±(2^53−1) as bigints. */
export const json: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(
      text,
      number,
      fc.boolean(),
      fc.constant(null),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
      fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.uniqueArray(fc.tuple(name, tie("value")), { maxLength: 4, selector: ([key]) => key }).map(objectOf),
  ),
})).value;

const leaves: fc.Arbitrary<Typed> = fc.oneof(
  fc.constantFrom<Typed>(
    scalar({ kind: "json" }, json),
    scalar({ kind: "null" }, fc.constant(null)),
    scalar({ kind: "boolean" }, fc.boolean()),
    scalar({ kind: "string" }, text),
    scalar(
      { kind: "string", patterns: ["^id-[0-9]+$"] },
      fc.nat().map((id) => `id-${id}`),
    ),
    scalar({ kind: "number" }, number),
    scalar({ kind: "number", integer: true }, fc.oneof(fc.integer(), fc.maxSafeInteger())),
    scalar({ kind: "bigint" }, bigintOf(-(2n ** 63n), 2n ** 64n - 1n)),
    scalar({ kind: "bigint", format: "int64" }, bigintOf(-(2n ** 63n), 2n ** 63n - 1n)),
    scalar({ kind: "bigint", format: "uint64" }, bigintOf(0n, 2n ** 64n - 1n)),
    scalar({ kind: "date" }, date),
    scalar({ kind: "bytes" }, bytes),
    ...["node", "list"].map(
      (ref): Typed => ({ codec: { kind: "ref", name: ref }, values: REFERENCES()[ref] as never }),
    ),
  ),
  fc
    .uniqueArray(literalValue, { minLength: 1, maxLength: 4 })
    .map((values) => scalar({ kind: "literal", values }, fc.constantFrom(...values))),
);

/** What the `ref` codecs of generated types name. */
export const DEFINITIONS: NonNullable<Contract["definitions"]> = [
  [
    "node",
    {
      kind: "object",
      members: [
        { name: "at", codec: { kind: "bigint" } },
        { name: "left", optional: true, codec: { kind: "ref", name: "node" } },
        { name: "right", optional: true, codec: { kind: "ref", name: "node" } },
      ],
    },
  ],
  [
    "list",
    {
      kind: "union",
      branches: [{ kind: "null" }, { kind: "tuple", items: [{ kind: "date" }, { kind: "ref", name: "list" }] }],
    },
  ],
];

function REFERENCES(): Record<string, fc.Arbitrary<Sample>> {
  const tree = fc.letrec<{ node: Record<string, unknown>; list: unknown }>((tie) => ({
    node: fc
      .record({
        at: bigintOf(0n, 2n ** 64n - 1n),
        left: fc.option(tie("node"), { maxDepth: 3, nil: undefined }),
        right: fc.option(tie("node"), { maxDepth: 3, nil: undefined }),
      })
      .map((node) => objectOf(Object.entries(node).filter(([, value]) => value !== undefined))),
    list: fc.option(fc.tuple(date, tie("list")), { maxDepth: 4, nil: null }),
  }));
  return { node: tree.node.map(same), list: tree.list.map(same) };
}

const isNull = ({ read }: Sample) => read === null || read === undefined;

/** A member's value: present, or absent in one of the three ways when it is optional. */
function memberSample({ optional, typed }: { optional: boolean; typed: Typed }): fc.Arbitrary<Sample | "absent"> {
  if (!optional) return typed.values;
  return fc.oneof(
    fc.constant<"absent">("absent"),
    fc.constantFrom<Sample>({ given: undefined, read: undefined }, { given: null, read: undefined }),
    typed.values.map((sample) => (isNull(sample) ? { given: sample.given, read: undefined } : sample)),
  );
}

function objectType(
  members: readonly { name: string; optional: boolean; typed: Typed }[],
  rest: Typed | undefined,
): Typed {
  const declared = new Set(members.map(({ name: of }) => of));
  const codec: Codec = {
    kind: "object",
    members: members.map(
      ({ name: of, optional, typed }): ContractMember => ({
        name: of,
        codec: typed.codec,
        ...(optional && { optional }),
      }),
    ),
    ...(rest && { rest: rest.codec }),
  };
  const others =
    rest === undefined
      ? fc.constant<[string, Sample][]>([])
      : fc.uniqueArray(
          fc.tuple(
            name.filter((of) => !declared.has(of)),
            rest.values,
          ),
          { maxLength: 3, selector: ([of]) => of },
        );
  const values = fc
    .tuple(fc.tuple(...members.map(memberSample)), others)
    .map(([samples, more]: [(Sample | "absent")[], [string, Sample][]]) => {
      const given: [string, unknown][] = [];
      const read: [string, unknown][] = [];
      for (const [i, { name: of }] of members.entries()) {
        const sample = samples[i];
        if (sample === undefined || sample === "absent") continue;
        given.push([of, sample.given]);
        if (sample.read !== undefined) read.push([of, sample.read]);
      }
      for (const [of, sample] of more) {
        given.push([of, sample.given]);
        read.push([of, sample.read]);
      }
      return { given: objectOf(given), read: objectOf(read) };
    });
  return { codec, values };
}

function tupleType(items: readonly Typed[], wanted: number, rest: Typed | undefined, last: readonly Typed[]): Typed {
  // As in TypeScript: after optional items nothing is required.
  const optional = last.length > 0 ? 0 : Math.min(wanted, items.length);
  const least = items.length - optional;
  const codec: Codec = {
    kind: "tuple",
    items: items.map((item) => item.codec),
    ...(optional > 0 && { optional }),
    ...(rest && { rest: rest.codec }),
    ...(rest && last.length > 0 && { tail: last.map((item) => item.codec) }),
  };
  const tail = rest === undefined ? [] : last;
  const values = fc
    .tuple(
      fc.integer({ min: least, max: items.length }),
      fc.tuple(...items.map((item, i) => memberSample({ optional: i >= least, typed: item }))),
      rest === undefined ? fc.constant<Sample[]>([]) : fc.array(rest.values, { maxLength: 3 }),
      fc.tuple(...tail.map((item) => item.values)),
    )
    .map(([length, fixed, more, end]: [number, (Sample | "absent")[], Sample[], Sample[]]) => {
      const whole = more.length + end.length > 0 ? fixed : fixed.slice(0, length);
      const samples = [
        ...whole.map((sample) => (sample === "absent" ? { given: undefined, read: undefined } : sample)),
        ...more,
        ...end,
      ];
      return { given: samples.map(({ given }) => given), read: samples.map(({ read }) => read) };
    });
  return { codec, values };
}

/** Types whose JSON texts are told apart by their kind, so that a value of one is read as no other. */
function unionType(branches: readonly Typed[]): Typed {
  return {
    codec: { kind: "union", branches: branches.map(({ codec }) => codec) },
    values: fc.oneof(...branches.map(({ values }) => values)),
  };
}

/** Any type. */
export const typed: fc.Arbitrary<Typed> = fc.letrec<{ type: Typed }>((tie) => {
  const type = tie("type");
  const members = fc.uniqueArray(fc.record({ name, optional: fc.boolean(), typed: type }), {
    maxLength: 5,
    selector: (member) => member.name,
  });
  const object = fc.tuple(members, fc.option(type, { nil: undefined })).map(([of, rest]) => objectType(of, rest));
  const array = type.map(
    (item): Typed => ({
      codec: { kind: "array", item: item.codec },
      values: fc
        .array(item.values, { maxLength: 4 })
        .map((samples) => ({ given: samples.map(({ given }) => given), read: samples.map(({ read }) => read) })),
    }),
  );
  const tuple = fc
    .tuple(
      fc.array(type, { maxLength: 3 }),
      fc.nat({ max: 2 }),
      fc.option(type, { nil: undefined }),
      fc.array(type, { maxLength: 2 }),
    )
    .map(([items, optional, rest, last]) => tupleType(items, optional, rest, last));
  const union = fc
    .tuple(
      fc.constantFrom<Typed>(
        scalar({ kind: "string" }, text),
        scalar({ kind: "date" }, date),
        scalar({ kind: "bytes" }, bytes),
        scalar({ kind: "literal", values: ["x", "y"] }, fc.constantFrom("x", "y")),
      ),
      fc.constantFrom<Typed>(
        scalar({ kind: "number" }, number),
        scalar({ kind: "bigint" }, bigintOf(-(2n ** 63n), 2n ** 64n - 1n)),
      ),
      fc.constantFrom<Typed>(
        scalar({ kind: "boolean" }, fc.boolean()),
        scalar({ kind: "null" }, fc.constant(null)),
        scalar({ kind: "literal", values: [true] }, fc.constant(true)),
      ),
      fc.oneof(array, tuple),
      object,
    )
    .chain((kinds) => fc.shuffledSubarray(kinds, { minLength: 2 }))
    .map(unionType);
  const discriminated = fc.array(members, { minLength: 2, maxLength: 3 }).map((branches) =>
    unionType(
      branches.map((of, i) =>
        objectType(
          [
            {
              name: "kind",
              optional: false,
              typed: scalar({ kind: "literal", values: [`k${i}`] }, fc.constant(`k${i}`)),
            },
            ...of.filter((member) => member.name !== "kind"),
          ],
          undefined,
        ),
      ),
    ),
  );
  return {
    type: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaves,
      fc.oneof(object, array, tuple, union, discriminated),
    ),
  };
}).type;

const space = fc.constantFrom("", "", "", " ", "\n", "\t \r\n");
const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 26 });
const integerDigits = fc.oneof(
  fc.nat().map(String),
  digits.map((of) => of.replace(/^0+(?=\d)/, "")),
  fc.constantFrom(
    ...["9007199254740991", "9007199254740992", "9223372036854775807", "9223372036854775808"],
    ...["18446744073709551615", "18446744073709551616", "184467440737095516149", "99999999999999999999"],
  ),
  fc.nat({ max: 330 }).map((zeros) => `1${"0".repeat(zeros)}`),
);

/** Number texts: long digits, edges of the integer kinds, exponents up to and beyond the range. */
export const numberText = fc
  .tuple(
    fc.constantFrom("", "-"),
    integerDigits,
    fc.oneof(
      fc.constant(""),
      digits.map((of) => `.${of}`),
      fc.tuple(fc.nat({ max: 340 }), digits).map(([zeros, of]) => `.${"0".repeat(zeros)}${of}`),
    ),
    fc.oneof(
      fc.constant(""),
      fc
        .tuple(
          fc.constantFrom("e", "E"),
          fc.constantFrom("", "+", "-"),
          fc.oneof(
            fc.nat({ max: 400 }).map(String),
            fc.constantFrom("0", "00", "308", "309", "324", "2147483647", "2147483648", "99999999999999999999"),
          ),
        )
        .map((parts) => parts.join("")),
    ),
  )
  .map((parts) => parts.join(""));

const hex4 = (unit: number, upper: boolean) => {
  const digitsOf = unit.toString(16).padStart(4, "0");
  return `\\u${upper ? digitsOf.toUpperCase() : digitsOf}`;
};

/** String texts with every kind of escape, lone surrogates now and then. */
export const stringText = fc
  .array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.string({ unit: codePoint, maxLength: 3 }).map((of) => of.replace(/[^ !#-[\]-\u{10ffff}]/gu, "?")),
      },
      {
        weight: 3,
        arbitrary: fc.constantFrom("\\n", "\\t", "\\r", "\\b", "\\f", "\\/", '\\"', "\\\\", "\u007f", "\u2028"),
      },
      {
        weight: 3,
        arbitrary: fc.tuple(fc.nat({ max: 0xd7ff }), fc.boolean()).map(([unit, upper]) => hex4(unit, upper)),
      },
      { weight: 2, arbitrary: fc.constantFrom("\\u0000", "\\u001f", "\\u0022", "\\u005C", "\\ud83e\\uddad") },
    ),
    { maxLength: 4 },
  )
  .map((parts) => `"${parts.join("")}"`);

/** Documents: white space, repeated names in several spellings, hostile numbers. */
export const documentText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => {
  const member = fc
    .tuple(
      space,
      fc.oneof(fc.constantFrom('"a"', '"\\u0061"', '"b"', '"1"', '"__proto__"'), stringText),
      space,
      tie("value"),
    )
    .map(([before, key, between, value]) => `${before}${key}${between}:${value}`);
  const padded = fc.tuple(space, tie("value"), space).map((parts) => parts.join(""));
  return {
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(numberText, stringText, fc.constantFrom("null", "true", "false")),
      fc.tuple(fc.array(padded, { maxLength: 4 }), space).map(([items, end]) => `[${items.join(",") || end}]`),
      fc.tuple(fc.array(member, { maxLength: 5 }), space).map(([members, end]) => `{${members.join(",")}${end}}`),
    ),
  };
}).value;
