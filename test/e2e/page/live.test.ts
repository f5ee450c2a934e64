/** The development page while its project is edited; keyboard, contrast, width; hostile strings. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { CliProcess } from "../../generator/cli-process.js";
import { ToolProject } from "../../generator/project.js";
import { findings, LOOKS, unfold } from "./accessibility.js";
import { type OpenPage, openPage, WITHOUT_CHROMIUM } from "./browser.js";
import { HOSTILE, hostileServer } from "./hostile.js";

const quote = (body: string, input = "{ article: string; quantity: number; words: string[] }") => `
import { SvcTool, StatusCode } from "svc-runtime";
interface Input ${input}
/** Prices an order. */
export class Quote extends SvcTool<Input, { ok: { total: bigint; words: string[] } }> {
  static override fqn() { return "xyz.page.quote@1"; }
  static override description() { return "Prices an order."; }
  static override path() { return "quote"; }
  override async invoke(input: Input) {
    ${body}
  }
  override async health() { return StatusCode.OK; }
}
`;
const GOOD = "return { ok: { total: BigInt(input.quantity) * 100n, words: input.words } };";

describe("the page of an unsigned project", { skip: WITHOUT_CHROMIUM, timeout: 240_000 }, () => {
  let project: ToolProject;
  let dev: CliProcess;
  let url: string;
  let opened: OpenPage;
  let page: Page;
  before(async () => {
    project = new ToolProject({ "src/quote.ts": quote(GOOD) });
    dev = new CliProcess(project.root, ["dev", "--port", "0", "--json"]);
    ({ url } = await dev.event<{ readonly event: "page"; readonly url: string }>("page"));
    await dev.event("serving");
    opened = await openPage(url);
    page = opened.page;
  });

  const field = (name: string) => page.getByLabel(name, { exact: true });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const calling = async (name: string) => {
    const entries = page.locator(".history li");
    const count = await entries.count();
    await press(name);
    await entries.nth(count).waitFor();
    return page.locator(".judgement").innerText();
  };

  test("an unsigned call and its retry", async () => {
    await field("article").fill("pen");
    assert.match(await calling("Call unsigned"), /did\s+200 ok\s+so\s+✓/);
    assert.match(await page.locator(".exchange").innerText(), /"total": 100\b/);
    assert.match(await calling("Exact retry"), /an unsigned call is not remembered[\s\S]*–/);
    assert.equal(await page.getByRole("button", { name: "Tampered body" }).isDisabled(), true);
    await page.getByText("this server runs unsigned: start svc-gen dev --signed").first().waitFor();
  });

  test("after a save the form follows, and values that still fit stay", async () => {
    await field("article").fill("ink");
    await field("quantity").fill("7");
    project.write({
      "src/quote.ts": quote(
        GOOD,
        '{ article: string; quantity: bigint; size: "S" | "L"; words: string[]; rush?: boolean }',
      ).replace("BigInt(input.quantity)", "input.quantity"),
    });
    await field("size").waitFor();
    assert.equal(await field("article").inputValue(), "ink");
    assert.equal(await field("quantity").inputValue(), "7");
    await field("set rush (optional)").check();
    assert.match(await calling("Call unsigned"), /200 ok/);
    assert.match(await page.locator(".exchange").innerText(), /"total": 700\b/);
  });

  test("an error lies over the page with its frame, while the last good build serves", async () => {
    project.write({ "src/quote.ts": quote("return { ok: { total: 1, words: input.words } };") });
    const overlay = page.getByRole("alert", { name: "Errors" });
    await overlay.waitFor();
    const text = await overlay.innerText();
    assert.match(text, /1 error; the last good build keeps serving/);
    assert.match(text, /src\/quote\.ts:9:/, "the place");
    assert.match(text, /override async invoke\(input: Input\)/, "the frame");
    for (const look of LOOKS) {
      const other = await openPage(url, look);
      await other.page.getByRole("alert", { name: "Errors" }).waitFor();
      assert.deepEqual(await findings(other.page), []);
      await other.page.context().close();
    }
    await press("Hide");
    assert.match(await calling("Call unsigned"), /200 ok/);
    project.write({ "src/quote.ts": quote(GOOD, "{ article: string; quantity: number; words: string[] }") });
    await field("size").waitFor({ state: "detached" });
  });

  test("the contract beside the one in git HEAD, and the log", async () => {
    await press("Contract");
    await page.getByText("git HEAD has no meta.json here").waitFor();
    const git = (...args: string[]) => execFileSync("git", args, { cwd: project.root, stdio: "pipe" });
    git("init", "-q");
    git("add", "meta.json");
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "x");
    await press("Contract");
    await page.getByText("No tool has changed.").waitFor();
    project.write({
      "src/quote.ts": quote(GOOD, "{ article: string; quantity: number; words: string[]; extra: string }"),
    });
    await page.getByText("breaking: input extra: it is new: callers do not send it").waitFor();
    await page.getByText("A contract is broken").waitFor();
    await page.getByText("Input schema").click();
    assert.match(
      await page.getByRole("region", { name: "Input schema" }).innerText(),
      /"extra": \{\s+"type": "string"/,
    );
    assert.match(
      await page.getByRole("region", { name: "Metadata document" }).innerText(),
      /"fqn": "xyz.page.quote@1"/,
    );
    for (const look of LOOKS) {
      const other = await openPage(url, look);
      await other.page.getByRole("button", { name: "Contract", exact: true }).click();
      await other.page.getByText("A contract is broken").waitFor();
      assert.deepEqual(await findings(other.page), []);
      await other.page.context().close();
    }
    await press("Log");
    await page
      .getByRole("region", { name: "Log of the server" })
      .getByText(/debug answered .*xyz\.page\.quote@1/)
      .first()
      .waitFor();
    await press("Call");
    assert.deepEqual([opened.foreign, opened.faults], [[], []]);
  });

  test("the whole way by keyboard", async () => {
    const other = await openPage(url);
    const { keyboard } = other.page;
    const focused = () =>
      other.page.evaluate<string>(`(() => {
        const at = document.activeElement;
        return (at?.getAttribute("aria-label") ?? at?.labels?.[0]?.textContent ?? at?.textContent ?? "").trim();
      })()`);
    const tabTo = async (name: string) => {
      for (let steps = 0; steps < 80; steps++) {
        await keyboard.press("Tab");
        if ((await focused()) === name) return;
      }
      assert.fail(`Tab does not reach ${name}`);
    };
    await other.page.getByText("Call unsigned").waitFor();
    await tabTo("Skip to the tool");
    await keyboard.press("Enter");
    await tabTo("article");
    await keyboard.press("Control+A");
    await keyboard.type("by hand");
    await tabTo("Add item to words");
    await keyboard.press("Space");
    await tabTo("Call unsigned");
    await keyboard.press("Enter");
    await other.page.locator(".judgement").getByText("200 ok", { exact: true }).waitFor();
    await tabTo("Exact retry");
    await keyboard.press("Enter");
    await other.page.locator(".history li").nth(1).waitFor();
    await tabTo("Result");
    assert.match(await other.page.locator(".report").innerText(), /200 ok/);
    assert.match(await other.page.getByRole("textbox", { name: "JSON" }).inputValue(), /"by hand"/);
    await other.page.context().close();
  });

  test("at 360 px nothing is wider than the window", async () => {
    for (const width of [360, 1600]) {
      const other = await openPage(url, { width });
      await other.page.getByRole("button", { name: "Call unsigned" }).click();
      await other.page.locator(".report").waitFor();
      await unfold(other.page);
      const wide = await other.page.evaluate<number>("document.documentElement.scrollWidth");
      assert.ok(wide <= width, `${wide} of ${width} px`);
      await other.page.context().close();
    }
  });
});

describe("hostile strings", { skip: WITHOUT_CHROMIUM, timeout: 240_000 }, () => {
  for (const look of LOOKS) {
    test(`are text, never markup; axe-core finds nothing serious: ${look.colorScheme}, ${look.width} px`, async () => {
      const url = await hostileServer();
      const { page, foreign, faults } = await openPage(url, look);
      await page.getByRole("button", { name: "Call unsigned" }).click();
      await page.locator(".report").waitFor();
      await unfold(page);
      const text = await page.locator("body").innerText();
      assert.ok(text.split(HOSTILE).length > 5, "shown in several places");
      assert.equal(await page.locator("img, script:not([src='page.js']), iframe").count(), 0);
      assert.deepEqual(await findings(page), []);
      for (const view of ["Contract", "Log"]) {
        await page.getByRole("button", { name: view, exact: true }).click();
        assert.equal(await page.locator("img, iframe").count(), 0);
      }
      assert.deepEqual([foreign, faults], [[], []]);
      await page.context().close();
    });
  }
});
