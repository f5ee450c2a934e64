/** The guide: the README and the pages whose snippets run in one project, in reading order. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const PAGES = [
  "README.md",
  "docs/get-started.md",
  "docs/write-a-tool.md",
  "docs/page.md",
  "docs/commands.md",
  "docs/keys.md",
  "docs/publish.md",
  "docs/deploy/README.md",
  "docs/settings.md",
] as const;

/** The pages, by their paths. */
export const GUIDE: ReadonlyMap<string, string> = new Map(
  PAGES.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]),
);

/** A fenced block, and what its fence says. */
export interface Snippet {
  readonly info: string;
  readonly text: string;
}

const snippetsOf = (page: string): readonly Snippet[] =>
  [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = "", text = ""]) => ({ info, text }));

/** The files of a page, by their paths: fences with `file=`. */
export const filesOf = (page: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    snippetsOf(page).flatMap(({ info, text }) => {
      const file = / file=(.*)$/.exec(info)?.[1];
      return file === undefined ? [] : [[file, text]];
    }),
  );

/** The only snippet of a page whose fence says this. */
export const snippetOf = (page: string, wanted: string): string =>
  snippetsOf(page).find(({ info }) => info === wanted)?.text ?? assert.fail(`no snippet ${wanted}`);

/** All snippets of the guide. */
export const SNIPPETS: readonly Snippet[] = [...GUIDE.values()].flatMap(snippetsOf);

/** The files of the guide's project. */
export const GUIDE_FILES = filesOf([...GUIDE.values()].join("\n"));
