/** The documentation as a site: the repository's own pages, the API reference, and a search that asks no server. */

import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig } from "vitepress";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const REFERENCE = "docs/reference/api";

const page = (text: string, path: string): DefaultTheme.SidebarItem => ({ text, link: `/${path}` });

/** The modules of the API reference, by the names under which they are imported. */
function modules(): DefaultTheme.SidebarItem[] {
  const folder = join(ROOT, REFERENCE, "runtime");
  if (!existsSync(folder)) return [];
  const parts = ["", "leader", "testing", "redis", "fastify", "storage", "storage/dev-store", "config", "inspect"];
  return [
    ...parts
      .filter((part) => existsSync(join(folder, part, "README.md")))
      .map((part) => {
        const door = part === "storage/dev-store" ? "storage/dev" : part;
        return page(`svc-runtime${door && `/${door}`}`, `${REFERENCE}/runtime/${part && `${part}/`}README`);
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
        for (const token of tokens) if (token.type === "code_block") [token.type, token.info] = ["fence", "sh"];
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
  buildEnd({ outDir, site }) {
    const sections = (site.themeConfig as DefaultTheme.Config).sidebar as DefaultTheme.SidebarItem[];
    const pages = sections.map(({ text, items = [] }) => ({
      text,
      items: items.map(({ text, link }) => ({ text, file: `${link?.slice(1) || "README"}.md` })),
    }));
    for (const file of [...linked, ...pages.flatMap(({ items }) => items.map(({ file }) => file))]) {
      mkdirSync(dirname(join(outDir, file)), { recursive: true });
      copyFileSync(join(ROOT, file), join(outDir, file));
    }
    const lists = pages.map(
      ({ text, items }) => `## ${text}\n\n${items.map(({ text, file }) => `- [${text}](${file})\n`).join("")}`,
    );
    writeFileSync(join(outDir, "llms.txt"), `# ${site.title}\n\n> ${site.description}\n\n${lists.join("\n")}`);
  },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    nav: [
      { text: "Guide", link: "/docs/guide/write-a-tool" },
      { text: "Protocol", link: "/docs/protocol" },
      { text: "Changes", link: "/CHANGELOG" },
    ],
    sidebar: [
      {
        text: "Guide",
        items: [
          page("Five minutes", ""),
          page("Write a tool", "docs/guide/write-a-tool"),
          page("Errors", "docs/guide/errors"),
          page("Examples", "docs/examples"),
          page("Generate, build, serve", "docs/guide/build-and-serve"),
          page("Call an HTTP service", "docs/http"),
          page("Test", "docs/testing"),
          page("Require signatures", "docs/guide/signatures"),
          page("From a class to a registered tool", "docs/guide/registered-tool"),
          page("Call", "docs/client"),
          page("Use from an MCP client", "docs/mcp"),
          page("The page of svc-gen dev", "docs/page"),
          page("OpenAPI", "docs/openapi"),
          page("Results that do not fit", "docs/storage"),
          page("Your own application", "docs/guide/application"),
          page("Change a contract", "docs/compatibility"),
          page("Import a tool", "docs/import"),
          page("Move from the Rust toolkit", "docs/from-rust"),
          page("Commands", "docs/guide/commands"),
          page("Settings", "docs/guide/settings"),
          page("Limits", "docs/guide/limits"),
        ],
      },
      {
        text: "Operators",
        items: [
          page("Deploy", "docs/deploy/README"),
          page("Behind a gateway", "docs/gateway"),
          page("Control who can call", "docs/access"),
          page("Keys and configuration", "docs/keys"),
          page("Several replicas", "docs/replicas"),
          page("Observe", "docs/observe"),
          page("Limits and overload", "docs/load"),
          page("Deadlines and threads", "docs/deadlines"),
          page("Shut down", "docs/shutdown"),
          page("Runbooks", "docs/runbooks"),
          page("Troubleshooting", "docs/troubleshooting"),
          page("Mistakes", "docs/mistakes"),
          page("Benchmarks", "docs/benchmarks"),
          page("Versions of Node", "docs/node-versions"),
          page("Types of packages", "docs/package-types"),
        ],
      },
      {
        text: "Reference",
        items: [
          page("Protocol", "docs/protocol"),
          page("Diagnostics", "docs/diagnostics"),
          page("Shared replay state", "docs/replay-store"),
          page("Packages", "docs/packages"),
          page("What is public", "VERSIONING"),
          page("Security", "SECURITY"),
          page("Architecture", "ARCHITECTURE"),
          page("Contributing", "CONTRIBUTING"),
          page("Changes", "CHANGELOG"),
        ],
      },
      { text: "API", collapsed: true, items: modules() },
    ],
  },
});
