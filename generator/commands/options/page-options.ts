/** Options for the address of the development page. */

export const PAGE_OPTIONS = {
  host: { type: "string", value: "HOST", summary: "address on which the page listens (default: 127.0.0.1)" },
  "page-port": {
    type: "string",
    value: "PORT",
    summary: "port of the page (default: the same port for each project, or a free one)",
  },
} as const;
