/** The table of commands. The module of a command is loaded when the command runs or its help is printed. */

import type { CommandBody, CommandEntry } from "./command.js";

function entry(
  name: string,
  words: string,
  summary: string,
  module: () => Promise<{ readonly command: CommandBody }>,
): CommandEntry {
  const facts = { name, summary, ...(words !== "" && { arguments: words }) };
  return { ...facts, load: async () => ({ ...facts, ...(await module()).command }) };
}

/** All commands. The first one is the default. */
export const COMMANDS: readonly CommandEntry[] = [
  entry("generate", "", "write src/generated/ and meta.json", () => import("../commands/generate.js")),
  entry(
    "new",
    "[DIR]",
    "create a tool project: a class, its tests, a container, a CI workflow",
    () => import("../commands/new.js"),
  ),
  entry(
    "import",
    "META.json|URL",
    "write tool classes from the metadata of existing tools, in any language",
    () => import("../commands/import.js"),
  ),
  entry(
    "dev",
    "",
    "generate, compile and serve the tools, and again after every save, until Ctrl-C",
    () => import("../commands/dev.js"),
  ),
  entry(
    "invoke",
    "[TOOL|URL] JSON|@FILE|-",
    "call a tool once, unsigned or signed, and verify the result",
    () => import("../commands/invoke.js"),
  ),
  entry("verify", "FILE|- …", "verify receipts of calls, without a server", () => import("../commands/verify.js")),
  entry("mcp", "", "serve tools to MCP clients, such as editors and agents", () => import("../commands/mcp.js")),
  entry(
    "diff",
    "[OLD NEW]",
    "compare two versions of meta.json, by default git HEAD's with the current one; exit 4 on a breaking change",
    () => import("../commands/diff.js"),
  ),
  entry(
    "explain",
    "[CODE]",
    "explain a diagnostic; without a code, list all diagnostics",
    () => import("../commands/explain.js"),
  ),
  entry(
    "meta",
    "",
    "print the metadata document of one tool with its public URL, for registration",
    () => import("../commands/meta.js"),
  ),
  entry(
    "env",
    "",
    "print the environment variables that the tools declare, for .env, compose or Kubernetes",
    () => import("../commands/env.js"),
  ),
  entry(
    "openapi",
    "",
    "print an OpenAPI 3.1 document of all tools, with signed and unsigned calls and all errors",
    () => import("../commands/openapi.js"),
  ),
  entry(
    "schema",
    "[TOOL]",
    "print the JSON Schema (2020-12) of a tool's input or output",
    () => import("../commands/schema.js"),
  ),
  entry(
    "keys new",
    "[FILE]",
    "write a new private key to FILE (default: signing.key) and print the entries for configurations",
    () => import("../commands/keys/new.js"),
  ),
  entry(
    "keys show",
    "FILE",
    "print the public key of a private key, and who can read the file",
    () => import("../commands/keys/show.js"),
  ),
  entry(
    "config init",
    "[FILE]",
    "write a configuration for the tools of this project, with new or given keys",
    () => import("../commands/config/init.js"),
  ),
  entry(
    "config check",
    "[FILE]",
    "check a configuration as a server would, and print all errors",
    () => import("../commands/config/check.js"),
  ),
  entry(
    "doctor",
    "[URL]",
    "find problems of this project, or of the path to a served tool",
    () => import("../commands/doctor.js"),
  ),
];
