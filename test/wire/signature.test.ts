import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decodeBase64, decodeBase64url } from "#client/wire/base64.js";
import { encodeOutput } from "#client/wire/bcs/bcs-writer.js";
import { NexusData, NexusValue } from "#client/wire/bcs/data.js";
import { SIGNATURE_VERSION } from "#client/wire/protocol.js";
import { sha256 } from "#client/wire/signature/hash.js";
import { InputHasher } from "#client/wire/signature/input-hash.js";
import { invocationNonce } from "#client/wire/signature/nonce.js";
import { outputHash, toolSignatureMessage } from "#client/wire/signature/signature.js";
import { proves } from "../proves.js";
import { commitmentOf, encodeInputPreimage, inputHashOf } from "./declared-bcs.js";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

describe("golden values of protocol.md section 4", () => {
  const inputHash = "c4c6b94a64dfa36bbc1261eb8cd2ea030a0187cb6f66b34571be80aa1539f858";
  const ports = [
    { name: "z", many: false },
    { name: "aa", many: false },
  ];
  const commitments = [sha256(Buffer.from("Z")), sha256(Buffer.from("A"))];

  it("input hash", () => {
    assert.equal(hex(new InputHasher(ports).hash(commitments.map((of) => [of]))), inputHash);
    const declared = encodeInputPreimage(
      ports.map(({ name, many }, i) => ({
        name,
        commitment: { many, kind: "data", commitments: commitments.slice(i, i + 1) },
      })),
    );
    assert.equal(hex(inputHashOf(declared)), inputHash);
    proves("1.3", "4.3", "4.15");
  });

  it("the input hash depends on the order of ports", () => {
    const other = new InputHasher(ports.toReversed()).hash(commitments.toReversed().map((of) => [of]));
    assert.notEqual(hex(other), inputHash);
    proves("4.3");
  });

  it("the input hash of a `many` port with one value differs from that of a `one` port", () => {
    const other = new InputHasher(ports.map((port) => ({ ...port, many: true }))).hash(commitments.map((of) => [of]));
    assert.notEqual(hex(other), inputHash);
  });

  for (const count of [1, 2, 127, 128, 256]) {
    it(`the input hash of a \`many\` port with ${count} values is that of its BCS`, () => {
      const name = "p".repeat(128);
      const values = Array.from({ length: count }, (_, i) => Buffer.alloc(32, i));
      const preimage = encodeInputPreimage([{ name, commitment: { many: true, kind: "data", commitments: values } }]);
      assert.equal(hex(new InputHasher([{ name, many: true }]).hash([values])), hex(inputHashOf(preimage)));
    });
  }

  it("result and output hash", () => {
    const values = [{ kind: "inline", bytes: Buffer.from("x") } as const];
    const bcs = encodeOutput({ tag: "ok", ports: [{ name: "result", values }] });
    assert.equal(hex(bcs), "026f6b0106726573756c7401010178");
    assert.equal(hex(outputHash(bcs)), "05b824008a23a42ccb453d2dc4fd3ab6d1ef55246c719dc035dd2e621041cb6c");
    proves("1.3", "4.6", "4.15");
  });

  it("invocation nonce", () => {
    const executionId = Buffer.alloc(32);
    executionId[31] = 0xe;
    const nonce = invocationNonce({ executionId, walkIndex: 3n, vertexName: "vertex", iteration: 0n });
    assert.equal(hex(nonce), "7dc2b7b7addb953fc231afd71d9444beca7b253f1e45481bc50d4ac6cd0e4c32");
    proves("1.3", "3.9", "4.8", "4.15");
  });

  it("signature version and the tool's message", () => {
    assert.equal(SIGNATURE_VERSION, "3");
    const message = toolSignatureMessage(Buffer.alloc(64, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3));
    assert.equal(
      message.toString("latin1"),
      `nexus.direct.v3.tool-response${"\x01".repeat(64)}${"\x02".repeat(32)}${"\x03".repeat(32)}`,
    );
    proves("1.3");
  });
});

describe("the tool's message", () => {
  for (const [what, lengths] of [
    ["leader signature", [63, 32, 32]],
    ["leader signature", [65, 32, 32]],
    ["nonce", [64, 31, 32]],
    ["output hash", [64, 32, 33]],
  ] as const) {
    it(`refuses a ${what} of another length: ${lengths}`, () => {
      const [signature, nonce, output] = lengths.map((length) => Buffer.alloc(length)) as [Buffer, Buffer, Buffer];
      assert.throws(() => toolSignatureMessage(signature, nonce, output), new RegExp(`^RangeError: ${what}: expected`));
    });
  }
});

describe("the commitment of a value", () => {
  it("is the hash of inline bytes, the digest of a stored value, the id of an object", () => {
    const digest = Buffer.alloc(32, 9);
    const of = (value: NexusValue) => hex(commitmentOf(NexusData.one(value)).commitments[0] ?? Buffer.of());
    assert.equal(of(NexusValue.json("1")), hex(sha256(Buffer.from("1"))));
    assert.equal(of(NexusValue.walrus("A".repeat(43), digest)), hex(digest));
    assert.equal(of(NexusValue.object("0xe")), `${"0".repeat(63)}e`);
    proves("4.2");
  });
});

describe("base64", () => {
  it("does not read a non-ASCII character as the digit in its lower byte", () => {
    for (const text of ["\u0141AAAAAAA", "\u012dAAAAAAA", "AAA\u0141", "AAA\u013d"]) {
      assert.equal(decodeBase64(text), undefined);
      assert.equal(decodeBase64url(text), undefined);
    }
  });
  const url = (text: string) => decodeBase64url(text)?.toString("hex");
  const standard = (text: string) => decodeBase64(text)?.toString("hex");
  for (const [text, wanted] of [
    ["", ""],
    ["_w", "ff"],
    ["-_8", "fbff"],
    ["____", "ffffff"],
    ["_w==", undefined],
    ["/w", undefined],
    ["_x", undefined],
    ["_", undefined],
    ["_w\n", undefined],
    [" _w", undefined],
    ["_wé", undefined],
    ["_w.", undefined],
    ["_w,", undefined],
    ["_\u0000w", undefined],
  ] as const) {
    it(`base64url ${JSON.stringify(text)}: ${wanted ?? "refused"}`, () => {
      assert.equal(url(text), wanted);
      proves("5.7");
    });
  }
  for (const [text, wanted] of [
    ["", ""],
    ["/w==", "ff"],
    ["+/8=", "fbff"],
    ["////", "ffffff"],
    ["/w", undefined],
    ["/w=", undefined],
    ["/x==", undefined],
    ["_w==", undefined],
    ["/w==\n", undefined],
    ["/w===", undefined],
    ["/w==/w==", undefined],
    ["====", undefined],
    ["=///", undefined],
    ["/ w=", undefined],
    ["é/w=", undefined],
  ] as const) {
    it(`base64 ${JSON.stringify(text)}: ${wanted ?? "refused"}`, () => assert.equal(standard(text), wanted));
  }
  it("accepts only the canonical encoding", () => {
    const digits = fc.constantFrom(..."AQgw+/");
    const other = fc.constantFrom(..."-_= \n!é\u0100\ud83d");
    const part = fc.array(fc.oneof({ weight: 40, arbitrary: digits }, { weight: 1, arbitrary: other }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(part, fc.constantFrom("", "=", "=="), (characters, end) => {
        const text = characters.join("") + end;
        const bytes = Buffer.from(text, "base64");
        assert.equal(standard(text), bytes.toString("base64") === text ? bytes.toString("hex") : undefined);
      }),
      { numRuns: 5000 },
    );
  });
  it("is linear in long texts", () => {
    assert.equal(decodeBase64("A".repeat(12 << 20))?.length, 9 << 20);
    assert.equal(decodeBase64(`${"A".repeat((12 << 20) - 1)}!`), undefined);
  });
});
