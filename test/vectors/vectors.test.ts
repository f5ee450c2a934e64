import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { provesRow } from "../proves.js";
import { RUNNERS, runDirectory } from "./conformance.js";
import { VECTORS } from "./read.js";
import { reportOn } from "./report.js";
import type { Outcome } from "./wire-cases.js";

/** The number of cases of each recorded file. */
const FILES = {
  "json-canonical.json": 565,
  "signing.json": 60,
  "ed25519.json": 1053,
  "fqn.json": 20,
  "schema.json": 21,
  "config.json": 72,
  "nexus-data.json": 40,
  "output.json": 14,
  "http.json": 119,
} as const;

/** Members of recorded cases that the tests below change. */
interface Case {
  readonly name: string;
  readonly input_hash: string;
  readonly output_bcs: string;
  readonly leader_private_key: string;
  readonly ok: boolean;
  readonly verify_strict: boolean;
  readonly expect: { readonly ok: boolean };
}

const scratch = mkdtempSync(join(tmpdir(), "svc-vectors-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

async function outcomes(directory: string): Promise<Outcome[]> {
  const all: Outcome[] = [];
  for await (const outcome of runDirectory(directory)) all.push(outcome);
  return all;
}

/** A directory with one recorded file, changed. */
function doctored(file: string, change: (text: string) => string, name = file): string {
  const directory = mkdtempSync(join(scratch, "case-"));
  const text = readFileSync(join(VECTORS, file), "utf8");
  const changed = change(text);
  assert.notEqual(changed, text, "the change found its place");
  writeFileSync(join(directory, name), changed);
  return directory;
}

/** One recorded file with another list of cases. */
const withCases = (file: string, change: (cases: Case[]) => unknown[]) =>
  doctored(file, (text) => {
    const { cases, ...rest } = JSON.parse(text) as { cases: Case[] };
    return JSON.stringify({ ...rest, cases: change(cases) });
  });

async function conformance(directory: string) {
  const lines: string[] = [];
  const status = await reportOn(directory, (line) => lines.push(line));
  return { status, last: lines.at(-1), stdout: lines.join("\n") };
}

describe("recorded vectors", () => {
  it("are all run", () => assert.deepEqual(Object.keys(RUNNERS).sort(), Object.keys(FILES).sort()));

  for (const [file, count] of Object.entries(FILES) as [keyof typeof FILES, number][]) {
    it(`${file}: ${count} cases`, async () => {
      const directory = join(scratch, file);
      mkdirSync(directory);
      cpSync(join(VECTORS, file), join(directory, file));
      const all = await outcomes(directory);
      assert.deepEqual(
        all.filter(({ fault }) => fault !== undefined).map(({ name, fault }) => `${name}: ${fault}`),
        [],
      );
      assert.equal(all.length, count);
      provesRow(file, {
        "2.8": ["schema.json"],
        "3.1": ["nexus-data.json"],
        "3.2": ["nexus-data.json"],
        "3.3": ["nexus-data.json"],
        "3.4": ["nexus-data.json"],
        "3.5": ["schema.json"],
        "3.6": ["schema.json"],
        "3.7": ["schema.json"],
        "3.8": ["output.json"],
        "3.13": ["nexus-data.json"],
        "3.16": ["nexus-data.json", "output.json"],
        "1.22": ["fqn.json"],
        "4.10": ["ed25519.json"],
        "4.5": ["signing.json"],
        "4.7": ["signing.json"],
        "4.17": ["signing.json"],
        "5.26": ["json-canonical.json"],
        "7.34": ["http.json"],
        "10.5": ["config.json"],
      });
    });
  }
});

describe("the conformance runner", () => {
  it("is a command, and fails on an empty directory", () => {
    const run = fileURLToPath(new URL("run.ts", import.meta.url));
    const directory = mkdtempSync(join(scratch, "none-"));
    const { status, stdout } = spawnSync(process.execPath, ["--import", "tsx", run, directory], { encoding: "utf8" });
    assert.deepEqual([status, stdout], [1, "no vector files there\n0 passed, 0 failed\n"]);
  });

  it("exits 0 when all passed, with the counts last", async () => {
    const { status, last } = await conformance(withCases("fqn.json", (cases) => [...cases, ...cases]));
    assert.equal(last, "40 passed, 0 failed");
    assert.equal(status, 0);
  });

  it("names the file, the case and the difference, and exits 1, when one failed", async () => {
    const directory = withCases("fqn.json", (cases) => cases.map((of, i) => (i === 3 ? { ...of, ok: !of.ok } : of)));
    const { status, last, stdout } = await conformance(directory);
    assert.match(stdout, /^FAILED fqn\.json: .+\n {2}ok: expected (true|false), got (true|false)$/m);
    assert.equal(last, "19 passed, 1 failed");
    assert.equal(status, 1);
  });

  const OPPOSITE = /: expected (true|false), got (true|false)$/;
  /** Turns one hex digit of the text. */
  const turned = (text: string) => text.replace(/[0-9a-f]$/, (digit) => (digit === "0" ? "1" : "0"));

  for (const [file, change, fault] of [
    ["json-canonical.json", (of) => ({ ...of, accepted: false }), /^accepted: expected false, got true$/],
    ["json-canonical.json", (of) => ({ ...of, output_before_1_0_147: "MQ==" }), /^legacy: /],
    ["signing.json", (of) => ({ ...of, input_hash: turned(of.input_hash) }), /no form of the body has the input hash/],
    ["signing.json", (of) => ({ ...of, output_bcs: turned(of.output_bcs) }), /^output BCS: /],
    ["signing.json", (of) => ({ ...of, leader_private_key: turned(of.leader_private_key) }), /^leader public key: /],
    ["ed25519.json", (of) => ({ ...of, verify_strict: !of.verify_strict }), OPPOSITE],
    ["schema.json", (of) => ({ ...of, expect: { ...of.expect, bcs: "00" } }), /^bcs: expected 00/],
    ["config.json", (of) => ({ ...of, expect: { ...of.expect, ok: !of.expect.ok } }), OPPOSITE],
    ["nexus-data.json", (of) => ({ ...of, expect: { ...of.expect, surprise: "00" } }), /unknown expectation surprise/],
    ["output.json", (of) => ({ ...of, expect: { ...of.expect, output_hash: "00" } }), /^output hash: expected 00/],
  ] as readonly [string, (of: Case) => object, RegExp][]) {
    it(`finds what is wrong in ${file}: ${fault.source}`, async () => {
      const all = await outcomes(withCases(file, ([first]) => [change(first as Case)]));
      assert.equal(all.length, 1);
      assert.match(all[0]?.fault ?? "no fault", fault);
    });
  }

  it("finds what is wrong in http.json: status, body, signature, error", async () => {
    const directory = withCases("http.json", (cases) => {
      const named = (name: string) => cases.find((of) => of.name === name) as Case;
      const plain = named("plain");
      const refused = named("missing Nonce");
      return [
        { ...plain, expect: { ...plain.expect, status: 201 } },
        { ...plain, expect: { ...plain.expect, body_hex: "00" } },
        { ...plain, expect: { ...plain.expect, tool_signature: "x" } },
        { ...plain, expect: { ...plain.expect, signed: false } },
        { ...refused, expect: { ...refused.expect, error: "not_found" } },
        refused,
      ];
    });
    const faults = (await outcomes(directory)).map(({ fault }) => fault);
    const wanted = [
      /^status: expected 201, got 200/,
      /^body: expected 00/,
      /^tool signature: expected x/,
      /^signed: /,
      /^error: /,
    ];
    for (const [i, pattern] of wanted.entries()) assert.match(faults[i] ?? "no fault", pattern);
    assert.equal(faults[5], undefined);
  });
});
