/** Chromium for the tests of pages: the system's, with playwright-core, which brings none. */

import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { atEnd } from "../../teardown.js";

const EXECUTABLES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where Chromium is; undefined without one. */
export const CHROMIUM = EXECUTABLES.find((path) => existsSync(path));

/** For `skip` of a test: said loudly, since the subject is then untested. */
export const withoutChromium = (subject: string): string | false =>
  CHROMIUM === undefined ? `NOT TESTED: ${subject}, since chromium is not installed (apt-get install chromium)` : false;

export const WITHOUT_CHROMIUM = withoutChromium("the development page");

let browser: Promise<Browser> | undefined;

/** Milliseconds that an action in the page may take before its test fails. */
const PATIENCE_MS = 30_000;

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
}

/** Opens an address in a fresh context. Every request that goes elsewhere, and every error of a script, is kept. */
export async function openPage(
  url: string,
  { width = 1280, height = 900, colorScheme = "light" }: Look = {},
): Promise<OpenPage> {
  browser ??= chromium.launch({ executablePath: CHROMIUM as string, args: ["--no-sandbox", "--disable-gpu"] });
  const started = await browser;
  atEnd(() => started.close());
  const context = await started.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const foreign: string[] = [];
  const faults: string[] = [];
  const { origin } = new URL(url);
  page.on("request", (request) => {
    if (!request.url().startsWith(origin)) foreign.push(request.url());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  page.on("dialog", (dialog) => {
    faults.push(`a dialog was opened: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return { page, foreign, faults };
}

/** Acts, and waits until the page shows the answer of the call that this makes: its status and verdict. */
export async function answerTo(page: Page, act: () => Promise<void>): Promise<string> {
  const answered = page.waitForResponse((response) => response.url().endsWith("/api/call"));
  await act();
  const { id } = (await (await answered).json()) as { readonly id: string };
  return page.locator(`[data-id="${id}"]`).innerText();
}

/** Chooses a check of the protocol. */
export async function chooseCheck(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Checks" }).click();
  await page.getByRole("region", { name: "Protocol checks" }).getByRole("button", { name }).click();
}

export interface OpenPage {
  readonly page: Page;
  readonly foreign: readonly string[];
  readonly faults: readonly string[];
}
