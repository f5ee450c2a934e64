/**
 * The gate over docs/protocol.md: every sentence is in the manifest, and is proven, or says who owns it or why there is
 * nothing to prove. That the proven ones are is for run.ts to say, at the end of a run.
 */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { entryFaults, listingFaults, proofFaults } from "./manifest.js";
import { declaredIn, proves, provesRow } from "./proves.js";
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
    });
  }
});

describe("the gate", () => {
  const listed = (id: string, text: string): Requirement => ({ id, text, reason: "said" });
  const text =
    "# Title\n\n## 1. Names\n\nA name is short. It ends.\n\n| a | b |\n|---|---|\n| x | 1 |\n\n- An item:\n  its rest.\n";
  const entries = [listed("1.1", "A name is short."), listed("1.2", "It ends."), listed("1.3", "| x | 1 |")];
  const whole = [...entries, listed("1.4", "An item: its rest.")];

  it("takes a listing that is whole, in any order", () => {
    assert.deepEqual(listingFaults(sentencesOf(text), whole.toReversed()), []);
  });

  for (const [what, protocol, requirements, faults] of [
    ["a sentence that is not listed", text, entries, ["section 1: a sentence is not listed: An item: its rest."]],
    [
      "a sentence that changed",
      text.replace("short", "long"),
      whole,
      [
        "1.1: the protocol has no such sentence: A name is short.",
        "section 1: a sentence is not listed: A name is long.",
      ],
    ],
    ["a row that changed", text.replace("| 1", "| 2"), whole.slice(2, 3), undefined],
    [
      "a sentence that is gone",
      text.replace(" It ends.", ""),
      whole,
      ["1.2: the protocol has no such sentence: It ends."],
    ],
    ["an id twice", text, [...whole.slice(0, 3), listed("1.3", "An item: its rest.")], ["1.3: this id is given twice"]],
    ["a sentence twice", text, [...whole, listed("1.5", "It ends.")], ["1.5: this sentence is listed twice: It ends."]],
  ] as const) {
    it(`finds ${what}`, () => {
      const found = listingFaults(sentencesOf(protocol), requirements);
      if (faults === undefined) assert.ok(found.length > 0);
      else assert.deepEqual(found, faults);
    });
  }

  it("finds any one sentence of the real protocol that is taken away, added or changed", () => {
    const sentences = sentencesOf(PROTOCOL);
    assert.equal(sentences.length, REQUIREMENTS.length);
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
    [{ reason: "a remark", proven: true }, one],
    [{ reason: "TODO" }, "expected a reason"],
    [{ reason: " " }, "expected a reason"],
  ] as readonly [object, string][]) {
    it(`finds ${JSON.stringify(entry)}`, () => {
      assert.deepEqual(entryFaults({ ...ENTRY, ...entry }), [fault]);
    });
  }

  it("takes what is proven, and a reason", () => {
    for (const entry of [{ proven: true }, { reason: "a remark" }] as const) {
      assert.deepEqual(entryFaults({ ...ENTRY, ...entry }), []);
    }
  });
});

describe("proofs", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-requirements-"));
  after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "1"), '["/a.test.ts","1.1","1.2"]\n["/b.test.ts","1.3"]\n["/a.test.ts","1.2"]\n');
  writeFileSync(join(folder, "2"), '["/c.test.ts","1.4"]\n["/c.tes');

  it("are those of the files that passed, without a line that its process did not end", () => {
    const declared = (...files: string[]) => [...declaredIn(folder, new Set(files))];
    assert.deepEqual(declared("/a.test.ts", "/c.test.ts"), ["1.1", "1.2", "1.4"]);
    assert.deepEqual(declared("/b.test.ts"), ["1.3"]);
    assert.deepEqual(declared(), []);
  });

  it("are missing for what claims to be proven and nothing declared", () => {
    const claims = [
      { id: "1.1", text: "A name is short.", proven: true },
      { id: "1.2", text: "It ends.", proven: true },
      { id: "1.3", text: "It begins.", reason: "a remark" },
    ] as const;
    assert.deepEqual(proofFaults(claims, new Set(["1.1"])), ["1.2 It ends."]);
    assert.deepEqual(proofFaults(claims, new Set(["1.2", "1.1"])), []);
  });

  it("are not asked for where their program is missing", () => {
    const claims = [{ id: "1.1", text: "It is shared.", proven: true, needs: "redis-server" }] as const;
    assert.deepEqual(proofFaults(claims, new Set()), ["1.1 It is shared."]);
    assert.deepEqual(proofFaults(claims, new Set(), new Set(["redis-server"])), []);
  });

  const recorded = (declare: () => void) => {
    const before = process.env.TEST_PROOFS;
    const own = mkdtempSync(join(folder, "own-"));
    process.env.TEST_PROOFS = own;
    try {
      declare();
      return [...declaredIn(own, new Set([process.argv[1] ?? ""]))];
    } finally {
      if (before === undefined) delete process.env.TEST_PROOFS;
      else process.env.TEST_PROOFS = before;
      rmSync(own, { recursive: true });
    }
  };

  it("are recorded, all of a test and those of a row that name it", () => {
    const row = (what: string) => provesRow(what, { "1.3": ["short"], "1.4": ["long", "short"] });
    assert.deepEqual(
      recorded(() => proves("1.1", "1.2")),
      ["1.1", "1.2"],
    );
    assert.deepEqual(
      recorded(() => row("short")),
      ["1.3", "1.4"],
    );
    assert.deepEqual(
      recorded(() => row("long")),
      ["1.4"],
    );
    assert.deepEqual(
      recorded(() => row("another")),
      [],
    );
  });

  it("are of sentences that the manifest gives as proven", () => {
    // 0.1 is listed with a reason.
    for (const id of ["0.1", "1.0", "1", ""]) {
      assert.throws(() => proves("1.1", id), RangeError);
      assert.throws(() => provesRow("short", { [id]: ["short"] }), RangeError);
    }
  });
});
