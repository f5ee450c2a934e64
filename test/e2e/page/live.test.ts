/** The development page while its project is edited; keyboard, contrast, width; hostile strings. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { CliProcess, startDev } from "../../generator/cli-process.js";
import { ToolProject } from "../../generator/project.js";
import { until } from "../../runtime/tools.js";
import { expectAccessible, findings, unfold } from "./accessibility.js";
import { answerTo, type OpenPage, openPage, WITHOUT_CHROMIUM } from "./browser.js";
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
  let url: string;
  let opened: OpenPage;
  let page: Page;
  before(async () => {
    project = new ToolProject({ "src/quote.ts": quote(GOOD) });
    ({ page: url } = await startDev(project.root));
    opened = await openPage(url);
    page = opened.page;
  });

  const field = (name: string) => page.getByLabel(name, { exact: true });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const choose = (name: string) => page.getByRole("tab", { name, exact: true }).click();
  const calling = (name: string) => answerTo(page, () => press(name));
  const result = () => page.getByRole("region", { name: "Result" }).innerText();

  test("an unsigned call, and checks that need a signed server", async () => {
    await field("article").fill("pen");
    assert.match(await answerTo(page, () => page.keyboard.press("Control+Enter")), /^200 ok [\d.]+ ms$/);
    assert.match(await result(), /"total": 100\b/);
    await page.getByRole("button", { name: "Checks" }).click();
    const tampered = page.getByRole("button", { name: "Tampered body" });
    assert.match(await tampered.innerText(), /needs a signed server: start svc-gen dev --signed/);
    assert.equal(await tampered.getAttribute("aria-disabled"), "true");
    await page.keyboard.press("Escape");
  });

  test("a save updates the form and keeps values that still fit", async () => {
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
    assert.match(await result(), /"total": 700\b/);
  });

  test("an error is shown over the page with its code frame, while the last good build serves", async () => {
    project.write({ "src/quote.ts": quote("return { ok: { total: 1, words: input.words } };") });
    const overlay = page.getByRole("alert", { name: "Errors" });
    // The first build may read the file while it is being written.
    await overlay.getByText("src/quote.ts:9:").waitFor();
    const text = await overlay.innerText();
    assert.match(text, /1 error; the last good build keeps serving/);
    assert.match(text, /override async invoke\(input: Input\)/, "the frame");
    await expectAccessible(url, (other) => other.getByRole("alert", { name: "Errors" }).waitFor());
    await press("Hide");
    assert.match(await calling("Call unsigned"), /200 ok/);
    project.write({ "src/quote.ts": quote(GOOD, "{ article: string; quantity: number; words: string[] }") });
    await field("size").waitFor({ state: "detached" });
  });

  test("the contract compared with git HEAD, and the log", async () => {
    await choose("Contract");
    await page.getByText("git HEAD has no meta.json to compare with").waitFor();
    const git = (...args: string[]) => execFileSync("git", args, { cwd: project.root, stdio: "pipe" });
    git("init", "-q");
    git("add", "meta.json");
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "x");
    await choose("Contract");
    await page.getByText("The contracts have not changed.").waitFor();
    project.write({
      "src/quote.ts": quote(GOOD, "{ article: string; quantity: number; words: string[]; extra: string }"),
    });
    await page
      .getByText(
        "breaking: input extra: added: callers do not send it, even if it is optional; an optional member of an object port (options?: { … }) breaks no caller",
      )
      .waitFor();
    await page.getByText("Breaking change: existing callers").waitFor();
    await page.getByText("Metadata document").click();
    assert.match(await page.getByRole("region", { name: "Types" }).innerText(), /extra: string/);
    assert.match(
      await page.getByRole("region", { name: "Metadata document" }).innerText(),
      /"fqn": "xyz.page.quote@1"/,
    );
    await expectAccessible(url, async (other) => {
      await other.getByRole("tab", { name: "Contract" }).click();
      await other.getByText("Breaking change: existing callers").waitFor();
    });
    await choose("Log");
    await page.getByLabel("this call only").uncheck();
    await page
      .getByRole("region", { name: "Server log" })
      .getByText(/debug answered .*xyz\.page\.quote@1/)
      .first()
      .waitFor();
    assert.deepEqual([opened.foreign, opened.faults], [[], []]);
  });

  test("all controls can be used by keyboard", async () => {
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
        if ((await focused()).startsWith(name)) return;
      }
      assert.fail(`Tab does not reach ${name}`);
    };
    await other.page.locator(".status").getByText("200 ok").waitFor();
    await tabTo("Skip to the tool");
    await keyboard.press("Enter");
    await tabTo("article");
    await keyboard.press("Control+A");
    await keyboard.type("by hand");
    await tabTo("Add item to words");
    await keyboard.press("Space");
    await tabTo("Call unsigned");
    assert.match(await answerTo(other.page, () => keyboard.press("Enter")), /^200 ok/);
    await tabTo("Checks");
    await keyboard.press("Enter");
    await tabTo("Exact retry");
    await keyboard.press("Enter");
    await other.page.locator("[data-kind=retry]").waitFor();
    assert.match(await focused(), /^Checks/);
    await tabTo("Result");
    await tabTo("Exchange");
    await keyboard.press("ArrowLeft");
    assert.equal(await focused(), "Contract");
    await other.page.getByRole("region", { name: "Types" }).waitFor();
    const tab = other.page.getByRole("tab", { name: "JSON" });
    await tab.focus();
    await keyboard.press("Enter");
    assert.match(await other.page.getByRole("textbox", { name: "JSON" }).inputValue(), /"by hand"/);
    await other.page.context().close();
  });

  test("at every width nothing overflows and the call button is visible", async () => {
    for (const width of [360, 400, 900, 1280, 1600]) {
      const other = await openPage(url, { width });
      await answerTo(other.page, () => other.page.getByRole("button", { name: "Call unsigned" }).click());
      if (width < 900) {
        const title = other.page.locator("#request-title");
        await until(async () => ((await title.boundingBox())?.y ?? 0) < 0, "the page goes to the answer");
      }
      await unfold(other.page);
      const wide = await other.page.evaluate<number>("document.documentElement.scrollWidth");
      assert.ok(wide <= width, `${wide} of ${width} px`);
      const call = await other.page.getByRole("button", { name: "Call unsigned" }).boundingBox();
      assert.ok(call !== null && call.y > 0 && call.y + call.height <= 900, `at ${width} px: ${call?.y}`);
      const [request, title] = await Promise.all(
        ["#request-title", "#answer-title"].map((name) => other.page.locator(name).boundingBox()),
      );
      const isBeside = title !== null && title !== undefined && title.x > width / 3;
      assert.equal(isBeside, width >= 900, `${width} px: two columns`);
      assert.ok(width >= 900 || (request?.y ?? 0) < 0, "in one column the page goes to the answer");
      await other.page.context().close();
    }
  });
});

test("an open page offers a first tool, and reconnects after a restart", {
  skip: WITHOUT_CHROMIUM,
  timeout: 240_000,
}, async () => {
  const project = new ToolProject({ "src/none.ts": "export {};" });
  const start = async () => {
    const dev = new CliProcess(project.root, ["dev", "--json"]);
    const { url } = await dev.event<{ readonly url: string }>("page");
    return { dev, url: new URL(url) };
  };
  const first = await start();
  const { page } = await openPage(first.url.href);
  const offered = await page.getByRole("region", { name: "First tool" }).innerText();
  assert.deepEqual(await findings(page), []);
  project.write({ "src/hello.ts": offered });
  await answerTo(page, () => page.getByRole("button", { name: "Call unsigned" }).click());
  await first.dev.interrupt();
  await page.getByText("disconnected from svc-gen dev").waitFor();
  assert.deepEqual(await findings(page), []);
  const second = await start();
  assert.equal(second.url.pathname, first.url.pathname);
  // Another process may have taken the port meanwhile; then the system chooses one.
  if (second.url.port !== first.url.port) assert.ok(Number(second.url.port) >= 30_000, second.url.port);
  else {
    await page.getByText("disconnected from svc-gen dev").waitFor({ state: "detached" });
    const answer = await answerTo(page, () => page.getByRole("button", { name: "Call unsigned" }).click());
    assert.match(answer, /^200 ok/);
  }
  await second.dev.interrupt();
});

test("hostile strings are text, never markup", { skip: WITHOUT_CHROMIUM, timeout: 240_000 }, async () => {
  await expectAccessible(await hostileServer(), async (page) => {
    await page.getByRole("button", { name: "Call unsigned" }).click();
    await page.getByRole("region", { name: "Result" }).waitFor();
    await unfold(page);
    const text = await page.locator("body").innerText();
    assert.ok(text.split(HOSTILE).length > 5, "shown in several places");
    assert.equal(await page.locator("img, script:not([src='page.js']), iframe").count(), 0);
    assert.deepEqual(await findings(page), []);
    for (const view of ["Contract", "Log", "JSON"]) {
      await page.getByRole("tab", { name: view, exact: true }).click();
      assert.equal(await page.locator("img, iframe").count(), 0);
    }
    await page.getByRole("tab", { name: "Contract" }).click();
    await page.getByRole("region", { name: "Types" }).waitFor();
  });
});
