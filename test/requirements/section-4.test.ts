/** What the leader's signature covers, and what the engines would do by themselves (protocol.md section 4). */

import assert from "node:assert/strict";
import { verify as nodeVerify } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { verifyAsync as nobleVerify } from "@noble/ed25519";
import { publicKeyOf } from "#client/wire/signature/ed25519.js";
import { ToolkitRuntimeConfig } from "#runtime/index.js";
import { proves } from "../proves.js";
import { alice, countingTool, echoCall, echoed, expectResult, type SignedCall, serveFor } from "../runtime/tools.js";
import { readVectors } from "../vectors/read.js";

describe("the leader's signature covers the inputs only", () => {
  /** The call with its hash and signature as they are, and other things around them. */
  const changed = (call: SignedCall, target: string, headers: Readonly<Record<string, string>>): SignedCall =>
    Object.assign(Object.create(Object.getPrototypeOf(call)) as SignedCall, call, {
      target,
      nonce: headers["X-Svc-Nonce"] === undefined ? call.nonce : Buffer.from(headers["X-Svc-Nonce"], "base64url"),
      headers: call.headers.map(([name, value]) => [name, headers[name] ?? value]),
    });

  it("whoever can read a request can repeat it: another nonce, another leader with that key, another tool", async () => {
    const [tool, other] = [countingTool({ path: "tool" }), countingTool({ path: "other" })];
    const keys = [{ kid: 0, public_key: Buffer.from(publicKeyOf(alice.seed)).toString("hex") }];
    const allowed_leaders = { version: 1, leaders: ["alice", "twin"].map((leader_id) => ({ leader_id, keys })) };
    const tools = { [tool.fqn]: {}, [other.fqn]: {} };
    const config = ToolkitRuntimeConfig.fromJsonStr(JSON.stringify({ signed_http: { allowed_leaders, tools } }));
    const { url } = await serveFor([tool, other], { config });
    const call = echoCall(tool, "1");
    expectResult(await call.send(url), echoed("1"));
    const nonce = (fill: number) => Buffer.alloc(32, fill).toString("base64url");
    for (const [repeated, runs] of [
      [changed(call, tool.target, { "X-Svc-Nonce": nonce(1) }), [2, 0]],
      [changed(call, tool.target, { "X-Svc-Leader-Id": "twin", "X-Svc-Nonce": nonce(2) }), [3, 0]],
      [changed(call, other.target, {}), [3, 1]],
    ] as const) {
      assert.deepEqual(repeated.signature, call.signature);
      expectResult(await repeated.send(url), echoed("1"));
      assert.deepEqual([tool.calls.invoked, other.calls.invoked], runs);
    }
    proves("4.12", "4.13");
  });

  it("the documentation says so plainly, and that HTTPS is part of the protocol", () => {
    const page = readFileSync(new URL("../../docs/keys.md", import.meta.url), "utf8").replace(/\s+/g, " ");
    for (const sentence of [
      "**HTTPS is part of the protocol.**",
      "The leader's signature covers the inputs only: not the nonce, the leader's id, the tool or the time.",
      "Anyone who can read a request can repeat it under another nonce",
      "over authenticated HTTPS",
    ]) {
      assert.ok(page.includes(sentence), sentence);
    }
    proves("4.14");
  });
});

describe("verify_strict", () => {
  it("is what neither node:crypto nor @noble/ed25519 gives by itself", async () => {
    const { cases } = readVectors<{
      cases: { public_key: string; message: string; signature: string; verify_strict: boolean }[];
    }>("ed25519.json");
    const wrong = { node: 0, noble: 0 };
    for (const { public_key, message, signature, verify_strict } of cases) {
      if (verify_strict || public_key.length !== 64 || signature.length !== 128) continue;
      const [key, text, signed] = [public_key, message, signature].map((hex) => Buffer.from(hex, "hex")) as [
        Buffer,
        Buffer,
        Buffer,
      ];
      const jwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") };
      if (nodeVerify(null, text, { key: jwk, format: "jwk" }, signed)) wrong.node++;
      if (await accepts(() => nobleVerify(signed, text, key, { zip215: false }))) wrong.noble++;
    }
    assert.deepEqual([cases.length, wrong.noble], [1053, 118]);
    // The OpenSSL of Node 24 refuses them too.
    assert.ok([0, 125].includes(wrong.node), `${wrong.node}`);
    proves("4.11");
  });

  async function accepts(verify: () => Promise<boolean>): Promise<boolean> {
    try {
      return await verify();
    } catch {
      return false;
    }
  }
});
