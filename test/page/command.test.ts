/** `svc-gen dev` and its page from the command line. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { EXIT } from "#generator/cli/cli.js";
import { DevelopmentPage } from "#generator/dev/page-server/development-page.js";
import type { PageState } from "#generator/dev/page-server/page-api.js";
import { createHarness } from "#runtime/testing.js";
import { CliProcess } from "../generator/cli-process.js";
import { ToolProject } from "../generator/project.js";
import { svcGenIn } from "../generator/run-cli.js";
import { atEnd } from "../teardown.js";
import { Adding, CONTRACTS } from "./adding.js";
import { stateOf } from "./requests.js";

const PATIENCE = { timeout: 60_000 };

test("--url shows a remote server, with a key from a file, until Ctrl-C", PATIENCE, async () => {
  const project = new ToolProject({});
  const harness = await createHarness(Adding, { contracts: CONTRACTS });
  atEnd(() => harness.close());
  const url = await harness.http();
  assert.equal((await svcGenIn(project.root, ["keys", "new", "my.key"])).code, EXIT.done);
  const key = readFileSync(join(project.root, "my.key"), "utf8").trim();
  const process = new CliProcess(project.root, ["dev", "--url", `${url}/invoke`, "--leader-key", "my.key", "--json"]);
  const { url: page } = await process.event<{ readonly event: "page"; readonly url: string }>("page");
  const state = await stateOf(page);
  assert.deepEqual(
    [state.source, state.url, state.signed, state.tools.map(({ fqn }) => fqn), state.signers[0]?.leaderId],
    ["remote", url, true, ["xyz.page.adding@1"], "leader"],
  );
  assert.ok(!JSON.stringify(state).includes(key));
  assert.equal(await process.interrupt(), EXIT.done);
  await assert.rejects(fetch(page));
});

test("the page reports a server that does not answer", PATIENCE, async () => {
  const page = new DevelopmentPage({ url: "http://127.0.0.1:1", leader: () => ({}) });
  await page.open();
  atEnd(() => page.close());
  const state: PageState = await stateOf(page.url);
  assert.deepEqual([state.serving, state.tools, state.problems.length], [false, [], 1]);
  assert.match(state.problems[0]?.text ?? "", /no answer from http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/);
});
