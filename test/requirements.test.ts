/**
 * The gate over docs/protocol.md: every sentence is in the manifest, with the test files that prove it or the reason why
 * there is nothing to prove. run.ts compares the declarations of the files that it ran.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { entryFaults, listingFaults, proofFaults } from "./manifest.js";
import { proves } from "./proves.js";
import { REQUIREMENTS, type Requirement } from "./requirements.js";
import { sentencesOf } from "./sentences.js";

const PROTOCOL = readFileSync(fileURLToPath(new URL("../docs/protocol.md", import.meta.url)), "utf8");

describe("requirements", () => {
  it("name every sentence of the protocol once, and no other", () => {
    assert.deepEqual(listingFaults(sentencesOf(PROTOCOL), REQUIREMENTS), []);
  });

  for (const requirement of REQUIREMENTS) {
    it(`${requirement.id} ${requirement.text.slice(0, 70)}`, () => {
      assert.deepEqual(entryFaults(requirement), []);
      const isMissing = (file: string) => !existsSync(new URL(`${file}.test.ts`, import.meta.url));
      assert.deepEqual(requirement.proven?.filter(isMissing) ?? [], []);
    });
  }
});

describe("the gate", () => {
  const listed = (id: string, text: string): Requirement => ({ id, text, reason: "said" });
  const text =
    "# Title\n\n## 1. Names\n\nA name is short. It ends.\n\n| a | b |\n|---|---|\n| x | 1 |\n\n- An item:\n  its rest.\n";
  const entries = [listed("1.1", "A name is short.\nIt ends."), listed("1.3", "| x | 1 |")];
  const whole = [...entries, listed("1.4", "An item: its rest.")];

  it("keeps code in backticks together", () => {
    const [only, ...others] = sentencesOf('A port has `"type": "array"` and `Vary: Accept`.');
    assert.deepEqual([only?.text, others], ['A port has `"type": "array"` and `Vary: Accept`.', []]);
  });

  for (const [what, protocol, requirements, faults] of [
    ["a sentence that is not listed", text, entries, ["section 1: a sentence is not listed: An item: its rest."]],
    ["an id twice", text, [...entries, listed("1.3", "An item: its rest.")], ["1.3: this id is given twice"]],
    ["a sentence twice", text, [...whole, listed("1.5", "It ends.")], ["1.5: this sentence is listed twice: It ends."]],
  ] as const) {
    it(`finds ${what}`, () => {
      const found = listingFaults(sentencesOf(protocol), requirements);
      assert.deepEqual(found, faults);
    });
  }

  it("finds any one sentence of the real protocol that is taken away, added or changed", () => {
    const sentences = sentencesOf(PROTOCOL);
    for (const [i, sentence] of sentences.entries()) {
      assert.equal(listingFaults(sentences.toSpliced(i, 1), REQUIREMENTS).length, 1);
      const other = { ...sentence, text: `${sentence.text}!` };
      assert.equal(listingFaults(sentences.with(i, other), REQUIREMENTS).length, 2);
      assert.equal(listingFaults([...sentences, other], REQUIREMENTS).length, 1);
    }
  });

  const ENTRY = { id: "1.1", text: "A name is short." };
  const one = "expected one of proven and a reason";
  for (const [entry, fault] of [
    [{}, one],
    [{ reason: "a remark", proven: ["wire/json"] }, one],
    [{ proven: [] }, "expected files"],
    [{ proven: ["e2e/demo"] }, "expected a proof outside test/e2e"],
    [{ reason: "TODO" }, "expected a reason"],
    [{ reason: " " }, "expected a reason"],
  ] as readonly [object, string][]) {
    it(`finds ${JSON.stringify(entry)}`, () => {
      assert.deepEqual(entryFaults({ ...ENTRY, ...entry }), [fault]);
    });
  }
});

describe("proofs", () => {
  it("are those for which the manifest lists the file", () => {
    const claims: Requirement[] = [
      { id: "1.1", text: "A name is short.", proven: ["a", "b"] },
      { id: "1.2", text: "It ends.", proven: ["b"] },
      { id: "1.3", text: "It begins.", reason: "a remark" },
    ];
    const faults = (declared: Readonly<Record<string, readonly string[]>>) =>
      proofFaults(claims, new Map(Object.entries(declared).map(([file, ids]) => [file, new Set(ids)])));
    assert.deepEqual(faults({ a: ["1.1"], b: ["1.1", "1.2"], c: [] }), []);
    assert.deepEqual(faults({ a: ["1.1"] }), [], "a file that did not run is not judged");
    assert.deepEqual(faults({ a: [] }), ["a: does not declare 1.1: A name is short."]);
    assert.deepEqual(faults({ c: ["1.2"] }), ["c: declares, but is not listed for, 1.2: It ends."]);
  });

  it("are not compared where their program is missing", () => {
    const claims = [{ id: "1.1", text: "It is shared.", proven: ["a"], needs: "redis-server" }] as const;
    const nothing = new Map([["a", new Set<string>()]]);
    assert.deepEqual(proofFaults(claims, nothing), ["a: does not declare 1.1: It is shared."]);
    assert.deepEqual(proofFaults(claims, nothing, new Set(["redis-server"])), []);
  });

  it("are of sentences that the manifest gives as proven", () => {
    // 0.1 is listed with a reason.
    for (const id of ["0.1", "1.0", "1", ""]) assert.throws(() => proves("1.1", id), RangeError);
  });
});
