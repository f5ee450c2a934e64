/** The pages of the site in reading order: the sidebar, the "next" links and llms.txt. */

import type { DefaultTheme } from "vitepress";

export const page = (text: string, path: string): DefaultTheme.SidebarItem => ({ text, link: `/${path}` });

export const sidebar: DefaultTheme.SidebarItem[] = [
  {
    text: "Start",
    items: [page("Overview", ""), page("Get started", "docs/get-started")],
  },
  {
    text: "Guides",
    items: [
      {
        text: "Write a tool",
        items: [
          page("Write a tool class", "docs/guide/write-a-tool"),
          page("Return errors", "docs/guide/errors"),
          page("Test a tool", "docs/testing"),
          page("Build, serve and debug", "docs/guide/build-and-serve"),
          page("Use the development page", "docs/page"),
          page("Call an HTTP service", "docs/http"),
          page("Store large results", "docs/storage"),
          page("Examples", "docs/examples"),
          page("Common mistakes", "docs/mistakes"),
        ],
      },
      {
        text: "Call a tool",
        items: [
          page("Sign calls", "docs/guide/signatures"),
          page("Call a tool from a client", "docs/client"),
          page("Prove a call with a receipt", "docs/receipts"),
          page("Use tools from an MCP client", "docs/mcp"),
          page("Generate an OpenAPI client", "docs/openapi"),
          page("Mount tools in fastify", "docs/guide/application"),
        ],
      },
      {
        text: "Publish and migrate",
        items: [
          page("Register with the network", "docs/guide/registered-tool"),
          page("Change a contract", "docs/compatibility"),
          page("Import a contract", "docs/import"),
          page("Move from the Rust toolkit", "docs/from-rust"),
        ],
      },
      {
        text: "Operate",
        items: [
          page("Deploy", "docs/deploy/README"),
          page("Put a gateway in front", "docs/gateway"),
          page("Control who can call", "docs/access"),
          page("Manage keys and configuration", "docs/keys"),
          page("Run several replicas", "docs/replicas"),
          page("Operate Redis", "docs/redis"),
          page("Observe", "docs/observe"),
          page("Plan for load", "docs/load"),
          page("Deadlines and threads", "docs/deadlines"),
          page("Shut down", "docs/shutdown"),
          page("Upgrade", "docs/upgrade"),
          page("Troubleshooting", "docs/troubleshooting"),
        ],
      },
    ],
  },
  {
    text: "Reference",
    items: [
      page("Commands", "docs/guide/commands"),
      page("Settings", "docs/guide/settings"),
      page("Limits", "docs/guide/limits"),
      page("Error codes", "docs/error-codes"),
      page("Metrics", "docs/metrics"),
      page("Diagnostics", "docs/diagnostics"),
      page("Protocol", "docs/protocol"),
      page("Packages", "docs/packages"),
      page("Types of packages", "docs/package-types"),
      page("Node versions", "docs/node-versions"),
      page("Public interface", "VERSIONING"),
      page("Security", "SECURITY"),
      page("Changes", "CHANGELOG"),
    ],
  },
  {
    text: "Why it is so",
    items: [
      page("Architecture", "ARCHITECTURE"),
      page("Replay store", "docs/replay-store"),
      page("Benchmarks", "docs/benchmarks"),
      page("Contributing", "CONTRIBUTING"),
    ],
  },
];
