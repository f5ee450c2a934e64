/** The documentation as a site: the repository's own pages, the API reference, and a search that asks no server. */

import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig } from "vitepress";
import { page, sidebar } from "./sidebar.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const REFERENCE = "docs/reference/api";

/** The linked pages of a part of the sidebar. */
const leaves = (items: DefaultTheme.SidebarItem[]): DefaultTheme.SidebarItem[] =>
  items.flatMap((item) => (item.items === undefined ? [item] : leaves(item.items)));

/** The modules of the API reference, by the names under which they are imported. */
function modules(): DefaultTheme.SidebarItem[] {
  const folder = join(ROOT, REFERENCE, "runtime");
  if (!existsSync(folder)) return [];
  const parts = ["", "v1", "leader", "testing", "redis", "fastify", "storage", "storage/dev"];
  return [
    ...parts
      .filter((part) => existsSync(join(folder, part, "README.md")))
      .map((part) => {
        const separator = /^(?:redis|storage)/.test(part) ? "-" : part && "/";
        return page(`svc-runtime${separator}${part}`, `${REFERENCE}/runtime/${part && `${part}/`}README`);
      }),
    page("svc-gen/generate", `${REFERENCE}/generator/api/README`),
  ];
}

/** Files of the repository, other than pages, that pages link to. */
const linked = new Set<string>();

export default defineConfig({
  title: "svc-gen",
  description: "Tool servers in TypeScript",
  srcDir: ROOT,
  srcExclude: ["**/node_modules/**", "dist/**", "generator/**", "runtime/**", "templates/**", "test/**"],
  outDir: ".vitepress/dist",
  cacheDir: ".vitepress/cache",
  rewrites: { "README.md": "index.md" },
  lastUpdated: false,
  // Pages lie outside of the folder in which vue is installed.
  vite: {
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: join(ROOT, "docs/node_modules/vue/server-renderer/index.mjs") },
        { find: /^vue$/, replacement: join(ROOT, "docs/node_modules/vue/dist/vue.runtime.esm-bundler.js") },
      ],
    },
  },
  markdown: {
    anchor: {
      // As a git host makes them, so that one link works in both places.
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
          .replaceAll(" ", "-"),
    },
    // What stands between angle brackets is text: `Promise<T>` of the API reference. Marks of the benches are left out.
    html: false,
    config(markdown) {
      markdown.core.ruler.before("normalize", "comments", (state) => {
        state.src = state.src.replace(/^<!-- .* -->\n/gm, "");
      });
      markdown.core.ruler.push("commands", ({ tokens }) => {
        for (const token of tokens) {
          if (token.type !== "code_block") continue;
          [token.type, token.info] = ["fence", /[;{]$/m.test(token.content) ? "ts" : "sh"];
        }
      });
      markdown.core.ruler.push("files", ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === "link_open" ? (token.attrGet("href") ?? "") : "";
          const page = env.relativePath === "index.md" ? "README.md" : env.relativePath;
          const target = posix.join(posix.dirname(page), href.replace(/[#?].*$/, ""));
          if (/^\w+:|^#|^$/.test(href) || /\.md$/.test(target)) continue;
          linked.add(target);
          // Left as it stands.
          token.attrSet("target", "_self");
        }
      });
    },
  },
  // The README has no front matter, which a git host would show.
  transformPageData: ({ relativePath }) =>
    relativePath === "index.md" ? { frontmatter: { aside: false, pageClass: "overview" } } : undefined,
  buildEnd({ outDir, site }) {
    const sections = (site.themeConfig as DefaultTheme.Config).sidebar as DefaultTheme.SidebarItem[];
    const pages = sections.map(({ text, items = [] }) => ({
      text,
      items: leaves(items).map(({ text, link }) => ({ text, file: `${link?.slice(1) || "README"}.md` })),
    }));
    for (const file of [...linked, ...pages.flatMap(({ items }) => items.map(({ file }) => file))]) {
      mkdirSync(dirname(join(outDir, file)), { recursive: true });
      cpSync(join(ROOT, file), join(outDir, file), { recursive: true });
    }
    const lists = pages.map(
      ({ text, items }) => `## ${text}\n\n${items.map(({ text, file }) => `- [${text}](${file})\n`).join("")}`,
    );
    writeFileSync(join(outDir, "llms.txt"), `# ${site.title}\n\n> ${site.description}\n\n${lists.join("\n")}`);
  },
  themeConfig: {
    search: {
      provider: "local",
      options: {
        miniSearch: {
          options: {
            // An identifier such as SVC_LOG_LEVEL is found as a whole and by its parts.
            tokenize: (text) =>
              (text.match(/[\p{L}\p{N}]+(?:[_-][\p{L}\p{N}]+)*/gu) ?? []).flatMap((word) =>
                /[_-]/.test(word) ? [word, ...word.split(/[_-]/)] : word,
              ),
          },
          searchOptions: {
            combineWith: "AND",
            fuzzy: (term) => (/[\d_]/.test(term) ? false : 0.2),
            // Codes of diagnostics have digits; for words such as "optional" the guides come first.
            boostDocument: (id, term) => {
              if (/^\/docs\/diagnostics\b/.test(id)) return /\d/.test(term) ? 3 : 0.5;
              if (/^\/docs\/(?:commands|settings)\b/.test(id)) return 3;
              return /^\/(?:docs\/reference\/|CHANGELOG|ARCHITECTURE|DECISIONS)/.test(id) ? 0.2 : 1;
            },
          },
        },
      },
    },
    outline: { level: [2, 3] },
    nav: [
      { text: "Get started", link: "/docs/get-started" },
      { text: "Use", link: "/docs/write-a-tool" },
      { text: "Look up", link: "/docs/commands" },
      { text: "Protocol", link: "/docs/protocol" },
    ],
    sidebar: [...sidebar, { text: "API", collapsed: true, items: modules() }],
  },
});
