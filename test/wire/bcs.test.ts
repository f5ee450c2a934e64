import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decodeOutput, encodeNoncePreimage } from "#client/wire/bcs/bcs.js";
import type { RawOutput, RawValue } from "#client/wire/bcs/bcs-shapes.js";
import { encodeNexusData, encodeOutput, lengthBytes, nexusDataSize } from "#client/wire/bcs/bcs-writer.js";
import { InputHasher } from "#client/wire/signature/input-hash.js";
import { portName } from "./arbitraries.js";
import { encodeInputPreimage, encodeNexusDataDeclared, encodeOutputDeclared, inputHashOf } from "./declared-bcs.js";

const FULL = process.env.SVC_TEST_FULL === "1";
const RUNS = FULL ? 10_000 : 300;

const exactly = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const blobId = exactly(32).map((bytes) => Buffer.from(Buffer.from(bytes).toString("base64url")));
const inline = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(127, 128, 16_383, 16_384).map((n) => new Uint8Array(n)),
);
const value: fc.Arbitrary<RawValue> = fc.oneof(
  exactly(32).map((id) => ({ kind: "object", id }) as const),
  inline.map((bytes) => ({ kind: "inline", bytes }) as const),
  fc.tuple(blobId, exactly(32)).map(([id, contentDigest]) => ({ kind: "walrus", blobId: id, contentDigest }) as const),
);
const values = fc.oneof(
  { weight: 9, arbitrary: fc.array(value, { maxLength: 4 }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(127, 128, 256)
      .map((n): RawValue[] => Array.from({ length: n }, () => ({ kind: "inline", bytes: Uint8Array.of(1) }))),
  },
);
const result: fc.Arbitrary<RawOutput> = fc.record({
  tag: portName,
  ports: fc.array(fc.record({ name: portName, values }), { maxLength: 4 }),
});

/** The same with every byte string as a Buffer, so that equality is about bytes. */
const plain = ({ tag, ports }: RawOutput) => ({
  tag,
  ports: ports.map((port) => ({
    name: port.name,
    values: port.values.map((of) =>
      Object.fromEntries(
        Object.entries(of).map(([key, member]) => [
          key,
          member instanceof Uint8Array ? Buffer.from(member).toString("hex") : member,
        ]),
      ),
    ),
  })),
});

describe("a result", () => {
  it("is written by hand like by the declared layout, and read back", () => {
    fc.assert(
      fc.property(result, (output) => {
        const bytes = encodeOutput(output);
        assert.ok(bytes.equals(encodeOutputDeclared(output)));
        assert.deepEqual(plain(decodeOutput(bytes)), plain(output));
      }),
      { numRuns: RUNS },
    );
  });

  it("has one encoding: changed bytes are refused or encode another result", () => {
    const byte = fc.nat({ max: 255 }).map((value) => [value]);
    const mutation = fc.oneof(
      fc.record({ at: fc.nat(), removed: fc.constant(1), inserted: byte }),
      fc.record({ at: fc.nat(), removed: fc.constant(Number.POSITIVE_INFINITY), inserted: fc.constant([]) }),
      fc.record({ at: fc.nat(), removed: fc.constant(0), inserted: byte }),
    );
    fc.assert(
      fc.property(result, mutation, fc.boolean(), (output, { at, removed, inserted }, isAtEnd) => {
        const bytes = encodeOutput(output);
        const place = isAtEnd && removed === 0 ? bytes.length : at % bytes.length;
        const mutated = Buffer.from([...bytes].toSpliced(place, removed, ...inserted));
        let read: RawOutput;
        try {
          read = decodeOutput(mutated);
        } catch (error) {
          assert.ok(error instanceof RangeError);
          assert.equal(error.message, "result: expected exactly one OffchainToolOutput in canonical BCS");
          return;
        }
        assert.ok(encodeOutput(read).equals(mutated), "what is read is exactly what stands there");
        assert.notEqual(place, bytes.length, "nothing follows a result");
      }),
      { numRuns: RUNS * 3 },
    );
  });

  for (const [what, hex] of [
    ["nothing", ""],
    ["a length of two bytes where one is enough", "82006f6b00"],
    ["a value of a fourth kind", "026f6b0101610103"],
    ["an object id cut short", "026f6b01016101000102"],
    ["a length beyond the end", "026f6b01016101010a31"],
    ["a length of 2^32", "808080801000"],
    ["a length of endless continuation", "ffffffffffffffffffff00"],
    ["a count beyond the end", "026f6bffffffff07"],
    ["a kind in two bytes", "026f6b010161018100013100"],
    ["trailing bytes", "026f6b0000"],
  ] as const) {
    it(`is refused: ${what}`, () => assert.throws(() => decodeOutput(Buffer.from(hex, "hex")), RangeError));
  }
});

describe("the values of a port", () => {
  const given = fc
    .tuple(values, value, fc.boolean())
    .map(([of, one, many]) => ({ many, values: many ? of : [one] }) as const);

  it("are written by hand like by the declared layout, and have the size computed before", () => {
    fc.assert(
      fc.property(given, ({ many, values }) => {
        const bytes = encodeNexusData(values, many);
        assert.deepEqual(bytes, encodeNexusDataDeclared(values, many));
        assert.equal(bytes.length, nexusDataSize(values, many));
      }),
      { numRuns: RUNS },
    );
  });
});

describe("sizes", () => {
  it("of lengths change at the same values as ULEB128", () => {
    for (const [length, size] of [
      [0, 1],
      [127, 1],
      [128, 2],
      [16_383, 2],
      [16_384, 3],
      [2_097_151, 3],
      [2_097_152, 4],
      [268_435_455, 4],
      [268_435_456, 5],
    ] as const) {
      const bytes = lengthBytes(length);
      assert.equal(bytes.length, size);
      const read = bytes.reduceRight((higher, byte) => higher * 128 + (byte & 0x7f), 0);
      assert.equal(read, length);
    }
  });

  it("are refused unless exactly one value is given for a `one` port", () => {
    const one = { kind: "inline", bytes: Buffer.from("1") } as const;
    assert.throws(() => encodeNexusData([], false), /^RangeError: one: expected one value, got 0$/);
    assert.throws(() => encodeNexusData([one, one], false), /^RangeError: one: expected one value, got 2$/);
  });
});

describe("the input hash", () => {
  it("is that of the declared layout", () => {
    const port = fc
      .tuple(portName, fc.boolean(), fc.array(exactly(32), { minLength: 1, maxLength: 3 }))
      .map(([name, many, commitments]) => ({ name, many, commitments: many ? commitments : commitments.slice(0, 1) }));
    fc.assert(
      fc.property(
        fc.uniqueArray(port, { maxLength: 5, selector: ({ name }) => name }),
        fc.boolean(),
        (ports, large) => {
          const all = ports.map((of) =>
            large && of.many ? { ...of, commitments: Array.from({ length: 256 }, (_, i) => Buffer.alloc(32, i)) } : of,
          );
          const declared = encodeInputPreimage(
            all.map(({ name, many, commitments }) => ({ name, commitment: { many, kind: "data", commitments } })),
          );
          const hasher = new InputHasher(all);
          assert.ok(inputHashOf(declared).equals(hasher.hash(all.map(({ commitments }) => commitments))));
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe("the nonce preimage", () => {
  const invocation = { executionId: Buffer.alloc(32), walkIndex: 0n, vertexName: "vertex", iteration: 0n };
  it("accepts u64s at both limits and nothing beyond", () => {
    encodeNoncePreimage({ ...invocation, walkIndex: 2n ** 64n - 1n });
    for (const walkIndex of [-1n, 2n ** 64n, 1 as never, Number.NaN as never, "7" as never]) {
      assert.throws(
        () => encodeNoncePreimage({ ...invocation, walkIndex }),
        /walk index: expected a bigint from 0 to 2\^64-1/,
      );
      assert.throws(() => encodeNoncePreimage({ ...invocation, iteration: walkIndex }), /iteration: expected a bigint/);
    }
  });
  it("accepts an execution id of 32 bytes", () => {
    for (const length of [0, 31, 33]) {
      assert.throws(
        () => encodeNoncePreimage({ ...invocation, executionId: Buffer.alloc(length) }),
        new RangeError(`execution id: expected 32 bytes, got ${length}`),
      );
    }
  });
});
