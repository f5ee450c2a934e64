// Every engine against foreign vectors, against each other, and against wrong arguments.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { getPublicKeyAsync, Point } from "@noble/ed25519";
import fc from "fast-check";
import {
  type Ed25519Engine,
  isValidPublicKey as isValidHere,
  loadSodiumEngine,
  nobleEngine,
  nodeEngine,
  passesSelfTest,
  prepareSigningKey,
  prepareVerifyKey,
  publicKeyOf,
  selectEngine,
} from "#client/wire/signature/ed25519.js";
import type { VerifyKey } from "#client/wire/signature/ed25519-keys.js";
import { isValidPublicKey as isValidByNoble } from "#client/wire/signature/portable-crypto.js";
import { readVectors } from "../vectors/read.js";

interface VectorFile {
  cases: { id: string; public_key: string; message: string; signature: string; verify_strict: boolean; note: string }[];
}

const vectors = readVectors<VectorFile>("ed25519.json");
const sodiumEngine = loadSodiumEngine();
const engines: Ed25519Engine[] = sodiumEngine ? [sodiumEngine, nodeEngine, nobleEngine] : [nodeEngine, nobleEngine];
const fast = sodiumEngine ?? nodeEngine;

/** The verdict on which all ways of checking a public key agree. */
function isValidPublicKey(publicKey: Uint8Array): boolean {
  const [verdict, ...others] = [isValidByNoble(publicKey), isValidHere(publicKey), isValidHere(publicKey, false)];
  for (const other of others) assert.equal(other, verdict, Buffer.from(publicKey).toString("hex"));
  return verdict as boolean;
}

const hex = (text: string) => Buffer.from(text, "hex");
const seed = Buffer.alloc(32, 9);
const ORDER = Point.CURVE().n;

function littleEndian(value: bigint, length = 32): Buffer {
  return hex(value.toString(16).padStart(2 * length, "0")).reverse();
}

describe("vectors", () => {
  for (const engine of engines.filter((engine) => engine !== nobleEngine)) {
    // test/vectors verifies with raw keys.
    it(`${engine.name} gives verify_strict's verdict with prepared keys, at their first use and later`, () => {
      const wrong: string[] = [];
      for (const item of vectors.cases.filter(({ public_key }) => public_key.length === 64)) {
        const [message, signature] = [hex(item.message), hex(item.signature)];
        const key = prepareVerifyKey(hex(item.public_key));
        for (let use = 0; use < 2; use++) {
          if (engine.verify(key, message, signature) !== item.verify_strict)
            wrong.push(`${item.id} ${item.note}, use ${use}`);
        }
      }
      assert.deepEqual(wrong, []);
    });
  }

  it("isValidPublicKey is true for the key of every accepted signature", () => {
    const verdicts = new Map<string, boolean>();
    for (const { public_key } of vectors.cases) {
      if (!verdicts.has(public_key)) verdicts.set(public_key, isValidPublicKey(hex(public_key)));
    }
    for (const { public_key, verify_strict, id } of vectors.cases) {
      if (verify_strict) assert.equal(verdicts.get(public_key), true, id);
    }
    assert.ok([...verdicts.values()].includes(false));
  });
});

describe("engines agree", () => {
  const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const messages = fc.uint8Array({ maxLength: 200 });

  it("on every signature, including those of the other engines", () => {
    fc.assert(
      fc.property(seeds, messages, (secret, message) => {
        const key = prepareSigningKey(secret);
        const signatures = engines.map((engine) => engine.sign(key, message));
        for (const signature of signatures) assert.deepEqual(signature, signatures[0]);
        const publicKey = prepareVerifyKey(key.publicKey);
        for (const engine of engines) assert.equal(engine.verify(publicKey, message, signatures[0] as Buffer), true);
      }),
      { numRuns: 40 },
    );
  });

  it("on refusing every signature after one bit of key, message or signature was flipped", () => {
    const bit = fc.nat();
    fc.assert(
      fc.property(seeds, messages, fc.constantFrom(0, 1, 2), bit, (secret, message, which, position) => {
        const key = prepareSigningKey(secret);
        const parts = [Buffer.from(key.publicKey), Buffer.from(message), fast.sign(key, message)] as const;
        const target = parts[which] as Buffer;
        if (target.length === 0) return;
        const at = position % (8 * target.length);
        target[at >> 3] = (target[at >> 3] as number) ^ (1 << (at & 7));
        for (const engine of engines) assert.equal(engine.verify(...parts), false, engine.name);
      }),
      { numRuns: 60 },
    );
  });

  it("on refusing S + k·L for every k that fits", () => {
    const key = prepareSigningKey(seed);
    const message = Buffer.from("malleable");
    const signature = fast.sign(key, message);
    const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString("hex")}`);
    for (let k = 1n; s + k * ORDER < 1n << 256n; k++) {
      const forged = Buffer.concat([signature.subarray(0, 32), littleEndian(s + k * ORDER)]);
      for (const engine of engines) assert.equal(engine.verify(key.publicKey, message, forged), false, engine.name);
    }
  });

  it("on messages that are views into a larger buffer, empty ones and large ones", () => {
    const key = prepareSigningKey(seed);
    const backing = Buffer.from("..message..");
    const large = Buffer.alloc(300_000, 7);
    for (const message of [backing.subarray(2, 9), new Uint8Array(0), Buffer.alloc(0), large]) {
      const signature = fast.sign(key, message);
      const padded = Buffer.concat([Buffer.alloc(5), signature, Buffer.alloc(5)]).subarray(5, 69);
      for (const engine of engines) {
        assert.deepEqual(engine.sign(key, message), signature);
        assert.equal(engine.verify(key.publicKey, message, padded), true, engine.name);
      }
    }
  });
});

describe("small order and non-canonical encodings", () => {
  // All multiples of a generator of the 8-element subgroup, in every encoding a lax decoder takes for them.
  const p = Point.CURVE().p;
  const generator = Point.fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");
  const encodings = new Set<string>();
  let point = Point.ZERO;
  for (let i = 0; i < 8; i++) {
    const y = point.toAffine().y;
    for (const value of [y, y + p]) {
      if (value >= 1n << 255n) continue;
      for (const sign of [0n, 1n << 255n]) encodings.add(littleEndian(value + sign).toString("hex"));
    }
    point = point.add(generator);
  }

  it("there are fourteen: seven for each sign", () => assert.equal(encodings.size, 14));

  it("are not valid public keys", () => {
    for (const encoding of encodings) assert.equal(isValidPublicKey(hex(encoding)), false, encoding);
  });

  for (const engine of engines) {
    it(`${engine.name} refuses each as A and as R, although the equation holds`, () => {
      for (const a of encodings) {
        // With S = 0 the equation reads R = −k·A, which a small-order pair meets for one message in eight or more.
        for (const r of ["01".padEnd(64, "0"), a]) {
          for (let n = 0; n < (engine === nobleEngine ? 1 : 8); n++) {
            const signature = Buffer.concat([hex(r), Buffer.alloc(32)]);
            assert.equal(engine.verify(hex(a), Uint8Array.of(n), signature), false, `${a} ${r}`);
          }
        }
      }
      const key = prepareSigningKey(seed);
      for (const r of encodings) {
        const signature = Buffer.concat([hex(r), engine.sign(key, seed).subarray(32)]);
        assert.equal(engine.verify(key.publicKey, seed, signature), false, r);
      }
    });
  }

  it("a coordinate of at least p is refused; a smaller one is checked further", () => {
    for (let d = 0n; d < 19n; d++) {
      assert.equal(isValidPublicKey(littleEndian(p + d)), false, `${d}`);
      assert.equal(isValidPublicKey(littleEndian(p + d + (1n << 255n))), false, `${d}`);
    }
    assert.equal(isValidPublicKey(littleEndian(3n)), true);
    assert.equal(isValidPublicKey(littleEndian(2n)), false); // not on the curve
    assert.equal(isValidPublicKey(littleEndian(p - 3n)), true);
  });

  it("all checks of a key give the same verdict for any bytes", () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const verdicts = new Set(fc.sample(bytes, { numRuns: 200, seed: 1 }).map(isValidPublicKey));
    assert.equal(verdicts.size, 2);
  });

  it("a key of mixed order can be used", () => {
    const mixed = Point.fromBytes(publicKeyOf(seed)).add(generator);
    assert.equal(isValidPublicKey(mixed.toBytes()), true);
  });
});

describe("keys", () => {
  it("publicKeyOf is RFC 8032's derivation", async () => {
    const secret = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    assert.equal(
      Buffer.from(publicKeyOf(secret)).toString("hex"),
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    );
    for (let i = 0; i < 20; i++) {
      const bytes = Buffer.alloc(32, i);
      assert.deepEqual(publicKeyOf(bytes), Buffer.from(await getPublicKeyAsync(bytes)));
    }
  });

  it("are the same without sodium-native", () => {
    const withoutSodium = `
      import Module from "node:module";
      const load = Module._load;
      Module._load = (name, ...more) => name === "sodium-native" ? load("sodium-native/missing") : load(name, ...more);
      const { prepareSigningKey, publicKeyOf, selectEngine } = await import(process.argv[1]);
      const seed = Buffer.alloc(32, 9);
      const { engine } = selectEngine();
      console.log(engine.name);
      console.log(publicKeyOf(seed).toString("hex"));
      console.log(engine.sign(prepareSigningKey(seed), seed).toString("hex"));`;
    const args = [
      "--input-type=module",
      "--eval",
      withoutSodium,
      import.meta.resolve("#client/wire/signature/ed25519.js"),
    ];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    const signature = fast.sign(prepareSigningKey(seed), seed);
    const lines = ["node:crypto", Buffer.from(publicKeyOf(seed)).toString("hex"), signature.toString("hex")];
    assert.equal(stdout, `${lines.join("\n")}\n`, stderr);
  });

  it("a prepared key is a copy and does not change the argument", () => {
    const bytes = Buffer.alloc(32, 5);
    const key = prepareSigningKey(bytes);
    assert.deepEqual(bytes, Buffer.alloc(32, 5));
    bytes.fill(6);
    const given = Buffer.from(key.publicKey);
    const publicKey = prepareVerifyKey(given);
    given.fill(0);
    for (const engine of engines) {
      assert.equal(engine.verify(publicKey, seed, engine.sign(key, seed)), true, engine.name);
    }
    assert.deepEqual(Buffer.from(key.publicKey), publicKeyOf(Buffer.alloc(32, 5)));
  });

  it("a signature has memory of its own", () => {
    for (const engine of engines) {
      const signature = engine.sign(prepareSigningKey(seed), seed);
      assert.equal(signature.length, 64);
      if (engine.name === "libsodium") assert.equal(signature.buffer.byteLength, 64);
    }
  });

  it("printing a signing key shows no secret", () => {
    const marked = Buffer.from("5ec4e7".repeat(11).slice(0, 64), "hex");
    const key = prepareSigningKey(marked);
    for (const engine of engines) engine.sign(key, seed);
    const shown = `${inspect(key, { depth: 9, showHidden: true })} ${JSON.stringify(key)} ${String(key)}`;
    for (const form of [marked.toString("hex"), marked.toString("base64"), inspect(marked).slice(8, -1), "94, 196"]) {
      assert.ok(!shown.includes(form), form);
    }
    assert.deepEqual(Reflect.ownKeys(key), ["publicKey"]);
  });
});

describe("wrong arguments", () => {
  const wrongTypes: unknown[] = [undefined, null, 1, 1n, "00".repeat(32), [], {}, new ArrayBuffer(32), [1, 2]];
  const key = prepareSigningKey(seed);
  const signature = fast.sign(key, seed);

  for (const engine of engines) {
    it(`${engine.name}: another type is a TypeError with the name of the argument and without its value`, () => {
      for (const wrong of wrongTypes) {
        const bytes = wrong as Uint8Array;
        assert.throws(() => engine.verify(bytes, seed, signature), { name: "TypeError", message: /^public key must/ });
        assert.throws(() => engine.verify(key.publicKey, bytes, signature), /^TypeError: message must be a Uint8Array/);
        assert.throws(() => engine.verify(key.publicKey, seed, bytes), /^TypeError: signature must be a Uint8Array/);
        assert.throws(() => engine.sign(key, bytes), /^TypeError: message must be a Uint8Array, got \w+$/);
        assert.throws(() => engine.sign(wrong as typeof key, seed), /^TypeError: signing key must be made by/);
      }
      assert.throws(() => engine.sign({ publicKey: key.publicKey } as typeof key, seed), TypeError);
      assert.throws(() => engine.verify({ bytes: key.publicKey } as VerifyKey, seed, signature), TypeError);
    });

    it(`${engine.name}: a signature or raw key of another length verifies nothing`, () => {
      for (const length of [0, 1, 31, 33, 63, 65, 96, 128]) {
        const cut = Buffer.concat([signature, Buffer.alloc(64)]).subarray(0, length);
        assert.equal(engine.verify(key.publicKey, seed, cut), false, `signature of ${length}`);
        const raw = Buffer.concat([key.publicKey, Buffer.alloc(96)]).subarray(0, length);
        assert.equal(engine.verify(raw, seed, signature), false, `key of ${length}`);
      }
    });
  }

  it("keys are prepared from exactly 32 bytes", () => {
    for (const prepare of [prepareVerifyKey, prepareSigningKey, publicKeyOf]) {
      for (const wrong of wrongTypes) assert.throws(() => prepare(wrong as Uint8Array), TypeError);
      for (const length of [0, 31, 33, 64]) {
        const message = new RegExp(`^(public|private) key must be 32 bytes long, got ${length}$`);
        assert.throws(() => prepare(Buffer.alloc(length)), { name: "RangeError", message });
      }
    }
    for (const wrong of wrongTypes) assert.throws(() => isValidPublicKey(wrong as Uint8Array), TypeError);
    for (const length of [0, 31, 33, 64]) assert.equal(isValidPublicKey(Buffer.alloc(length, 3)), false);
  });
});

describe("choice", () => {
  it("is libsodium if it loads, otherwise node:crypto, with the reason", () => {
    const { engine, reason } = selectEngine();
    assert.equal(engine.name, sodiumEngine ? "libsodium" : "node:crypto");
    assert.match(reason, sodiumEngine ? /^sodium-native is installed$/ : /^sodium-native cannot be loaded$/);
  });

  it("falls back to node:crypto when libsodium is missing or fails its self-test", () => {
    const missing = selectEngine(undefined, () => undefined);
    assert.deepEqual(missing, { engine: nodeEngine, reason: "sodium-native cannot be loaded" });
    const faulty = selectEngine(undefined, () => ({ ...fast, name: "libsodium", verify: () => true }));
    assert.deepEqual(faulty, { engine: nodeEngine, reason: "sodium-native fails its self-test" });
    assert.throws(
      () => selectEngine("libsodium", () => undefined),
      /^Error: ed25519 engine libsodium cannot be loaded: install sodium-native or choose node:crypto$/,
    );
    assert.throws(
      () => selectEngine("libsodium", () => ({ ...fast, verify: () => true })),
      /must pass its self-test, but it failed/,
    );
  });

  it("uses only the preferred engine, if there is one", () => {
    for (const { name } of engines) assert.equal(selectEngine(name).engine.name, name);
    assert.throws(
      () => selectEngine("openssl" as "noble"),
      /must be libsodium, node:crypto or noble, got another name/,
    );
  });

  it("refuses an engine that fails the self-test", () => {
    for (const engine of engines) assert.equal(passesSelfTest(engine), true, engine.name);
    const faulty: Ed25519Engine[] = [
      { ...fast, verify: () => true },
      { ...fast, verify: () => false },
      { ...fast, sign: () => Buffer.alloc(64) },
      {
        ...fast,
        sign: () => {
          throw new Error("no");
        },
      },
      { ...fast, verify: (k, m, s) => fast.verify(k, m, s) || s.every((b, i) => b === (i === 0 ? 1 : 0)) },
    ];
    for (const engine of faulty) assert.equal(passesSelfTest(engine), false);
  });
});
