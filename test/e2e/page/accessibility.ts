/** Findings of axe-core, in the looks that are tested. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Findings of axe-core that are serious or worse. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
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

/** The layouts of the page, from one column to three; light and dark. */
export const LOOKS = [
  { colorScheme: "light", width: 1600 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 900 },
  { colorScheme: "dark", width: 400 },
] as const;
