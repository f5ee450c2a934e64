/** `svc-gen diff`: tells whether callers of the old contract can call the new one. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  asJson,
  type CommandContext,
  CommandError,
  defineCommand,
  EXIT,
  JSON_OPTION,
  PROJECT_OPTIONS,
  UsageError,
} from "../cli/command.js";
import { hasErrors } from "../compile/diagnostics/diagnostics.js";
import { quoted } from "../compile/diagnostics/quote.js";
import { freshBuildInfo } from "../compile/project/build-info.js";
import type { GenerateOptions } from "../compile/project/layout.js";
import { committedContract } from "../contract/committed-contract.js";
import {
  type Difference,
  diffDocuments,
  formatDifferences,
  isBroken,
  listDifferences,
  type NamedText,
} from "../contract/diff.js";
import { UnreadableMetadata } from "../contract/metadata.js";
import { buildOptions, readMetaJson, staleFiles } from "../files/output-files.js";
import { readNamed, UNREADABLE } from "../files/read-file.js";
import { generateNow } from "./generate.js";
import { generateOptions } from "./options/project-options.js";

const OPTIONS = { ...PROJECT_OPTIONS, json: JSON_OPTION } as const;

export const command = defineCommand({
  details: `A change is compatible if the new tool accepts all inputs that callers of the old contract may send, and returns only results
that they expect. Kinds: compatible; additive (a new tool); breaking (calls of existing callers fail: raise the version of the
tool); not decided (svc-gen found neither a proof nor a counterexample: treated as breaking). Any change is allowed in a new
version of a tool.

With --json: [{"tool","before","after","kind","port","pointer","old","new","change"}], one entry per change; "old" and "new" are
the schemas at the pointer, as JSON text. Members without a value are omitted.`,
  options: OPTIONS,
  examples: [
    ["svc-gen diff", "git HEAD's meta.json with the current one"],
    ["svc-gen diff old/meta.json meta.json", "two files"],
  ],
  run: async (call) => {
    const [old, next] = call.args.length === 0 ? await committedAndCurrent(call) : givenDocuments(call.args, call.cwd);
    const differences = diffContracts(old, next);
    call.print(call.json ? asJson(listDifferences(differences)) : formatDifferences(differences));
    if (!isBroken(differences)) return EXIT.done;
    const isCertain = differences.some(({ verdict }) => verdict === "breaking");
    const fault = isCertain ? "breaking change" : "possibly breaking change";
    call.complain(`svc-gen: ${fault}: raise the version in fqn(), or undo the change\n`);
    return EXIT.broken;
  },
});

function diffContracts(old: NamedText, next: NamedText): Difference[] {
  try {
    return diffDocuments(old, next);
  } catch (error) {
    throw error instanceof UnreadableMetadata
      ? new CommandError(error.message, "compare files that svc-gen wrote")
      : error;
  }
}

function givenDocuments(files: readonly string[], cwd: string): [NamedText, NamedText] {
  const [old, next] = files;
  if (old === undefined || next === undefined)
    throw new UsageError("diff expects two meta.json files or none; git show COMMIT:meta.json > OLD writes one");
  if (!existsSync(resolve(cwd, old)))
    throw new CommandError(
      `cannot read ${quoted(old)}: ${UNREADABLE.ENOENT}`,
      "correct the path, or write the file of a commit: git show COMMIT:meta.json > OLD",
    );
  const read = (path: string): NamedText => ({ name: quoted(path), text: readNamed(cwd, path).toString() });
  return [read(old), read(next)];
}

/** `meta.json` of git HEAD and on disk. Warns if the latter is out of date. */
async function committedAndCurrent(call: CommandContext<typeof OPTIONS>): Promise<[NamedText, NamedText]> {
  const options = generateOptions(call);
  const { root } = options;
  const committed = committedContract(root);
  if ("fault" in committed) {
    throw new CommandError(
      `cannot read the meta.json of git HEAD: ${committed.fault}`,
      "commit it, or name two files: OLD NEW",
    );
  }
  const next = readMetaJson(root);
  if (next === undefined) throw new CommandError("meta.json is missing", "run svc-gen first");
  const doubt = await staleness(options);
  if (doubt !== undefined) call.complain(`svc-gen: warning: ${doubt}\n`);
  return [
    { name: "meta.json of git HEAD", text: committed.text },
    { name: "meta.json", text: next },
  ];
}

/** Reason why `meta.json` may not match the sources; undefined if it does. */
async function staleness(options: GenerateOptions): Promise<string | undefined> {
  if (freshBuildInfo(options.root, buildOptions(options)) !== undefined) return undefined;
  const { files, diagnostics } = await generateNow(options);
  if (hasErrors(diagnostics)) return "the project has errors, so meta.json may be stale; run svc-gen to see them";
  const isStale = staleFiles(options.root, files).some(({ path }) => path === "meta.json");
  return isStale ? "meta.json is stale: run svc-gen, then compare again" : undefined;
}
