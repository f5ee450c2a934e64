/**
 * The pictures of docs/page.md. They are made anew with `SVC_WRITE_DOCS=1 npm run test:run -- page/screenshots`; a usual
 * run makes them too, and checks that they show what they are of.
 */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startDev } from "../../generator/cli-process.js";
import { ToolProject } from "../../generator/project.js";
import { REPOSITORY } from "../../repository.js";
import { answerTo, chooseCheck, type Look, openPage, WITHOUT_CHROMIUM } from "./browser.js";

const FOLDER = join(REPOSITORY, "docs/page");
const LOOKS: readonly (Look & { readonly name: string; readonly at: string })[] = [
  { name: "wide-light.png", at: "header", width: 1280, height: 800, colorScheme: "light" },
  { name: "wide-dark.png", at: "header", width: 1200, height: 720, colorScheme: "dark" },
  { name: "narrow-light.png", at: "#request-title", width: 400, height: 780, colorScheme: "light" },
  { name: "narrow-dark.png", at: "#answer", width: 400, height: 780, colorScheme: "dark" },
];
/** Bytes of a picture: documents stay small. */
const MAX_BYTES = 200_000;

test("screenshots of the page", { skip: WITHOUT_CHROMIUM, timeout: 240_000 }, async () => {
  const project = new ToolProject({ "src/sum.ts": readFileSync(join(REPOSITORY, "examples/sum/src/sum.ts"), "utf8") });
  const { dev, page: url } = await startDev(project.root, "--signed");
  for (const { name, at, ...look } of LOOKS) {
    const { page, faults } = await openPage(url, look);
    await page.getByLabel("a", { exact: true }).fill("9007199254740992");
    await page.getByLabel("label", { exact: true }).fill("2^53 + 1");
    await answerTo(page, () => page.getByRole("button", { name: "Call signed" }).click());
    await answerTo(page, () => chooseCheck(page, "Exact retry"));
    await page.getByText("from the replay memory").waitFor();
    if (name === "wide-dark.png") {
      await page.getByRole("tab", { name: "JSON" }).click();
      await answerTo(page, () => chooseCheck(page, "Tampered body"));
      await page.getByRole("button", { name: "Checks" }).click();
    }
    await page.evaluate(`document.querySelector("${at}").scrollIntoView()`);
    const picture = await page.screenshot({ type: "png" });
    assert.ok(picture.length > 10_000 && picture.length < MAX_BYTES, `${name}: ${picture.length} bytes`);
    assert.deepEqual(faults, []);
    if (process.env.SVC_WRITE_DOCS === "1") {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(join(FOLDER, name), picture);
    }
    await page.context().close();
  }
  await dev.interrupt();
  assert.deepEqual(
    readdirSync(FOLDER).sort(),
    LOOKS.map(({ name }) => name).sort(),
    "docs/page has these pictures: SVC_WRITE_DOCS=1 npm run test:run -- page/screenshots",
  );
});
