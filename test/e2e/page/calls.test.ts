/** The development page in Chromium: the form, the calls, every check and the history, against a signed `svc-gen dev`. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { readReceipt } from "svc-runtime/leader";
import { type CliProcess, startDev } from "../../generator/cli-process.js";
import { ToolProject } from "../../generator/project.js";
import { until } from "../../runtime/tools.js";
import { expectAccessible, findings, unfold } from "./accessibility.js";
import { answerTo, chooseCheck, type OpenPage, openPage, WITHOUT_CHROMIUM } from "./browser.js";
import { EVERY_KIND, SLOW } from "./tools.js";

describe("the page of a signed project", { skip: WITHOUT_CHROMIUM, timeout: 240_000 }, () => {
  let opened: OpenPage;
  let page: Page;
  let dev: CliProcess;
  before(async () => {
    const project = new ToolProject({ "src/kinds.ts": EVERY_KIND, "src/slow.ts": SLOW });
    const started = await startDev(project.root, "--signed", "--as", "treasurer");
    dev = started.dev;
    opened = await openPage(started.page);
    page = opened.page;
  });
  after(async () => {
    assert.deepEqual([opened.foreign, opened.faults], [[], []], "no other host, no error of a script");
    await dev.interrupt();
  });

  const json = () => page.getByRole("textbox", { name: "JSON", exact: true });
  const field = (name: string) => page.getByLabel(name, { exact: true });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const choose = (name: string) => page.getByRole("tab", { name, exact: true }).click();
  const calling = (name: string) => answerTo(page, () => press(name));
  const checking = (name: string) => answerTo(page, () => chooseCheck(page, name));
  /** The input as JSON; the form is shown before and after. */
  const text = async () => {
    await choose("JSON");
    const shown = await json().inputValue();
    await choose("Form");
    return shown;
  };
  const edit = async (change: (input: Record<string, unknown>) => void) => {
    const input = JSON.parse(await text()) as Record<string, unknown>;
    change(input);
    await choose("JSON");
    await json().fill(JSON.stringify(input));
    await choose("Form");
  };

  test("shows the tools with their health, ports and limits", async () => {
    await page.getByText("✓ health 200").waitFor();
    assert.deepEqual(await findings(page), [], "without a call");
    await page.getByText("✗ 503").waitFor();
    await choose("Contract");
    assert.match(
      await page.getByRole("region", { name: "Types" }).innerText(),
      /interface Input \{[\s\S]*\n {2}tags: string\[\];\n {2}place: \{/,
    );
    await choose("Exchange");
    await page.getByText("timeout 10000 ms").waitFor();
    assert.equal(await page.locator("h2", { hasText: "xyz.page.kinds@1" }).count(), 1);
  });

  test("form and JSON show the same input after an edit of either, for a port of every kind", async () => {
    const value = async () => JSON.parse(await text()) as Record<string, unknown>;
    await field("big").fill("9223372036854775807");
    assert.match(await text(), /"big": 9223372036854775807,/, "exact");
    await field("big").fill("12x");
    await page.getByText("not an integer").waitFor();
    assert.equal((await value()).big, "12x", "sent as it is: the server decides");
    await press("Example for big");
    assert.match(await text(), /"big": 9007199254740993,/);
    await field("mode").selectOption("careful");
    await field("flag").selectOption("false");
    await field("text").fill('a "b" \\ c');
    await press("Add item to tags");
    await field("tags[1]").fill("second");
    await field("street").fill("Main");
    await page.getByLabel("set place.floor").check();
    await field("floor").fill("3");
    await field("Type of shape").selectOption({ label: "square" });
    await field("side").fill("2.5");
    await press("Add item to tree.children");
    await field("name").nth(1).fill("leaf");
    await field("pair[1]").fill("7");
    await field("counts").fill('{"name1": 4}');
    await field("File for data").setInputFiles({ name: "x.bin", mimeType: "", buffer: Buffer.from([0, 255, 1]) });
    await until(async () => (await page.locator("[id='field:data']").inputValue()) === "AP8B", "the file is read");
    await field("anything").fill('{"deep": [1, 18446744073709551616]}');
    assert.match(await text(), /18446744073709551616/);
    await field("anything").fill('{"deep": ');
    await page
      .getByText("line 1, column 10: Object value expected after ':'. Calls send the last valid value.")
      .waitFor();
    await field("anything").fill('{"deep": null}');
    await press("Now for when");
    await page.getByLabel("set note").check();
    await page.getByLabel("set labels").check();
    assert.deepEqual((await value()).labels, []);
    await page.locator("[id='field:labels']").getByText("0 items", { exact: true }).waitFor();
    await page.getByLabel("set labels").uncheck();
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
    await choose("JSON");
    await json().fill('{"big": 1,\n "x" }');
    await page.getByText("line 2, column 6: Colon ':' expected").waitFor();
    assert.equal(await page.getByRole("button", { name: "Call signed" }).isDisabled(), true);
    await press("Sample input");
    await choose("Form");
  });

  test("a signed call: result, verified signatures and HTTP exchange", async () => {
    assert.match(
      await calling("Call signed"),
      /200 ok [\d.]+ ms\s+✓ Signature: the result has the tool's valid signature/,
    );
    assert.match(await page.getByRole("region", { name: "Result" }).innerText(), /"big": 9007199254740993/);
    const panel = page.locator("#view-panel");
    const wire = await panel.innerText();
    assert.match(wire, /build and sign\s+[\d.]+ ms\s+connect\s+[\d.]+ ms\s+send/);
    assert.match(wire, /X-Svc-Leader-Id\s+dev/);
    assert.match(wire, /X-Svc-Tool-Signature\s+[\w-]{86}/i);
    await page.getByText(/^Response body: \d+ bytes$/).click();
    assert.match(await page.getByRole("region", { name: "Response body as hex" }).innerText(), /^02 6f 6b /);
    await page.getByText("server: auth").waitFor();
    await choose("Signatures");
    const signatures = await panel.innerText();
    assert.match(signatures, /Signature of the tool: verified/);
    assert.match(
      signatures,
      /SHA-256 of tags\[0\]\s+1e1d0f251d3a76fa2b1bfc81164078572623403887db02988b504b0492e9f076 of "text"/,
    );
    assert.match(signatures, /input hash\s+[0-9a-f]{64}/);
    const saving = page.waitForEvent("download");
    await panel.getByRole("link", { name: "Save the receipt" }).click();
    const saved = await saving;
    assert.match(saved.suggestedFilename(), /^receipt-.*\.json$/);
    assert.equal(readReceipt(readFileSync(await saved.path())).leader.id, "dev");
    await choose("Log");
    await panel.getByText(/debug answered/).waitFor();
    await panel.getByText("1 line", { exact: true }).waitFor();
    await panel.getByLabel("Filter").fill("no such text");
    await panel.getByText("0 lines").waitFor();
    await panel.getByLabel("Filter").fill("");
    await choose("Exchange");
  });

  test("copies a result as shown", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await press("Copy: Result");
    await page.getByText("Copied", { exact: true }).waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    assert.equal(copied, await page.getByRole("region", { name: "Result" }).locator("pre").textContent());
  });

  test("errors of the server appear next to their field", async () => {
    await press("Sample input");
    await edit((input) => {
      input.tree = { name: "a", children: [{ name: 5, children: [] }] };
    });
    assert.match(await calling("Call signed"), /422 The input does not match the contract input_deserialization_error/);
    const error = page.locator(".member .server");
    assert.match(await error.innerText(), /tree\.children\[0\]\.name: expected a string, got a number/);
    await press("Go to tree.children[0].name");
    assert.equal(await page.evaluate("document.activeElement?.id"), "field:tree.children[0].name");
    await edit((input) => {
      input.tree = { name: "a", children: [] };
      input.tags = Array.from({ length: 257 }, () => "x");
    });
    assert.match(await calling("Call signed"), /422 .* input_deserialization_error/);
    assert.match(await error.innerText(), /256/, "at the list that is too long");
    await page.getByText("more than 256 items: the server refuses this list").waitFor();
    assert.equal(await page.locator("fieldset.invalid legend", { hasText: "tags" }).count(), 1);
    await edit((input) => {
      input.tags = ["x"];
      input["odd name"] = 1;
    });
    assert.match(await calling("Call signed"), /422 The input/);
    await page
      .locator("#answer .box")
      .getByText(/ports\[18\]\.port_name: the tool has no such input port/)
      .waitFor();
    await press('Go to ["odd name"]');
    assert.match(await json().inputValue(), /"odd name":1/, "the form has no such field");
    await choose("Form");
    await page.getByText("Only the JSON shows: odd name").waitFor();
    await edit((input) => {
      delete input["odd name"];
      delete input.text;
    });
    await calling("Call signed");
    assert.match(await error.innerText(), /text: expected a value, got nothing/);
    await press("Sample input");
  });

  test("other outcomes: a variant without ports, errEval, an exception with its source line", async () => {
    await field("text").fill("nothing");
    assert.match(await calling("Call signed"), /200 nothing .*\s+✓ Signature/);
    await field("text").fill("fail");
    assert.match(await calling("Call signed"), /200 _err_eval .*\s+✓ Signature/);
    assert.deepEqual(await findings(page), []);
    await field("text").fill("throw");
    assert.match(await calling("Call signed"), /500 The tool threw an error tool_invocation_failed/);
    const thrown = await page.getByRole("region", { name: "Exception" }).innerText();
    const line = EVERY_KIND.split("\n").findIndex((each) => each.includes("thrown on purpose")) + 1;
    assert.match(thrown, new RegExp(`Error: thrown on purpose\\s.*src/kinds\\.ts:${line}:\\d+`));
    assert.deepEqual(await findings(page), []);
    await press("Sample input");
  });

  test("each protocol check shows its verdict, also in the menu", async () => {
    await calling("Call signed");
    const retried = await checking("Exact retry");
    assert.match(retried, /✓ Exact retry: same status, signature and body: the tool did not run again/);
    await page.getByText("from the replay memory").waitFor();
    assert.match(
      await checking("Tampered body"),
      /422 The body.*\s+✓ Tampered body: refused with 422 input_integrity_error/,
    );
    await choose("Signatures");
    await page.getByText("hash of the values in the body").waitFor();
    assert.match(await checking("Wrong key"), /401 The signature.*\s+✓ Wrong key: refused with 401 auth_failed/);
    assert.match(
      await checking("Unsigned call"),
      /✓ Unsigned call: refused with 401 auth_failed: this server requires/,
    );
    await choose("Exchange");
    await page.getByRole("button", { name: "Checks" }).click();
    assert.match(
      await page.getByRole("region", { name: "Protocol checks" }).innerText(),
      /Wrong key\s+✓ refused with 401 auth_failed/,
    );
    await page.keyboard.press("Escape");
    await field("Who signs").selectOption({ label: "unsigned" });
    assert.match(await calling("Call unsigned"), /401 The signature is missing or was refused auth_failed/);
    await page.getByText("The server requires signatures: make a signed call.").waitFor();
    await field("Who signs").selectOption("dev");
  });

  test("a secret is typed without echo, sent, and never shown on the page", async () => {
    await page.getByLabel("set apiKey").check();
    assert.equal(await field("apiKey").getAttribute("type"), "password");
    await page.getByText("not set: calls send an empty text").waitFor();
    await field("apiKey").fill("canary-123456");
    await edit((input) => {
      assert.equal(input.apiKey, "••••••••");
      input.text = "echo key";
      input.keys = { one: { key: "canary-654321" } };
    });
    assert.match(await field("keys").inputValue(), /"key": "••••••••"/, "also as JSON text in the form");
    await calling("Call signed");
    await unfold(page);
    const shown = await page.content();
    assert.doesNotMatch(shown.replaceAll("<br>", ""), /canary/);
    const result = await page.getByRole("region", { name: "Result" }).innerText();
    assert.match(result, /"text": "••••••••"/, "the tool got it and repeated it");
    await choose("JSON");
    assert.match(await json().inputValue(), /"apiKey":\s*"••••••••"/);
    await choose("Form");
    await page.reload();
    await page.locator(".status").getByText("200 ok").waitFor();
    assert.doesNotMatch(await page.content(), /canary/, "the history keeps no secret");
    await edit((input) => {
      delete input.apiKey;
      delete input.keys;
    });
  });

  test("a secret in JSON is typed as text, sent, and hidden when the box is left", async () => {
    await page.getByLabel("set keys").check();
    await field("keys").fill('{"a":{"key":""}}');
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowLeft");
    await page.keyboard.type("canary-1");
    assert.equal(await field("keys").inputValue(), '{"a":{"key":"canary-1"}}');
    const sent = page.waitForRequest((request) => request.url().endsWith("/api/call"));
    await answerTo(page, () => page.keyboard.press("Control+Enter"));
    const { input, shown } = (await sent).postDataJSON() as { readonly input: string; readonly shown: string };
    assert.deepEqual([/"key": "(.*)"/.exec(input)?.[1], /canary/.test(shown)], ["canary-1", false]);
    await field("keys").blur();
    assert.equal(JSON.parse(await field("keys").inputValue()).a.key, "••••••••");
    assert.doesNotMatch(await page.content(), /canary/);
    await field("keys").fill('{"b":{"key":"••••••••"}}');
    await field("keys").blur();
    assert.equal(JSON.parse(await field("keys").inputValue()).b.key, "", "a hidden secret of another name is lost");
    await edit((all) => {
      all.keys = { a: { key: "canary-2" } };
    });
    assert.doesNotMatch(await text(), /canary/, "also in the JSON of the whole input");
    await edit((all) => {
      delete all.keys;
    });
  });

  test("a text of one line acts as an input, and keeps the focus while it grows", async () => {
    const value = () => field("text").inputValue();
    const paste = async (pasted: string) => {
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(pasted)})`);
      await page.keyboard.press("Control+V");
    };
    await field("text").fill("");
    await field("text").focus();
    await page.keyboard.type("one\n");
    assert.equal(await value(), "one", "Enter adds no line break");
    await paste(" two\n");
    assert.equal(await value(), "one two");
    await page.keyboard.type("x".repeat(70));
    assert.equal(await value(), `one two${"x".repeat(70)}`);
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("a\nb");
    await paste("c\n");
    assert.equal(await value(), `one two${"x".repeat(70)}\na\nbc\n`, "a text of more lines can be edited");
    await field("text").fill("text");
  });

  test("the history survives a reload, and restores a call with its input", async () => {
    const first = page.locator(".history button").last();
    assert.match(await first.innerText(), /200 ok\s+[\d.]+ ms\s+kinds@1/);
    await first.click();
    await until(async () => (await page.locator("[id='field:text']").inputValue()) === "text", "the input is restored");
    assert.match(await checking("Exact retry"), /✓ Exact retry/, "of a call before the reload");
  });

  test("a leader of --as can be chosen, and signs", async () => {
    await page.getByRole("combobox", { name: "Who signs" }).selectOption("treasurer");
    assert.match(await calling("Call signed"), /200 ok/);
    assert.match(await page.locator("#view-panel").innerText(), /X-Svc-Leader-Id\s+treasurer/);
  });

  test("axe-core finds nothing serious in a form of every kind and its report", () =>
    expectAccessible(page.url(), async (other) => {
      await answerTo(other, () => other.getByRole("button", { name: "Call signed" }).click());
      for (const tab of ["JSON", "Signatures", "Form", "Log", "Exchange"]) {
        await other.getByRole("tab", { name: tab, exact: true }).click();
        await unfold(other);
        assert.deepEqual(await findings(other), [], tab);
      }
      await other.getByRole("button", { name: "Checks" }).click();
    }));
});
