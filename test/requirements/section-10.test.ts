/** An allow-list by path, as callers see its changes (protocol.md section 10). */

import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { ToolkitRuntimeConfig } from "#runtime/index.js";
import { publicKeyOf } from "#runtime/wire/ed25519.js";
import { proves } from "../proves.js";
import { expectError } from "../runtime/raw.js";
import { alice, bob, countingTool, echoCall, echoed, expectResult, type Leader, serveFor } from "../runtime/tools.js";

const directory = mkdtempSync(join(tmpdir(), "svc-leaders-"));
after(() => rmSync(directory, { recursive: true }));

const path = join(directory, "leaders.json");
const list = (...leaders: Leader[]) =>
  JSON.stringify({
    version: 1,
    leaders: leaders.map(({ id, seed }) => ({
      leader_id: id,
      keys: [{ kid: 0, public_key: publicKeyOf(seed).toString("hex") }],
    })),
  });

describe("an allow-list given by path", () => {
  it("takes effect on the next request; an invalid or missing one leaves the previous list and is logged", async () => {
    const tool = countingTool();
    writeFileSync(path, list(alice));
    const section = { allowed_leaders_path: path, tools: { [tool.fqn]: {} } };
    const config = ToolkitRuntimeConfig.fromJsonStr(JSON.stringify({ signed_http: section }));
    const { url, log } = await serveFor([tool], { config });
    const accepted = async (leader: Leader) => {
      expectResult(await echoCall(tool, "1", { leader }).send(url), echoed("1"));
    };
    const refused = async (leader: Leader) => {
      expectError(await echoCall(tool, "1", { leader }).send(url), 401, "auth_failed");
    };
    const warnings = () => log.filter(({ level, message }) => level === "warn" && message.startsWith("allow-list "));
    await accepted(alice);
    await refused(bob);
    writeFileSync(`${path}.new`, list(bob));
    renameSync(`${path}.new`, path);
    await accepted(bob);
    await refused(alice);
    assert.equal(warnings().length, 0);
    writeFileSync(path, '{"version":2}');
    await accepted(bob);
    await refused(alice);
    assert.equal(warnings().length, 1);
    rmSync(path);
    await accepted(bob);
    assert.equal(warnings().length, 2);
    writeFileSync(path, list(alice, bob));
    await accepted(alice);
    proves("10.15");
  });
});
