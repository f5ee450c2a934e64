/** The published schemas against the reader of servers: what the reader takes, the schemas take. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, it } from "node:test";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { publicKeyOf } from "#client/wire/crypto/ed25519.js";
import { ConfigError, ToolkitRuntimeConfig } from "#runtime/config/config.js";
import { svcGenIn } from "./run-cli.js";

type Document = Record<string, unknown>;

let isConfig: ValidateFunction;
let isAllowList: ValidateFunction;
let configSchema: Document;

before(async () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  const schema = async (...args: string[]) => {
    const { code, out } = await svcGenIn(".", ["config", "schema", ...args]);
    assert.equal(code, 0);
    return JSON.parse(out) as Document;
  };
  configSchema = await schema();
  isConfig = ajv.compile(configSchema);
  isAllowList = ajv.compile(await schema("--allow-list"));
});

/** Whether the reader takes a text. A path cannot be opened here: such a fault is none of the document. */
function isRead(text: string): boolean {
  try {
    ToolkitRuntimeConfig.fromJsonStr(text);
    return true;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.title === "allow-list" && error.pointer === undefined;
  }
}

const PUBLIC_KEY = Buffer.from(publicKeyOf(Buffer.alloc(32, 3))).toString("hex");
const SEED = Buffer.alloc(32, 9);

const u64 = fc.oneof(fc.nat(), fc.constantFrom(0, 1, 255, 256, 2 ** 53 - 1));
const publicKey = fc.constantFrom(PUBLIC_KEY, `0x${PUBLIC_KEY.toUpperCase()}`);
const privateKey = fc.constantFrom(
  SEED.toString("hex"),
  `0x00${SEED.toString("hex")}`,
  ` ${SEED.toString("base64")}\n`,
  SEED.toString("base64url"),
  Buffer.concat([Buffer.alloc(1), Buffer.alloc(32, 0xfb)]).toString("base64url"),
  null,
);
const list = fc.record({
  version: fc.constant(1),
  leaders: fc.uniqueArray(
    fc.record({
      leader_id: fc.string(),
      keys: fc.uniqueArray(fc.record({ kid: u64, public_key: publicKey }), {
        selector: ({ kid }) => kid,
        maxLength: 3,
      }),
    }),
    { selector: ({ leader_id }) => leader_id, maxLength: 3 },
  ),
});
const tool = fc.record(
  { response_signing_key: privateKey, replay_cache_ttl_ms: fc.oneof(fc.integer({ min: 1 }), fc.constant(null)) },
  { requiredKeys: [] },
);
const tools = fc.dictionary(fc.constantFrom("xyz.demo.sum@1", "other", "", "__proto__x"), tool, { minKeys: 1 });
const signed = fc.oneof(
  fc.record(
    {
      mode: fc.constant("required"),
      allowed_leaders: list,
      tools,
      allowed_leaders_path: fc.constantFrom(null, "none.json"),
    },
    { requiredKeys: ["allowed_leaders", "tools"] },
  ),
  fc.record(
    { allowed_leaders: fc.constant(null), allowed_leaders_path: fc.constant("none.json"), tools },
    { requiredKeys: ["allowed_leaders_path", "tools"] },
  ),
  fc.record(
    {
      mode: fc.constant("disabled"),
      allowed_leaders: fc.oneof(list, fc.constant(null)),
      tools,
      allowed_leaders_path: fc.constantFrom(null, "x"),
    },
    { requiredKeys: ["mode"] },
  ),
);
const config = fc.record(
  { invoke_max_body_bytes: fc.oneof(u64, fc.constant(null)), signed_http: fc.oneof(signed, fc.constant(null)) },
  { requiredKeys: [] },
);

/** Values that stand anywhere in a spoilt document. */
const SPOILT = [
  null,
  true,
  0,
  1,
  2,
  -1,
  256,
  0.5,
  1e300,
  "",
  "x",
  "required",
  "disabled",
  PUBLIC_KEY,
  [],
  [1],
  {},
  { mode: "disabled" },
];

/** A document with one member removed, replaced, renamed or added somewhere. */
function spoil(document: unknown, at: number, how: number): unknown {
  const copy = structuredClone({ document });
  const holders: [holder: Document, name: string][] = [];
  const walk = (holder: Document) => {
    for (const [name, value] of Object.entries(holder)) {
      holders.push([holder, name]);
      if (value !== null && typeof value === "object") walk(value as Document);
    }
  };
  walk(copy as unknown as Document);
  const [holder, name] = holders[at % holders.length] as [Document, string];
  if (how === 0 && !Array.isArray(holder)) delete holder[name];
  else if (how === 1) holder[`${name}_`] = holder[name];
  else holder[name] = SPOILT[how % SPOILT.length];
  return copy.document;
}

describe("the schema of the configuration", () => {
  it("accepts the same documents as the reader: recorded verdicts", () => {
    const { cases } = JSON.parse(readFileSync("test/vectors/config.json", "utf8")) as {
      cases: { name: string; config: string; expect: { ok: boolean } }[];
    };
    let refused = 0;
    for (const { name, config: text, expect } of cases) {
      let document: unknown;
      try {
        document = JSON.parse(text);
      } catch {
        continue;
      }
      if (expect.ok) assert.ok(isConfig(document), `${name}: ${JSON.stringify(isConfig.errors)}`);
      else if (!isConfig(document)) refused++;
    }
    assert.ok(refused > 20, `${refused} of the invalid ones`);
  });

  it("accepts every valid document", () => {
    fc.assert(
      fc.property(config, (document) => {
        const text = JSON.stringify(document);
        assert.ok(isRead(text), text);
        assert.ok(isConfig(document), `${text}: ${JSON.stringify(isConfig.errors)}`);
      }),
      { numRuns: 500 },
    );
  });

  it("accepts changed documents if the reader does", () => {
    let refused = 0;
    let both = 0;
    fc.assert(
      fc.property(config, fc.nat(), fc.nat(60), (document, at, how) => {
        const spoilt = spoil(document, at, how);
        const text = JSON.stringify(spoilt) ?? "";
        if (isConfig(spoilt)) return;
        refused++;
        if (!isRead(text)) both++;
        assert.ok(!isRead(text), `the schema refuses ${text}: ${JSON.stringify(isConfig.errors)}`);
      }),
      { numRuns: 2000 },
    );
    assert.ok(refused > 200 && both === refused);
  });

  it("an unknown member is refused at every level, $schema too", () => {
    const full = {
      invoke_max_body_bytes: 1,
      signed_http: {
        mode: "required",
        allowed_leaders: { version: 1, leaders: [{ leader_id: "a", keys: [{ kid: 0, public_key: PUBLIC_KEY }] }] },
        tools: { t: { response_signing_key: SEED.toString("hex"), replay_cache_ttl_ms: 1 } },
      },
    };
    assert.ok(isConfig(full) && isRead(JSON.stringify(full)));
    const objects: unknown[] = [];
    const walk = (value: unknown, path: (string | number)[]) => {
      if (value === null || typeof value !== "object") return;
      // Names in `tools` are free.
      if (!Array.isArray(value) && path.at(-1) !== "tools") objects.push(path);
      for (const [name, member] of Object.entries(value)) walk(member, [...path, name]);
    };
    walk(full, []);
    assert.equal(objects.length, 6);
    for (const path of objects as string[][]) {
      const copy = structuredClone(full);
      const holder = path.reduce<Document>((at, name) => at[name] as Document, copy as Document);
      holder.$schema = "x";
      assert.ok(!isConfig(copy) && !isRead(JSON.stringify(copy)), path.join("/"));
    }
  });

  it("describes every member", () => {
    const bare: string[] = [];
    const walk = (node: unknown, path: string) => {
      if (node === null || typeof node !== "object") return;
      const { properties } = node as { properties?: Record<string, Document> };
      for (const [name, member] of Object.entries(properties ?? {})) {
        // Conditions name members again.
        if (!/\/(?:if|anyOf\/\d+)$/.test(path) && member.description === undefined) bare.push(`${path}/${name}`);
      }
      for (const [name, member] of Object.entries(node)) walk(member, `${path}/${name}`);
    };
    walk(configSchema, "");
    assert.deepEqual(
      bare.filter((path) => !path.includes("/anyOf/")),
      [],
    );
  });
});

describe("the schema of the allow-list", () => {
  it("accepts what the reader accepts", () => {
    let refused = 0;
    fc.assert(
      fc.property(list, fc.nat(), fc.nat(60), (document, at, how) => {
        assert.ok(isAllowList(document));
        const spoilt = spoil(document, at, how);
        if (isAllowList(spoilt) || spoilt === null) return;
        refused++;
        assert.ok(!isRead(JSON.stringify({ signed_http: { allowed_leaders: spoilt, tools: { t: {} } } })));
      }),
      { numRuns: 1000 },
    );
    assert.ok(refused > 100);
  });
});
