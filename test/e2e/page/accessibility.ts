/** Findings of axe-core, at the widths that are tested. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { openPage } from "./browser.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Findings of axe-core that are serious or worse, in light and dark. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found: string[] = [];
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate<AxeResults>("axe.run()");
    for (const { id, impact, nodes } of violations) {
      if (impact !== "serious" && impact !== "critical") continue;
      found.push(`${colorScheme}: ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
    }
  }
  return found;
}

/** Shows what is folded. */
export async function unfold(page: Page): Promise<void> {
  await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** Widths of the layouts of the page, from one column to three. */
const WIDTHS = [400, 900, 1600];

/** Expects no finding, fault and foreign request at any width, after an act in a page of its own. */
export async function expectAccessible(url: string, act: (page: Page) => Promise<void>): Promise<void> {
  for (const width of WIDTHS) {
    const { page, faults, foreign } = await openPage(url, { width });
    await act(page);
    assert.deepEqual([await findings(page), faults, foreign], [[], [], []], `${width} px`);
    await page.context().close();
  }
}
