/** The development page in Chromium: the form, the calls, and every button, against a signed `svc-gen dev`. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { CliProcess } from "../../generator/cli-process.js";
import { ToolProject } from "../../generator/project.js";
import { findings, LOOKS, unfold } from "./accessibility.js";
import { type OpenPage, openPage, WITHOUT_CHROMIUM } from "./browser.js";
import { EVERY_KIND, SLOW } from "./tools.js";

describe("the page of a signed project", { skip: WITHOUT_CHROMIUM, timeout: 240_000 }, () => {
  let opened: OpenPage;
  let page: Page;
  let dev: CliProcess;
  before(async () => {
    const project = new ToolProject({ "src/kinds.ts": EVERY_KIND, "src/slow.ts": SLOW });
    dev = new CliProcess(project.root, ["dev", "--port", "0", "--json", "--signed"]);
    const { url } = await dev.event<{ readonly event: "page"; readonly url: string }>("page");
    await dev.event("serving");
    opened = await openPage(url);
    page = opened.page;
  });
  after(async () => {
    assert.deepEqual([opened.foreign, opened.faults], [[], []], "no other host, no error of a script");
    await dev.interrupt();
  });

  const json = () => page.getByRole("textbox", { name: "JSON", exact: true });
  const field = (name: string) => page.getByLabel(name, { exact: true });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  /** Calls, and waits for the report of this call. */
  const calling = async (name: string) => {
    const entries = page.locator(".history li");
    const count = await entries.count();
    await press(name);
    await entries.nth(count).waitFor();
    return page.locator(".judgement").innerText();
  };
  const edit = async (change: (input: Record<string, unknown>) => void) => {
    const input = JSON.parse(await json().inputValue()) as Record<string, unknown>;
    change(input);
    await json().fill(JSON.stringify(input));
  };

  test("lists the tools with their health, and shows ports and limits", async () => {
    await page.getByText("✓ health 200").waitFor();
    await page.getByText("✗ health 503").waitFor();
    await page.getByText("Ports: 16 in, 3 variants out").click();
    assert.match(await page.locator(".ports").innerText(), /tags data, many \(1 to 256\)\s+place data, one/);
    await page.getByText("timeout 10000 ms").waitFor();
    assert.equal(await page.locator("h2", { hasText: "xyz.page.kinds@1" }).count(), 1);
  });

  test("the form follows the JSON and the JSON the form, for a port of every kind", async () => {
    const value = async () => JSON.parse(await json().inputValue()) as Record<string, unknown>;
    await field("big").fill("9223372036854775807");
    assert.match(await json().inputValue(), /"big": 9223372036854775807,/, "exact");
    await field("big").fill("12x");
    await page.getByText("not an integer").waitFor();
    assert.equal((await value()).big, "12x", "sent as it is: the server decides");
    await press("Example for big");
    assert.match(await json().inputValue(), /"big": 9007199254740993,/);
    await field("mode").selectOption("careful");
    await field("flag").selectOption("false");
    await field("text").fill('a "b" \\ c');
    await press("Add item to tags");
    await field("tags[1]").fill("second");
    await field("street").fill("Main");
    await page.getByLabel("set place.floor").check();
    await field("floor").fill("3");
    await field("Kind of shape").selectOption({ label: "{ kind: square, side, label }" });
    await field("side").fill("2.5");
    await press("Add item to tree.children");
    await field("name").nth(1).fill("leaf");
    await field("pair[1]").fill("7");
    await press("Add member to counts");
    await field("name1").fill("4");
    await field("File for data").setInputFiles({ name: "x.bin", mimeType: "", buffer: Buffer.from([0, 255, 1]) });
    await page.waitForFunction("document.querySelector('#json').value.includes('AP8B')");
    await field("anything").fill('{"deep": [1, 18446744073709551616]}');
    assert.match(await json().inputValue(), /18446744073709551616/);
    await field("anything").fill('{"deep": ');
    await page.getByText("line 1, column 10: expected a value: the last good value is sent").waitFor();
    await field("anything").fill('{"deep": null}');
    await press("Now for when");
    await page.getByLabel("set note").check();
    const { when, ...rest } = await value();
    assert.ok(Math.abs(Date.parse(String(when)) - Date.now()) < 3_600_000);
    assert.deepEqual(rest, {
      big: 9007199254740992,
      ratio: 12.5,
      text: 'a "b" \\ c',
      mode: "careful",
      flag: false,
      data: "AP8B",
      tags: ["text", "second"],
      place: { street: "Main", floor: 3 },
      shape: { kind: "square", side: 2.5 },
      tree: { name: "text", children: [{ name: "leaf", children: [] }] },
      pair: ["text", 7],
      counts: { name1: 4 },
      anything: { deep: null },
      note: "",
    });
    await edit((input) => {
      input.text = "from the JSON";
      input.shape = { kind: "circle", radius: 9 };
      input.note = null;
    });
    assert.equal(await field("text").inputValue(), "from the JSON");
    assert.equal(await field("radius").inputValue(), "9");
    assert.equal(await page.getByLabel("set note").isChecked(), false);
    await json().fill('{"big": 1,\n "x" }');
    await page.getByText("line 2, column 6: expected :").waitFor();
    assert.equal(await page.getByRole("button", { name: "Call signed" }).isDisabled(), true);
    await press("Sample input");
  });

  test("a signed call: the result, what was verified, and the wire as it was", async () => {
    assert.match(await calling("Call signed"), /200 ok; signature of the tool: verified\s+so\s+✓ as the protocol says/);
    const report = await page.locator(".report").innerText();
    assert.match(report, /"big": 9007199254740993/);
    assert.match(report, /✓ signature of the leader: verified/);
    assert.match(report, /\d ms: build and sign [\d.]+ · connect [\d.]+ · send [\d.]+ · wait [\d.]+ · receive [\d.]+/);
    assert.match(report, /X-Svc-Leader-Id\s+dev/);
    assert.match(report, /X-Svc-Tool-Signature\s+[\w-]{86}/i);
    assert.match(report, /tags\[0\]\s+"text"\s+1e1d0f251d3a76fa2b1bfc81164078572623403887db02988b504b0492e9f076/);
    assert.match(report, /input hash: [0-9a-f]{64}/);
    await page.getByText(/^Response body: \d+ bytes$/).click();
    assert.match(await page.getByRole("region", { name: "Response body as hex" }).innerText(), /^02 6f 6b /);
    await page.getByText(/in the server: auth/).waitFor();
    await page.getByText(/^Log of this call: 1 line$/).click();
    await page.getByText(/debug answered/).waitFor();
  });

  test("errors of the server appear at their field", async () => {
    await press("Sample input");
    await edit((input) => {
      input.tree = { name: "a", children: [{ name: 5, children: [] }] };
    });
    assert.match(await calling("Call signed"), /422 input_deserialization_error: tree\.children\[0\]\.name: expected/);
    const error = page.locator(".member .server");
    assert.match(await error.innerText(), /tree\.children\[0\]\.name: expected a string, got a number/);
    await press("Go to tree.children[0].name");
    assert.equal(await page.evaluate("document.activeElement?.id"), "field:tree.children[0].name");
    await edit((input) => {
      input.tree = { name: "a", children: [] };
      input.tags = Array.from({ length: 257 }, () => "x");
    });
    assert.match(await calling("Call signed"), /422 input_deserialization_error/);
    assert.match(await error.innerText(), /256/, "at the list that is too long");
    await page.getByText("more than 256 items: the server refuses it").waitFor();
    assert.equal(await page.locator("fieldset.invalid legend", { hasText: "tags" }).count(), 1);
    await edit((input) => {
      input.tags = ["x"];
      input["odd name"] = 1;
    });
    assert.match(await calling("Call signed"), /ports\[16\]\.port_name: the tool has no such input port/);
    await press('Go to ["odd name"]');
    assert.equal(await page.evaluate("document.activeElement?.id"), 'field:["odd name"]');
    await press('Remove ["odd name"]');
    await edit((input) => {
      delete input.text;
    });
    assert.match(await calling("Call signed"), /text: expected a string, got null/);
    assert.match(await error.innerText(), /text: expected a string/);
    await press("Sample input");
  });

  test("other outcomes: a variant without ports, errEval, an exception", async () => {
    await field("text").fill("nothing");
    assert.match(await calling("Call signed"), /200 nothing; signature of the tool: verified/);
    await field("text").fill("fail");
    assert.match(await calling("Call signed"), /200 _err_eval; signature of the tool: verified/);
    await field("text").fill("throw");
    assert.match(await calling("Call signed"), /500 tool_invocation_failed/);
    await page.getByText(/^Log of this call: [23] lines$/).click();
    await page.getByLabel("Log of this call").getByText("thrown on purpose").waitFor();
    await press("Sample input");
  });

  test("every button says what must happen beside what did", async () => {
    await calling("Call signed");
    assert.match(await calling("Exact retry"), /the same status and body as the first answer\s+so\s+✓/);
    await page.getByText("from the replay memory").waitFor();
    assert.match(
      await calling("Tampered body"),
      /must\s+422 input_integrity_error[\s\S]*did\s+422 input_integrity_error[\s\S]*✓/,
    );
    await page.getByText(/The values in the body have another hash: [0-9a-f]{64}/).waitFor();
    assert.match(await calling("Wrong key"), /did\s+401 auth_failed: X-Svc-Leader-Signature: does not verify\s+so\s+✓/);
    assert.match(await page.locator(".checks").innerText(), /✗ signature of the leader: not verified/);
    await page.getByLabel("sign as leader dev, key 0").uncheck();
    assert.match(await calling("Call unsigned"), /did\s+401 auth_failed: X-Svc-Sig-V: missing\s+so\s+–/);
    await page.getByText("The server requires signatures: switch to a signed call.").waitFor();
    await page.getByLabel("sign as leader dev, key 0").check();
  });

  test("a secret is typed unseen, sent, and shown nowhere on the page", async () => {
    await page.getByLabel("set apiKey").check();
    assert.equal(await field("apiKey").getAttribute("type"), "password");
    await field("apiKey").fill("canary-123456");
    await edit((input) => {
      assert.equal(input.apiKey, "••••••••");
      input.text = "echo key";
    });
    await calling("Call signed");
    await unfold(page);
    const shown = await page.content();
    assert.doesNotMatch(shown.replaceAll("<br>", ""), /canary/);
    assert.match(await page.locator(".exchange").innerText(), /"text": "••••••••"/, "the tool got it and repeated it");
    await edit((input) => delete input.apiKey);
  });

  test("the history brings a call back with its input", async () => {
    const count = await page.locator(".history li").count();
    assert.ok(count > 8);
    await page.locator(".history button").last().click();
    await page.getByText("200 ok; signature of the tool: verified").waitFor();
    assert.equal(await page.locator("h2", { hasText: "xyz.page.kinds@1" }).count(), 1);
    assert.equal(await field("text").inputValue(), "text");
  });

  test("axe-core finds nothing serious in a form of every kind and its report", async () => {
    for (const look of LOOKS) {
      const other = await openPage(page.url(), look);
      await other.page.getByRole("button", { name: "Call signed" }).click();
      await other.page.locator(".report").waitFor();
      await unfold(other.page);
      assert.deepEqual(await findings(other.page), []);
      assert.deepEqual(other.faults, []);
      await other.page.context().close();
    }
  });
});
