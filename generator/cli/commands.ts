/** The table of commands. The module of a command is loaded when the command runs or its help is printed. */

import type { CommandBody, CommandEntry } from "./command.js";

/** Name, arguments and summary of each command. The first one is the default. `keys new` is in `commands/keys/new.ts`. */
const ROWS: readonly (readonly [name: string, words: string, summary: string])[] = [
  ["generate", "", "write src/generated/ and meta.json"],
  ["new", "[DIR]", "create a tool project: a class, its tests, a container, a CI workflow"],
  ["import", "META.json|URL", "write tool classes from the metadata of existing tools, in any language"],
  ["dev", "", "generate, compile and serve the tools, and again after every save, until Ctrl-C"],
  ["invoke", "[TOOL|URL] JSON|@FILE|-", "call a tool once, unsigned or signed, and verify the result"],
  ["verify", "FILE|- …", "verify receipts of calls, without a server"],
  ["mcp", "", "serve tools to MCP clients, such as editors and agents"],
  [
    "diff",
    "[OLD NEW]",
    "compare two versions of meta.json, by default git HEAD's with the current one; exit 4 on a breaking change",
  ],
  ["explain", "[CODE]", "explain a diagnostic; without a code, list all diagnostics"],
  ["meta", "", "print the metadata document of one tool with its public URL, for registration"],
  ["env", "", "print the environment variables that the tools declare, for .env, compose or Kubernetes"],
  ["openapi", "", "print an OpenAPI 3.1 document of all tools, with signed and unsigned calls and all errors"],
  ["schema", "[TOOL]", "print the JSON Schema (2020-12) of a tool's input or output"],
  [
    "keys new",
    "[FILE]",
    "write a new private key to FILE (default: signing.key) and print the entries for configurations",
  ],
  ["keys show", "FILE", "print the public key of a private key, and who can read the file"],
  ["config init", "[FILE]", "write a configuration for the tools of this project, with new or given keys"],
  ["config check", "[FILE]", "check a configuration as a server would, and print all errors"],
  ["doctor", "[URL]", "find problems of this project, or of the path to a served tool"],
];

export const COMMANDS: readonly CommandEntry[] = ROWS.map(([name, words, summary]) => {
  const facts = { name, summary, ...(words !== "" && { arguments: words }) };
  const load = async () => {
    const module: { readonly command: CommandBody } = await import(`../commands/${name.replace(" ", "/")}.js`);
    return { ...facts, ...module.command };
  };
  return { ...facts, load };
});
