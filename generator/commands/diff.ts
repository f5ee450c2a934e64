/** `svc-gen diff`: whether callers of the old contract can call the new one. */

import { resolve } from "node:path";
import {
  asJson,
  type CommandContext,
  defineCommand,
  EXIT,
  JSON_OPTION,
  type Options,
  UsageError,
} from "../cli/command.js";
import { hasErrors } from "../compile/diagnostics/diagnostics.js";
import { quoted } from "../compile/diagnostics/quote.js";
import { freshBuildInfo } from "../compile/project/build-info.js";
import { committedContract } from "../contract/committed-contract.js";
import {
  diffDocuments,
  formatDifferences,
  InvalidDocument,
  isBroken,
  listDifferences,
  type NamedText,
} from "../contract/diff.js";
import { buildOptions, readOutput, staleFiles } from "../files/output-files.js";
import { readRegular, UnreadableFile } from "../files/read-file.js";
import { generateNow } from "./generate.js";

export const diffCommand = defineCommand({
  name: "diff",
  arguments: "[OLD NEW]",
  summary: "compare two meta.json, or git HEAD's with the one here; exit 4 when a contract is broken",
  details: `Types are compared by their values: what callers of the old contract send must be taken, what they read must be what
they expect. breaking: callers fail, so raise the version. not decided: neither a proof nor a counterexample was found; it
counts as breaking. additive: a new tool. compatible: no caller fails. A breaking change under a new version of the tool is no
broken contract.

With --json: [{"tool","before","after","kind","port","pointer","old","new","change"}], one entry a change; "old" and "new" are
the schemas at the pointer as JSON texts. Members without a value are absent.`,
  options: { json: JSON_OPTION },
  examples: [
    ["svc-gen diff", "git HEAD's meta.json with the one here"],
    ["svc-gen diff old/meta.json meta.json", "two files"],
  ],
  run: async (call) => {
    const [old, next] = call.args.length === 0 ? await committedAndCurrent(call) : givenDocuments(call.args, call.cwd);
    const differences = orUsageError(() => diffDocuments(old, next));
    call.print(call.json ? asJson(listDifferences(differences)) : formatDifferences(differences));
    if (!isBroken(differences)) return EXIT.done;
    const isCertain = differences.some(({ verdict }) => verdict === "breaking");
    const fault = isCertain ? "a contract is broken" : "a contract may be broken";
    call.complain(`svc-gen: ${fault}: raise the version in fqn(), or take the change back\n`);
    return EXIT.broken;
  },
});

function orUsageError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof InvalidDocument ? new UsageError(error.message) : error;
  }
}

function givenDocuments(files: readonly string[], cwd: string): [NamedText, NamedText] {
  const [old, next] = files;
  if (old === undefined || next === undefined || files.length > 2)
    throw new UsageError(`diff expects two meta.json files, OLD NEW, or none; got ${files.length}`);
  const read = (path: string): NamedText => {
    try {
      return { name: quoted(path), text: readRegular(resolve(cwd, path), { named: true }).toString() };
    } catch (error) {
      throw error instanceof UnreadableFile ? error : new UsageError(`cannot read ${quoted(path)}`);
    }
  };
  return [read(old), read(next)];
}

/** The meta.json of git HEAD and the one on disk. Warns when that one is stale. */
async function committedAndCurrent(call: CommandContext<Options>): Promise<[NamedText, NamedText]> {
  const { cwd } = call;
  const committed = committedContract(cwd);
  if ("fault" in committed) {
    throw new UsageError(`diff without files expects a meta.json committed in git HEAD; ${committed.fault}`);
  }
  const next = readOutput(cwd, "meta.json")?.toString();
  if (next === undefined) throw new UsageError("cannot read meta.json; run svc-gen first");
  const doubt = await staleness(cwd);
  if (doubt !== undefined) call.complain(`svc-gen: warning: ${doubt}\n`);
  return [
    { name: "meta.json of git HEAD", text: committed.text },
    { name: "meta.json", text: next },
  ];
}

/** Why `meta.json` may not be what the sources say; undefined when it is. */
async function staleness(root: string): Promise<string | undefined> {
  if (freshBuildInfo(root, buildOptions({ root })) !== undefined) return undefined;
  const { files, diagnostics } = await generateNow({ root });
  if (hasErrors(diagnostics)) return "the project has errors, so meta.json may be stale; see svc-gen";
  const isStale = staleFiles(root, files).some(({ path }) => path === "meta.json");
  return isStale ? "meta.json is stale: run svc-gen, then compare again" : undefined;
}
