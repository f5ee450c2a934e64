import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { looksLikeKey, readPublicKey, readSigningKey } from "#client/keys.js";
import { publicKeyOf } from "#client/wire/signature/ed25519.js";
import { proves, provesRow } from "../proves.js";

const seed = Buffer.alloc(32, 0xfb);
const flagged = Buffer.concat([Buffer.of(0), seed]);

function publicKeyRead(text: string): string | undefined {
  const reading = readSigningKey(text);
  return "key" in reading ? Buffer.from(reading.key.publicKey).toString("hex") : undefined;
}

function got(text: string): string | undefined {
  const reading = readSigningKey(text);
  return "got" in reading ? reading.got : undefined;
}

describe("readSigningKey", () => {
  const expected = Buffer.from(publicKeyOf(seed)).toString("hex");
  const hex = seed.toString("hex");
  const standard = seed.toString("base64");
  const url = standard.replaceAll("+", "-").replaceAll("/", "_");
  const forms = {
    hex,
    "hex upper case": hex.toUpperCase(),
    "hex mixed case": `F${hex.slice(1)}`,
    "0x hex": `0x${hex}`,
    "hex flagged": `00${hex}`,
    "0x hex flagged": `0x00${hex}`,
    base64: standard,
    "base64 unpadded": standard.replace("=", ""),
    base64url: url,
    "base64url unpadded": url.replace("=", ""),
    "base64 flagged": flagged.toString("base64"),
    "base64url flagged": flagged.toString("base64url"),
  };

  for (const [name, text] of Object.entries(forms)) {
    it(`accepts ${name}, with ASCII white space around it`, () => {
      assert.equal(publicKeyRead(text), expected);
      assert.equal(publicKeyRead(` \t\r\n\v\f${text}\n \n`), expected);
      assert.ok(looksLikeKey(text));
      proves("10.9");
    });
  }

  it("accepts base64 that begins with 0x", () => {
    const odd = Buffer.from(`0x${"A".repeat(41)}=`, "base64");
    assert.equal(publicKeyRead(`0x${"A".repeat(41)}=`), Buffer.from(publicKeyOf(odd)).toString("hex"));
    assert.equal(publicKeyRead(`0x${"A".repeat(41)}`), Buffer.from(publicKeyOf(odd)).toString("hex"));
    proves("10.9");
  });

  const none = "in none of these formats";
  const refused: [name: string, text: string, got: string][] = [
    ["empty", "", "an empty string"],
    ["blank", " \n", "an empty string"],
    ["0x alone", "0x", none],
    ["0X", `0X${hex}`, "66 characters, some of which are not hex digits"],
    ["63 digits", hex.slice(1), "63 hex digits"],
    ["65 digits", `0${hex}`, "65 hex digits"],
    ["68 digits", `0000${hex}`, "68 hex digits"],
    ["128 digits", hex + hex, "128 hex digits"],
    ["hex with another flag", `01${hex}`, "33 bytes whose first byte is not zero"],
    [
      "wallet with another flag",
      Buffer.concat([Buffer.of(1), seed]).toString("base64"),
      "33 bytes whose first byte is not zero",
    ],
    [
      "33 bytes, flag at the end",
      Buffer.concat([Buffer.of(9), seed.subarray(1), Buffer.of(0)]).toString("base64"),
      "33 bytes whose first byte is not zero",
    ],
    ["31 bytes", seed.subarray(1).toString("base64"), "31 bytes"],
    ["34 bytes", Buffer.alloc(34).toString("base64"), "34 bytes"],
    ["64 bytes", Buffer.alloc(64).toString("base64"), "64 bytes"],
    ["a letter that is no hex digit", `g${"0".repeat(63)}`, "64 characters, some of which are not hex digits"],
    ["mixed alphabets", `-${standard.slice(1)}`, none],
    ["stray bits", `${standard.slice(0, 42)}t=`, none],
    ["stray bits unpadded", `${standard.slice(0, 42)}t`, none],
    ["two paddings", `${standard}=`, none],
    ["padding of a full group", `${flagged.toString("base64")}=`, none],
    ["four paddings of a full group", `${flagged.toString("base64")}====`, none],
    ["padding before", `=${standard.slice(0, 43)}`, none],
    ["padding in the middle", `${standard.slice(0, 20)}=${standard.slice(20, 43)}`, none],
    ["white space inside", `${standard.slice(0, 20)} ${standard.slice(20)}`, none],
    ["newline inside hex", `${hex.slice(0, 32)}\n${hex.slice(32)}`, none],
    ["no-break space around", `\u00a0${hex}`, none],
    ["byte-order mark", `\ufeff${hex}`, none],
    ["full-width digits", hex.replace("f", "\uff46"), none],
    ["NUL", `${hex}\0`, none],
    ["quoted", `"${hex}"`, none],
    ["a bech32 wallet key", "suiprivkey1qzwant3kaegmjy4qxex93s0jzvemekkjmyv3r2sjwgnv2y479pgsywhveae", none],
  ];
  for (const [name, text, expectedGot] of refused) {
    it(`refuses ${name}`, () => {
      assert.equal(got(text), expectedGot === none ? `${text.length} characters ${none}` : expectedGot);
      assert.ok(!looksLikeKey(text));
      provesRow(name, {
        "10.9": [
          "mixed alphabets",
          "stray bits",
          "hex with another flag",
          "31 bytes",
          "no-break space around",
          "128 digits",
        ],
      });
    });
  }

  it("refuses anything else, without any part of the text in the error", () => {
    const characters = fc.string({ unit: fc.constantFrom(..."AZaz09+/-_= \n\u00e9x"), minLength: 30, maxLength: 70 });
    fc.assert(
      fc.property(characters, (text) => {
        const answer = got(text);
        if (answer === undefined)
          assert.match(text.trim(), /^[A-Za-z0-9+/_-]{43,44}=?$|^(0x)?([0-9a-fA-F]{2}){32,33}$/);
        else
          assert.match(
            answer,
            /^(\d+ characters(?:,| in none).*|a path in place.*|an empty string|\d+ hex digits|\d+ bytes|33 bytes whose first.*)$/,
          );
      }),
      { numRuns: 1000 },
    );
  });

  it("is linear on a long text", () => {
    const started = process.cpuUsage().user;
    for (const text of ["=", " ", "A", "0", "-+", "\n x"]) assert.ok(got(text.repeat(500_000)));
    assert.ok(process.cpuUsage().user - started < 3_000_000);
  });
});

describe("readPublicKey", () => {
  const hex = "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c";
  const unusable = "bytes that are not a valid public key";

  it("accepts 64 hex digits in any letter case, with or without 0x", () => {
    for (const text of [hex, `0x${hex}`, hex.toUpperCase(), `0x${hex.toUpperCase()}`]) {
      const reading = readPublicKey(text);
      assert.ok("key" in reading);
      assert.equal(Buffer.from(reading.key.bytes).toString("hex"), hex);
    }
    proves("10.7");
  });

  const refused: [name: string, text: string, got: string][] = [
    ["0X", `0X${hex}`, "66 characters, some of which are not hex digits"],
    ["0x twice", `0x0x${hex}`, "68 characters, some of which are not hex digits"],
    ["white space", ` ${hex}`, "white space around the key: trim the text"],
    ["a path", "keys/leader.pub", "a path in place of the content of the file"],
    ["a newline at the end", `${hex}\n`, "white space around the key: trim the text"],
    ["base64", Buffer.from(hex, "hex").toString("base64"), "32 bytes in base64"],
    ["nothing", "", "0 hex digits"],
    ["0x alone", "0x", "0 hex digits"],
    ["31 bytes", hex.slice(2), "62 hex digits"],
    ["33 bytes", `${hex}00`, "66 hex digits"],
    ["an odd number of digits", hex.slice(1), "63 hex digits"],
    ["no curve point", `02${"00".repeat(31)}`, unusable],
    ["small order 0", "00".repeat(32), unusable],
    ["small order 0, other sign", `${"00".repeat(31)}80`, unusable],
    ["small order 1", `01${"00".repeat(31)}`, unusable],
    ["small order 1, other sign", `01${"00".repeat(30)}80`, unusable],
    ["small order -1", `ec${"ff".repeat(30)}7f`, unusable],
    ["small order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", unusable],
    ["small order 8, other sign", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85", unusable],
    ["small order 8'", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", unusable],
    ["p", `ed${"ff".repeat(30)}7f`, unusable],
    ["p + 1", `ee${"ff".repeat(30)}7f`, unusable],
    ["p + 3, a curve point not in canonical form", `f0${"ff".repeat(30)}7f`, unusable],
    ["all bits set", "ff".repeat(32), unusable],
  ];
  for (const [name, text, expectedGot] of refused) {
    it(`refuses ${name}`, () => {
      assert.deepEqual(readPublicKey(text), { got: expectedGot });
      provesRow(name, {
        "10.7": ["0X", "white space", "31 bytes"],
      });
    });
  }
});
