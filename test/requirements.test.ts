/**
 * The gate over docs/protocol.md: every sentence is in the manifest, and says where it is proved, who owns it, or why
 * there is nothing to prove.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { CAPABILITIES, REQUIREMENTS } from "./requirements.js";
import { sentencesOf } from "./sentences.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const sentences = sentencesOf(readFileSync(`${ROOT}/docs/protocol.md`, "utf8"));

describe("requirements", () => {
  it("names every sentence of the protocol once, and no other", () => {
    const listed = REQUIREMENTS.map(({ text }) => text);
    const unlisted = sentences
      .filter(({ text }) => !listed.includes(text))
      .map(({ section, text }) => `${section}: ${text}`);
    const stale = listed.filter((text) => !sentences.some((sentence) => sentence.text === text));
    assert.deepEqual({ unlisted, stale }, { unlisted: [], stale: [] });
    assert.equal(new Set(REQUIREMENTS.map(({ id }) => id)).size, REQUIREMENTS.length, "an id is given twice");
    assert.equal(new Set(listed).size, listed.length, "a sentence is listed twice");
  });

  for (const requirement of REQUIREMENTS) {
    it(`${requirement.id} ${requirement.text.slice(0, 70)}`, () => {
      const { proofs, owner, reason } = requirement;
      assert.equal([proofs, owner, reason].filter(Boolean).length, 1, "proofs, owner or reason: one of them");
      if (owner !== undefined) assert.ok(Object.hasOwn(CAPABILITIES, owner), `no capability ${owner}`);
      assert.notEqual(reason, "TODO");
      for (const proof of proofs ?? []) {
        const [file = "", title = ""] = proof.split(" › ");
        assert.ok(existsSync(`${ROOT}/${file}`), `${file} does not exist`);
        assert.ok(title !== "" && readFileSync(`${ROOT}/${file}`, "utf8").includes(title), `${file} has no ${title}`);
      }
    });
  }
});
