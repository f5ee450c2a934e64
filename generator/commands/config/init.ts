/** `svc-gen config init`: creates a configuration for the tools of the project. */

import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  asJson,
  type CommandContext,
  CommandError,
  defineCommand,
  EXIT,
  JSON_OPTION,
  type Options,
  PROJECT_OPTIONS,
} from "../../cli/command.js";
import { hasErrors } from "../../compile/diagnostics/diagnostics.js";
import { quoted, shellWord } from "../../compile/diagnostics/quote.js";
import { signedConfig } from "../../config/new-config.js";
import { type NewFile, writeNewFiles } from "../../files/new-files.js";
import { readKeyFile } from "../../keys/key-file.js";
import { keyTexts, newKey } from "../../keys/key-forms.js";
import { fqnOf, metaDocuments, metaJsonIn } from "../../tools/meta-documents.js";
import { generateNow, reportDiagnostics } from "../generate.js";
import { leaderIdOf, publicKeyIn } from "../keys/key-options.js";
import { generateOptions } from "../options/project-options.js";
import { projectFqns } from "../options/project-tools.js";
import { shownPath } from "../options/shown-path.js";

const OPTIONS = {
  "leader-id": { type: "string", value: "ID", summary: 'ID of the leader (default: "leader")' },
  "leader-public-key": { type: "string", value: "HEX", summary: "public key of the leader, instead of a new pair" },
  "tool-private-key": { type: "string", value: "FILE", summary: "private key of the tools, instead of new ones" },
  unsigned: {
    type: "boolean",
    summary: "disable signatures: any program that can reach the server may call the tools",
    excludes: ["leader-id", "leader-public-key", "tool-private-key"],
  },
  project: PROJECT_OPTIONS.project,
  json: JSON_OPTION,
} as const;

export const command = defineCommand({
  details: `FILE defaults to config.json. It contains, for every tool, the private key that signs its results, and an allow-list of one
leader; only you can read it (mode 0600). New keys of the leader are written to keys/leader.key (private) and
keys/leader.pub, in the folder of FILE. No file is overwritten, and no private key is printed.`,
  options: OPTIONS,
  examples: [
    ["svc-gen config init", "config.json with new keys, and new keys of a leader"],
    ["svc-gen config init --leader-id acme --leader-public-key HEX", "for a leader whose public key you have"],
    ["svc-gen config init --unsigned dev.json", "for development"],
  ],
  run: async (call) => {
    const { args, cwd, values } = call;
    const target = resolve(cwd, args[0] ?? "config.json");
    const leaderId = leaderIdOf("leader-id", values["leader-id"]);
    const made = values.unsigned ? unsigned(target) : signed(target, leaderId, await toolsOf(call), call);
    const shown = (path: string) => shownPath(cwd, path);
    // A broken link is an existing file too.
    const existing = made.files.find((file) => lstatSync(file.target, { throwIfNoEntry: false }) !== undefined);
    if (existing !== undefined) {
      const hint = "choose another file name, or move the existing file";
      throw new CommandError(`${quoted(shown(existing.target))} already exists; nothing was written`, hint);
    }
    writeNewFiles(cwd, made.files);
    const wrote = made.files.map((file) => shown(file.target));
    const publicKeys = [...made.publicKeys].map(([tool, public_key]) => ({ tool, public_key }));
    if (call.json) call.print(asJson({ wrote, public_keys: publicKeys }));
    else {
      for (const [at, { isPrivate }] of made.files.entries()) {
        call.print(`wrote ${wrote[at]}${isPrivate ? " (holds a private key: keep it out of git)" : ""}\n`);
      }
      for (const { tool, public_key } of publicKeys)
        call.print(`${tool} signs its results; the public key is ${public_key}\n`);
      if (publicKeys.length > 1 && values["tool-private-key"] === undefined)
        call.print("each tool has a key of its own; --tool-private-key FILE uses one key for all tools\n");
      call.print(`next: SVC_TOOLKIT_CONFIG_PATH=${wrote[0]} node dist/generated/server.js\n`);
      const [, key] = wrote;
      const [tool] = publicKeys;
      if (key !== undefined && tool !== undefined) {
        const id = values["leader-id"] === undefined ? "" : ` --leader-id ${shellWord(leaderId)}`;
        const keys = `--leader-key ${shellWord(key)}${id} --tool-key ${tool.public_key}`;
        call.print(`then call ${tool.tool}: npx svc-gen invoke URL '{…}' --signed ${keys}\n`);
      }
    }
    return EXIT.done;
  },
});

interface NewConfig {
  readonly files: readonly NewFile[];
  readonly publicKeys: ReadonlyMap<string, string>;
}

function unsigned(target: string): NewConfig {
  const content = asJson({ signed_http: { mode: "disabled" } });
  return { files: [{ target, content, isPrivate: false }], publicKeys: new Map() };
}

/** Creates a new pair for the leader, unless its public key is given. */
function signed(
  target: string,
  id: string,
  tools: readonly string[],
  { cwd, values }: Pick<CommandContext<typeof OPTIONS>, "cwd" | "values">,
): NewConfig {
  const { "leader-public-key": given, "tool-private-key": toolKey } = values;
  const pair = newKey();
  const publicKey = given === undefined ? pair.publicKey : publicKeyIn("leader-public-key", given, cwd);
  const { file, publicKeys } = signedConfig(target, {
    tools,
    leaders: [{ id, kid: 0n, publicKey }],
    toolKey: toolKey === undefined ? undefined : keyTexts(readKeyFile(cwd, toolKey).key),
  });
  const keyFile = (name: string) => join(dirname(target), "keys", name);
  const keys = [
    { target: keyFile("leader.key"), content: `${pair.text}\n`, isPrivate: true },
    { target: keyFile("leader.pub"), content: `${publicKey}\n`, isPrivate: false },
  ];
  return { files: [file, ...(given === undefined ? keys : [])], publicKeys };
}

/** Names of the project's tools, from `meta.json`, otherwise from the sources. */
async function toolsOf(
  call: CommandContext<Options> & Parameters<typeof generateOptions>[0],
): Promise<readonly string[]> {
  const options = generateOptions(call);
  const known = projectFqns(options.root);
  if (known !== undefined && known.length > 0) return known;
  const { diagnostics, files } = await generateNow(options);
  if (hasErrors(diagnostics)) {
    reportDiagnostics(diagnostics, { ...call, quiet: true });
    throw new CommandError("the project has errors; nothing was written", "run svc-gen to see them, and correct them");
  }
  return metaDocuments(metaJsonIn(files)).map(fqnOf);
}
