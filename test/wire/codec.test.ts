import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decodeOutput } from "#client/wire/bcs/bcs.js";
import type { Codec, Contract, Port } from "#client/wire/codec/contract.js";
import { ValueDecoder } from "#client/wire/codec/decoder.js";
import { ValueEncoder } from "#client/wire/codec/encoder.js";
import { EnvelopeReader } from "#client/wire/envelope/envelope.js";
import { WireFault } from "#client/wire/fault.js";
import { textOf } from "#client/wire/json/print.js";
import { parseJson } from "#client/wire/json/scan.js";
import { sha256 } from "#client/wire/signature/hash.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { OutputEncoder, resultBytes, resultJson } from "#runtime/server/wire/output.js";
import { proves } from "../proves.js";
import { DEFINITIONS, objectOf, portName, type Sample, type Typed, typed } from "./arbitraries.js";
import { contractWith } from "./codecs.js";
import { encodeInputPreimage, inputHashOf } from "./declared-bcs.js";

const FULL = process.env.SVC_TEST_FULL === "1";
const RUNS = FULL ? 5000 : 200;

const typedValue = typed.chain(({ codec, values }) => values.map((sample) => ({ codec, ...sample })));

/** The same value with the members of every plain object in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return objectOf(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, shuffled(member)]),
  );
}

const contractOf = (ports: readonly Port[]) =>
  contractWith({ input: ports, output: [{ name: "ok", ports }], definitions: DEFINITIONS });

/** Ports of any type with a value for each: one in three is a `many`, one in three optional. */
const call = fc
  .uniqueArray(fc.tuple(portName, typed, fc.constantFrom("one", "many", "optional")), {
    minLength: 1,
    maxLength: 5,
    selector: ([name]) => name,
  })
  .chain((specs) =>
    fc.tuple(...specs.map((spec) => valuesOf(spec))).map((values) => ({
      contract: contractOf(
        specs.map(([name, { codec }, kind]) => ({
          name,
          codec,
          many: kind === "many",
          ...(kind === "optional" && { optional: true }),
        })),
      ),
      given: objectOf(specs.map(([name], i) => [name, values[i]?.given])),
      read: objectOf(
        specs.flatMap(([name], i) => (values[i]?.read === undefined ? [] : [[name, values[i].read] as const])),
      ),
    })),
  );

function valuesOf([, { values }, kind]: [string, Typed, string]): fc.Arbitrary<Sample> {
  if (kind === "one") return values;
  if (kind === "many") {
    return fc
      .array(values, { minLength: 1, maxLength: 3 })
      .map((items) => ({ given: items.map(({ given }) => given), read: items.map(({ read }) => read) }));
  }
  return fc.oneof(
    fc.constantFrom<Sample>({ given: undefined, read: undefined }, { given: null, read: undefined }),
    values.map(({ given, read }) => ({ given, read: read === null ? undefined : read })),
  );
}

/** A body with these texts: `data` where a text is canonical, else `bytes`; and its input hash by the declared layout. */
function signedBody(ports: readonly Port[], texts: readonly (readonly Uint8Array[])[]): { body: Buffer; hash: Buffer } {
  const item = (bytes: Uint8Array) => {
    const text = Buffer.from(bytes);
    return textOf(parseJson(text), 0, "canonical").equals(text)
      ? `{"kind":"data","data":${text}}`
      : `{"kind":"data","bytes":"${text.toString("base64")}"}`;
  };
  const entries = ports.map(({ name, many }, i) => {
    const items = (texts[i] ?? []).map(item);
    return `{"port_name":${JSON.stringify(name)},"value":${many ? `{"many":[${items}]}` : `{"one":${items[0]}}`}}`;
  });
  const preimage = encodeInputPreimage(
    ports.map(({ name, many }, i) => ({
      name,
      commitment: { many, kind: "data", commitments: (texts[i] ?? []).map(sha256) },
    })),
  );
  return { body: Buffer.from(`{"ports":[${entries.reverse()}]}`), hash: inputHashOf(preimage) };
}

/** Equality apart from absent members that every object inherits, which are own `undefined` members. */
function assertSameMembers(actual: unknown, expected: unknown): void {
  assert.deepEqual(withoutAbsent(actual), expected);
}

function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAbsent);
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy = { ...value };
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined && name in Object.prototype) Reflect.deleteProperty(copy, name);
    else Object.defineProperty(copy, name, { value: withoutAbsent(member) });
  }
  return copy;
}

describe("codecs", () => {
  it("read back what they wrote, for every type", () => {
    fc.assert(
      fc.property(typedValue, ({ codec, given, read }) => {
        const text = new ValueEncoder(codec, DEFINITIONS).write(given);
        JSON.parse(text);
        const back = new ValueDecoder(codec, DEFINITIONS).read(Buffer.from(text));
        assertSameMembers(back, read);
      }),
      { numRuns: RUNS * 4 },
    );
  });

  it("refuse any other value with a WireFault, never with another error", () => {
    fc.assert(
      fc.property(typed, typedValue, fc.anything({ withBigInt: true, withDate: true }), (type, other, anything) => {
        const encoder = new ValueEncoder(type.codec, DEFINITIONS);
        for (const value of [other.given, anything]) {
          try {
            JSON.parse(encoder.write(value));
          } catch (error) {
            if (!(error instanceof WireFault)) throw error;
            assert.equal(error.code, "output_serialization_error");
          }
        }
        const text = Buffer.from(new ValueEncoder(other.codec, DEFINITIONS).write(other.given));
        try {
          new ValueDecoder(type.codec, DEFINITIONS).read(text);
        } catch (error) {
          if (!(error instanceof WireFault)) throw error;
          assert.equal(error.code, "input_deserialization_error");
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a result as an input", () => {
  it("reads back equal: object → BCS → decodeOutput → signed body → envelope → object", () => {
    fc.assert(
      fc.property(call, ({ contract, given, read }) => {
        const bytes = resultBytes(new OutputEncoder(contract).encode({ ok: given }));
        const { tag, ports } = decodeOutput(bytes);
        assert.equal(tag, "ok");
        assert.deepEqual(
          ports.map(({ name }) => name),
          contract.input.map(({ name }) => name),
          "schema order",
        );
        const texts = ports.map(({ values }) =>
          values.map((value) => (value.kind === "inline" ? value.bytes : assert.fail(value.kind))),
        );
        const { body, hash } = signedBody(contract.input, texts);
        const matched = new EnvelopeReader(contract.input).read(body).match(hash);
        assert.ok(matched !== undefined, "the hash is that of the texts");
        assertSameMembers(new InputDecoder(contract).decodeSigned(matched), read);
      }),
      { numRuns: RUNS },
    );
  });

  it("reads back equal through its JSON form, in unsigned mode", () => {
    fc.assert(
      fc.property(call, ({ contract, given, read }) => {
        const json = resultJson(new OutputEncoder(contract).encode({ ok: given })) ?? "";
        const body = json.slice('{"ok":'.length, -1);
        assertSameMembers(new InputDecoder(contract).decodeUnsigned(Buffer.from(body)), read);
      }),
      { numRuns: RUNS },
    );
  });

  it("has the same bytes for any order of members", () => {
    fc.assert(
      fc.property(call, ({ contract, given }) => {
        const encoder = new OutputEncoder(contract);
        const encode = (value: unknown) => resultBytes(encoder.encode(value));
        assert.deepEqual(encode({ ok: shuffled(given) }), encode({ ok: given }));
      }),
      { numRuns: RUNS },
    );
    proves("7.13");
  });
});

describe("recursive unions", () => {
  // Every branch holds the type itself, and only what comes after it tells the branches apart.
  const node = (name: string, codec: Codec): Codec => ({
    kind: "object",
    members: [
      { name: "next", optional: true, codec: { kind: "ref", name: "node" } },
      { name, codec },
    ],
  });
  const definitions: Contract["definitions"] = [
    ["node", { kind: "union", branches: [node("x", { kind: "string" }), node("x", { kind: "number" })] }],
  ];
  const root: Codec = { kind: "ref", name: "node" };
  const nested = (leaf: unknown) => {
    let value: unknown = { x: leaf };
    for (let level = 0; level < 120; level++) value = { next: value, x: level % 3 === 0 ? "s" : 1 };
    return value;
  };

  it("cost one pass for each branch, not one for each combination of branches", () => {
    const value = nested(1);
    const text = new ValueEncoder(root, definitions).write(value);
    assert.deepEqual(new ValueDecoder(root, definitions).read(Buffer.from(text)), value);
  });

  it("report the start of the position of a mismatch at any depth", () => {
    const deepest = `${"next.".repeat(8).slice(0, -1)}…: expected a string or a number, got a boolean`;
    const text = Buffer.from(JSON.stringify(nested(true)));
    assert.throws(
      () => new ValueDecoder(root, definitions).read(text),
      new WireFault("input_deserialization_error", deepest),
    );
    assert.throws(
      () => new ValueEncoder(root, definitions).write(nested(true)),
      new WireFault("output_serialization_error", deepest),
    );
  });
});
