/** The portable engine: bundled for a browser, and run with nothing but the language. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { sha256 } from "#runtime/wire/portable-crypto.js";
import { REPOSITORY } from "../generator/project.js";

interface SigningCase {
  readonly leader_private_key: string;
  readonly leader_public_key: string;
  readonly input_hash: string;
  readonly request_headers: Readonly<Record<string, string>>;
  readonly output_bcs: string;
  readonly output_hash: string;
}

const casesOf = <T>(file: string): readonly T[] =>
  JSON.parse(readFileSync(`test/vectors/${file}`, "utf8")).cases as T[];

/** Functions over texts in hex, since bytes of another context are no Uint8Arrays here. */
const ENTRY = `
  import { portableEngine, sha256 } from "./portable-crypto.js";
  import { signingKey } from "./ed25519-keys.js";
  const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  globalThis.verify = (...args) => portableEngine.verify(...args.map(bytes));
  globalThis.sign = (seed, publicKey, message) =>
    hex(portableEngine.sign(signingKey(bytes(publicKey), bytes(seed + publicKey)), bytes(message)));
  globalThis.sha256 = (text) => hex(sha256(bytes(text)));
`;

test("it loads no module of Node and no global of Node, and gives the verdicts of all vectors", async () => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: ENTRY, resolveDir: `${REPOSITORY}/runtime/dist/wire` },
    bundle: true,
    // Imports of node: modules are errors.
    platform: "browser",
    format: "iife",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const files = Object.keys(metafile.inputs).map((path) => path.replace(/^.*(?:node_modules|dist)\//, ""));
  assert.deepEqual(files.filter((path) => !path.startsWith("@noble/")).sort(), [
    "<stdin>",
    "wire/ed25519-keys.js",
    "wire/portable-crypto.js",
  ]);
  const context = createContext({});
  runInContext(outputFiles[0]?.text ?? "", context);
  const { verify, sign, sha256 } = context as Record<string, (...texts: readonly string[]) => unknown>;
  assert.ok(verify && sign && sha256);

  const ed25519 = casesOf<Record<"public_key" | "message" | "signature", string> & { verify_strict: boolean }>(
    "ed25519.json",
  );
  assert.equal(ed25519.length, 1053);
  const wrong = ed25519.filter(
    ({ public_key, message, signature, verify_strict }) => verify(public_key, message, signature) !== verify_strict,
  );
  assert.deepEqual(wrong, []);

  const signing = casesOf<SigningCase>("signing.json");
  assert.ok(signing.length > 0);
  const domain = Buffer.from("nexus.direct.v3.raw-output").toString("hex");
  for (const each of signing) {
    const signature = Buffer.from(each.request_headers["X-Svc-Leader-Signature"] ?? "", "base64url").toString("hex");
    assert.equal(sign(each.leader_private_key, each.leader_public_key, each.input_hash), signature);
    assert.equal(verify(each.leader_public_key, each.input_hash, signature), true);
    assert.equal(sha256(domain + each.output_bcs), each.output_hash);
  }
});

test("its SHA-256 is that of Node, for each length around a block", () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 0xff);
    assert.equal(Buffer.from(sha256(bytes)).toString("hex"), createHash("sha256").update(bytes).digest("hex"));
  }
});
