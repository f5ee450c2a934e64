/** The pages of the site in reading order: the sidebar, the "next" links and llms.txt. */

import type { DefaultTheme } from "vitepress";

export const page = (text: string, path: string): DefaultTheme.SidebarItem => ({ text, link: `/${path}` });

export const sidebar: DefaultTheme.SidebarItem[] = [
  {
    text: "Use",
    items: [
      page("Overview", ""),
      page("Get started", "docs/get-started"),
      {
        text: "Write",
        items: [
          page("Write a tool", "docs/write-a-tool"),
          page("Test a tool", "docs/testing"),
          page("Build and try a tool", "docs/page"),
          page("Call HTTP services with secrets", "docs/http"),
          page("Store large results", "docs/storage"),
          page("Examples", "examples/README"),
        ],
      },
      {
        text: "Call",
        items: [
          page("Call a tool from code", "docs/client"),
          page("Keep receipts", "docs/receipts"),
          page("Use MCP clients", "docs/mcp"),
          page("Generate OpenAPI clients", "docs/openapi"),
        ],
      },
      {
        text: "Publish",
        items: [
          page("Publish and change a tool", "docs/publish"),
          page("Move from the Rust toolkit", "docs/from-rust"),
        ],
      },
      {
        text: "Operate",
        items: [
          page("Deploy", "docs/deploy/README"),
          page("Keys and access", "docs/keys"),
          page("Put a gateway in front", "docs/gateway"),
          page("Run several replicas", "docs/replicas"),
          page("Observe and plan for load", "docs/observe"),
          page("Troubleshoot", "docs/troubleshooting"),
        ],
      },
    ],
  },
  {
    text: "Look up",
    items: [
      page("Commands", "docs/commands"),
      page("Settings and limits", "docs/settings"),
      page("Error codes", "docs/error-codes"),
      page("Diagnostics", "docs/diagnostics"),
      page("All pages, glossary", "docs/README"),
    ],
  },
  {
    text: "Inside",
    items: [
      page("Protocol", "docs/protocol"),
      page("Architecture", "ARCHITECTURE"),
      page("Decisions", "DECISIONS"),
      page("Replay store", "docs/replay-store"),
      page("Benchmarks", "docs/benchmarks"),
      page("Packages and versions", "VERSIONING"),
      page("Security", "SECURITY"),
      page("Changes", "CHANGELOG"),
      page("Contributing", "CONTRIBUTING"),
    ],
  },
];
