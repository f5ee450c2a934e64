/** The reference page in Chromium: calls keep every digit, no other host is asked, narrow and wide, light and dark. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CliProcess } from "../../generator/cli-process.js";
import { ToolProject } from "../../generator/project.js";
import { openPage, WITHOUT_CHROMIUM } from "./browser.js";

const OPTIONS = { skip: WITHOUT_CHROMIUM, timeout: 120_000 };

const NEXT = `import { SvcTool } from "svc-runtime";
interface Input {
  /** @format int64 */
  a: bigint;
}
export class Next extends SvcTool<Input, { ok: { a: bigint; list: number[] } }> {
  static override fqn() { return "xyz.test.next@1"; }
  static override description() { return "The next integer."; }
  static override path() { return "next"; }
  override async invoke({ a }: Input): Promise<{ ok: { a: bigint; list: number[] } }> {
    return { ok: { a: a + 2n, list: [1.5, 1e21] } };
  }
}
`;

/** The address of the reference page, and that of the tools. */
async function serve(...args: string[]): Promise<{ readonly reference: string; readonly tools: string }> {
  const project = new ToolProject({ "src/next.ts": NEXT });
  const dev = new CliProcess(project.root, ["dev", "--port", "0", "--json", ...args]);
  const { url: page } = await dev.event<{ readonly url: string }>("page");
  const { url: tools } = await dev.event<{ readonly url: string }>("serving");
  return { reference: `${page}reference`, tools };
}

test("a call from the reference page keeps all digits of the request and of the result", OPTIONS, async () => {
  const { reference, tools } = await serve();
  const { page, foreign, faults } = await openPage(reference, { width: 1600, colorScheme: "dark" });
  const operation = page.locator(".opblock-post");
  await operation.locator(".opblock-summary-control").click();
  await operation.locator(".try-out__btn").click();
  await operation.locator("textarea.body-param__text").fill('{"a": 9007199254740991}');
  const sent = page.waitForRequest((request) => request.method() === "POST");
  await operation.locator("button.execute").click();
  const request = await sent;
  assert.deepEqual([request.postData(), request.headers().accept], ['{"a": 9007199254740991}', "application/json"]);
  const shown = await operation.locator(".live-responses-table .highlight-code pre").first().innerText();
  assert.deepEqual(shown.replaceAll(/\s/g, ""), '{"ok":{"a":9007199254740993,"list":[1.5,1e+21]}}');
  const curl = await operation.locator(".curl-command").innerText();
  assert.ok(curl.includes(`'${tools}/next/invoke'`), "a shell calls the tool itself");
  assert.equal(await page.evaluate("document.documentElement.className"), "dark-mode");
  assert.deepEqual([foreign.filter((url) => !url.startsWith("data:")), faults], [[], []]);
});

test("the reference page of a signed server has no calls, and fits a narrow window", OPTIONS, async () => {
  const { page, faults } = await openPage((await serve("--signed")).reference, { width: 360 });
  const operation = page.locator(".opblock-post");
  await operation.locator(".opblock-summary-control").click();
  await operation.locator(".responses-table .renderedMarkdown").first().waitFor();
  assert.equal(await operation.locator(".try-out__btn").count(), 0);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
  assert.equal(await page.evaluate("document.documentElement.className"), "");
  assert.deepEqual(faults, []);
});
