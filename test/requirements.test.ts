/**
 * The gate over docs/protocol.md: every sentence is in the manifest, and says where it is proved, who owns it, or why
 * there is nothing to prove.
 */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { entryFaults, listingFaults } from "./manifest.js";
import { REQUIREMENTS, type Requirement } from "./requirements.js";
import { sentencesOf } from "./sentences.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PROTOCOL = readFileSync(`${ROOT}/docs/protocol.md`, "utf8");

describe("requirements", () => {
  it("name every sentence of the protocol once, and no other", () => {
    assert.deepEqual(listingFaults(sentencesOf(PROTOCOL), REQUIREMENTS), []);
  });

  for (const requirement of REQUIREMENTS) {
    it(`${requirement.id} ${requirement.text.slice(0, 70)}`, () => {
      assert.deepEqual(entryFaults(requirement, ROOT), []);
    });
  }
});

describe("the gate", () => {
  const root = mkdtempSync(join(tmpdir(), "svc-requirements-"));
  after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "test"));
  writeFileSync(
    join(root, "test/a.test.ts"),
    'it("one", () => {});\nit("two", () => {});\nit("two again", () => {}); // it("four")\n/** it("five") */\nit("six", () => {\n  // seven\n});\n',
  );

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

  const proofs = (...of: string[]) => ({ proofs: of });
  for (const [entry, fault] of [
    [{}, "expected proofs, an owner or both, or else a reason"],
    [{ reason: "a remark", owner: "shared replay" }, "expected proofs, an owner or both, or else a reason"],
    [
      { reason: "a remark", ...proofs('test/a.test.ts › "one"') },
      "expected proofs, an owner or both, or else a reason",
    ],
    [{ reason: "TODO" }, "expected a reason"],
    [{ reason: " " }, "expected a reason"],
    [{ owner: "nobody" }, "no capability is called nobody"],
    [{ owner: "toString" }, "no capability is called toString"],
    [proofs(), "expected at least one proof"],
    [proofs("test/a.test.ts"), "expected `file › text`: test/a.test.ts"],
    [proofs("test/a.test.ts › "), "expected `file › text`: test/a.test.ts › "],
    [proofs("test/b.test.ts › one"), "there is no test/b.test.ts"],
    [proofs("README.md › one"), "expected a test file: README.md"],
    [proofs("test/a.test.ts › three"), "test/a.test.ts has this text 0 times, expected once: three"],
    ...["four", "five", "seven"].map(
      (comment) =>
        [
          proofs(`test/a.test.ts › ${comment}`),
          `test/a.test.ts has this text 0 times, expected once: ${comment}`,
        ] as const,
    ),
    [
      proofs('test/a.test.ts › "one"', "test/a.test.ts › two"),
      "test/a.test.ts has this text 2 times, expected once: two",
    ],
    [proofs("test/a.test.ts › one › two"), "test/a.test.ts has this text 0 times, expected once: one › two"],
  ] as readonly [object, string][]) {
    it(`finds ${JSON.stringify(entry)}`, () => {
      assert.deepEqual(entryFaults({ id: "1.1", text: "A name is short.", ...entry }, root), [fault]);
    });
  }

  it("takes proofs, an owner, both, and a reason", () => {
    for (const entry of [
      proofs('test/a.test.ts › "one"', "test/a.test.ts › two again", 'test/a.test.ts › it("six", () => {'),
      { owner: "shared replay" as const },
      { owner: "shared replay" as const, ...proofs('test/a.test.ts › "two"') },
      { reason: "a remark" },
    ]) {
      assert.deepEqual(entryFaults({ id: "1.1", text: "A name is short.", ...entry }, root), []);
    }
  });
});
