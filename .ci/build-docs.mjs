/**
 * Builds the documentation site into docs/.vitepress/dist: the API reference by typedoc, all pages by VitePress.
 *
 * Fails on a warning of typedoc, on a link to a page, a heading or a file that does not exist, on a request to another
 * host, and on scripts of the site that do not work in Chromium (site-in-browser.mjs). The generators have a lock file of their own, docs/package-lock.json: no other command needs them.
 */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { useSite } from "./site-in-browser.mjs";

const DOCS = fileURLToPath(new URL("../docs/", import.meta.url));
const SITE = join(DOCS, ".vitepress/dist");

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: DOCS,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  console.error(`${stdout}${stderr}`);
  process.exit(1);
}

const started = performance.now();
const lock = readFileSync(join(DOCS, "package-lock.json"), "utf8");
const installed = join(DOCS, "node_modules/.package-lock.json");
const isInstalled =
  existsSync(installed) &&
  Object.entries(JSON.parse(readFileSync(installed, "utf8")).packages).every(
    ([path, { version }]) => JSON.parse(lock).packages[path]?.version === version,
  );
if (!isInstalled) run("npm", "ci", "--no-audit", "--no-fund");
for (const folder of ["reference", ".vitepress/dist"]) rmSync(join(DOCS, folder), { recursive: true, force: true });
run(process.execPath, "node_modules/typedoc/bin/typedoc");
run(process.execPath, "node_modules/vitepress/bin/vitepress.js", "build", ".");

const pages = new Map(
  readdirSync(SITE, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".html"))
    .map((path) => [path.split(sep).join("/"), readFileSync(join(SITE, path), "utf8")]),
);
const anchors = new Map(
  [...pages].map(([path, html]) => [path, new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))]),
);
const faults = [];
for (const [path, html] of pages) {
  for (const [, url] of html.matchAll(/<(?:script|img|link|iframe)\b[^>]* (?:src|href)="(https?:[^"]*)"/g)) {
    faults.push(`${path}: a request to another host: ${url}`);
  }
  const [, main = ""] = /<main\b(.*)<\/main>/s.exec(html) ?? [];
  for (const [, href] of main.matchAll(/<a\b[^>]* href="([^"]*)"/g)) {
    if (/^[a-z]+:/.test(href)) continue;
    const [to = "", anchor] = decodeURI(href).split("#");
    const target = to === "" ? path : to.startsWith("/") ? to.slice(1) : posix.join(posix.dirname(path), to);
    const file = target === "" || target.endsWith("/") ? `${target}index.html` : target;
    if (!existsSync(join(SITE, file))) faults.push(`${path}: no such file: ${href}`);
    else if (anchor && anchors.has(file) && !anchors.get(file).has(anchor))
      faults.push(`${path}: no such heading: ${href}`);
  }
}
// The pages as Markdown, in one list for language models (llmstxt.org).
const listed = [...readFileSync(join(SITE, "llms.txt"), "utf8").matchAll(/^- \[.+\]\((.+)\)$/gm)].map(
  ([, file]) => file,
);
for (const file of listed) if (!existsSync(join(SITE, file))) faults.push(`llms.txt: no such file: ${file}`);
if (!["README.md", "docs/protocol.md"].every((file) => listed.includes(file)))
  faults.push("llms.txt: a page is missing");
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`docs: ${await useSite()}`);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`docs: ${pages.size} pages in ${relative(dirname(DOCS), SITE)}, ${seconds} s`);
