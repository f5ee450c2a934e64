/**
 * Uses the built documentation site in the system's Chromium: search, the switch of the theme, and the menus of a phone.
 * Fails on what does not work, on an error of a script, and on a request to another host. No server: the browser gets
 * the files from here.
 */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const SITE = fileURLToPath(new URL("../docs/.vitepress/dist/", import.meta.url));
/** Chromium treats it as a secure origin, as it does https. */
const ORIGIN = "http://localhost";
const PATIENCE_MS = 30_000;
const EXECUTABLE = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

/** @type {import("playwright-core").Browser} */
let browser;

/** Opens a page of the site, lets `use` work with it, and fails when a script did. */
async function open(path, viewport, use) {
  const context = await browser.newContext({ viewport, colorScheme: "light", reducedMotion: "reduce" });
  const faults = [];
  await context.route("**/*", (route) => {
    const { origin, pathname } = new URL(route.request().url());
    if (origin !== ORIGIN) faults.push(`a request to ${origin}`);
    const file = join(SITE, decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname));
    return origin === ORIGIN && existsSync(file) ? route.fulfill({ path: file }) : route.fulfill({ status: 404 });
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`${page.url()}: ${message.text()}`);
  });
  await page.goto(`${ORIGIN}${path}`);
  // Keys and clicks before this have no effect: Vue sets it on the element when the page is interactive.
  await page.waitForFunction(() => document.querySelector("#app")?.__vue_app__ !== undefined);
  await use(page);
  assert.deepEqual(faults, []);
  await context.close();
}

/** Waits for the heading of a page. */
const heading = (page, name) => page.getByRole("heading", { level: 1, name }).waitFor();

const steps = {
  "search finds commands, settings, codes and diagnostics by name": () =>
    open("/", DESKTOP, async (page) => {
      await page.keyboard.press("/");
      const first = page.getByRole("option").first();
      for (const [name, place] of [
        ["replay_memory_lost", "replay_memory_lost"],
        ["SVC112", "SVC112"],
        ["svc-gen doctor", "Commands"],
        ["SVC_LOG_LEVEL", "Settings"],
      ]) {
        await page.getByRole("searchbox").fill(name);
        await first.filter({ hasText: place }).waitFor();
      }
      await page.keyboard.press("Enter");
      await heading(page, "Settings");
    }),

  "the switch changes the theme, and the next page keeps it": () =>
    open("/", DESKTOP, async (page) => {
      const dark = page.locator("html.dark");
      assert.equal(await dark.count(), 0);
      await page.getByRole("switch").first().click();
      await dark.waitFor();
      await page.getByRole("navigation", { name: "Main Navigation" }).getByRole("link", { name: "Protocol" }).click();
      await heading(page, /protocol/);
      await page.reload();
      await dark.waitFor();
    }),

  "the menus of a phone open and lead to pages": () =>
    open("/", PHONE, async (page) => {
      await page.getByRole("button", { name: "mobile navigation" }).click();
      await page.locator(".VPNavScreen").getByRole("link", { name: "Use", exact: true }).click();
      await heading(page, "Write a tool");
      await page.getByRole("button", { name: "Menu" }).click();
      await page.locator(".VPSidebar.open").getByRole("link", { name: "Troubleshoot" }).click();
      await heading(page, /troubleshoot/i);
    }),
};

/** @returns a line that says what was tried */
export async function useSite() {
  if (EXECUTABLE === undefined) return "NOT TESTED in a browser: chromium is not installed (apt-get install chromium)";
  browser = await chromium.launch({ executablePath: EXECUTABLE, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    for (const [title, step] of Object.entries(steps)) {
      await step().catch((error) => {
        throw new Error(`the site in Chromium: ${title}: ${error.message}`);
      });
    }
  } finally {
    await browser.close();
  }
  return "search, theme and menus work in Chromium";
}
