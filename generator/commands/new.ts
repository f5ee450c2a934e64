/** `svc-gen new [DIR]`: creates a tool project that is ready to run. */

import { existsSync } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import {
  asJson,
  type CommandContext,
  CommandError,
  defineCommand,
  EXIT,
  JSON_OPTION,
  UsageError,
} from "../cli/command.js";
import { hasErrors } from "../compile/diagnostics/diagnostics.js";
import { quoted, shellWord } from "../compile/diagnostics/quote.js";
import { writeNewFiles } from "../files/new-files.js";
import { saveBuildInfo, writeChanged } from "../files/output-files.js";
import { addTool } from "../scaffold/add-tool.js";
import { checkPackageName, fqnFor, packageNameFor, toolNames } from "../scaffold/names.js";
import { npmInstall } from "../scaffold/npm-install.js";
import { packageSpecs } from "../scaffold/package-specs.js";
import { LATER_FILES, projectFiles } from "../scaffold/project-files.js";
import { assertNew } from "../scaffold/project-folder.js";
import { generateNow, reportDiagnostics } from "./generate.js";
import { projectFqns } from "./options/project-tools.js";
import { shownPath } from "./options/shown-path.js";

const DEFAULT_FOLDER = "my-tool";
/** Input for the tool in the template. */
const SAMPLE_INPUT = '{"name":"Ada","options":{"times":2}}';

const OPTIONS = {
  name: { type: "string", value: "NAME", summary: "name of the package (default: the name of the folder)" },
  fqn: { type: "string", value: "FQN", summary: "name of the tool (default: xyz.demo.NAME@1)" },
  tool: {
    type: "string",
    value: "NAME",
    summary: "add a tool to the project in this folder: its FQN, or the last part of it",
    excludes: ["name", "fqn", "nexus", "bundle"],
  },
  nexus: { type: "boolean", summary: "serve leaders of the network, which send X-Nexus- headers" },
  bundle: { type: "boolean", summary: "build an image with the server as one file" },
  yes: { type: "boolean", short: "y", summary: "do not ask; use the defaults" },
  "skip-install": { type: "boolean", summary: "run neither npm install nor svc-gen" },
  json: JSON_OPTION,
} as const;

export const command = defineCommand({
  details: `Asks for the folder, the name of the tool and whether to run npm install; each question has a default. Without a terminal, pass
DIR or --yes. No file is replaced. npm install and svc-gen then run in the new project. If svc-gen was installed from
files or runs in a checkout, the project uses svc-gen and svc-runtime from there.`,
  options: OPTIONS,
  examples: [
    ["svc-gen new my-tool", "asks for the name of the tool"],
    ["svc-gen new my-tool --fqn org.example.my-tool@1 --yes", "asks nothing"],
    ["svc-gen new --yes --skip-install", "only the files, in ./my-tool"],
    ["svc-gen new --tool org.example.rate@1", "adds src/rate.ts and test/rate.test.ts to the project in this folder"],
  ],
  run: (call) => (call.values.tool === undefined ? makeProject(call) : addToolTo(call, call.values.tool)),
});

/** Adds a tool to the project in this folder, with a name derived from its other tools. */
function addToolTo(call: CommandContext<typeof OPTIONS>, name: string): number {
  const { args, cwd } = call;
  if (args.length > 0) throw new UsageError("--tool adds a tool to the project in this folder: omit DIR");
  if (!existsSync(join(cwd, "package.json"))) {
    throw new CommandError(
      "this folder has no package.json",
      "run the command in a project, or create one: svc-gen new",
    );
  }
  const { tool, paths } = addTool(cwd, name, projectFqns(cwd) ?? []);
  const next = ["npm test", "npx svc-gen"];
  if (call.json) call.print(asJson({ folder: cwd, fqn: tool.fqn, wrote: paths, next }));
  else {
    const served = `a tool without path() is served at the root, and only one tool can be`;
    call.print(
      `${paths.map((path) => `wrote ${path}\n`).join("")}\n${tool.fqn} will answer /${tool.file}/invoke; ${served}. Next:\n`,
    );
    call.print(next.map((line) => `  ${line}\n`).join(""));
  }
  return EXIT.done;
}

async function makeProject(call: CommandContext<typeof OPTIONS>): Promise<number> {
  const { cwd, values } = call;
  const ask = values.yes || call.json ? undefined : call.ask;
  const given = await folderOf(call, ask);
  const folder = resolve(cwd, given);
  if (cwd.startsWith(join(folder, sep))) {
    const hint = "choose a new folder, such as my-tool; or run svc-gen new . in that folder";
    throw new UsageError(`${quoted(given)} contains the current folder; ${hint}`);
  }
  const packageName =
    values.name === undefined ? packageNameFor(basename(folder), given) : checkPackageName(values.name);
  const specs = packageSpecs(folder);
  const shown = shownPath(cwd, folder);
  // Checked before the next question, because the result does not depend on its answer.
  assertNew(folder, shown, ["package.json"]);
  const tool = await toolOf(fqnFor(packageName), values.fqn, ask);
  const files = projectFiles(packageName, tool, specs, values);
  assertNew(folder, shown, [...files.map(({ path }) => path), ...LATER_FILES]);
  const isInstalled = !values["skip-install"] && (await isYes("Install the packages now?", ask));

  writeNewFiles(
    cwd,
    files.map(({ path, text }) => ({ target: join(folder, path), content: text })),
  );
  const enter = shown === "." ? [] : [`cd ${shellWord(shown)}`];
  if (!call.json) for (const { path } of files) call.print(`wrote ${shownPath(cwd, join(folder, path))}\n`);
  let wrote: readonly string[] = [];
  if (isInstalled) {
    if (!call.json) call.complain("npm install …\n");
    const finish = [...enter, "npm install", "npm run build"].join(" && ");
    const fault = await npmInstall(folder, call.env, call.interrupted());
    if (fault !== undefined) {
      call.complain(`${fault}\n`);
      throw new CommandError("npm install failed; the files were written", finish);
    }
    const generated = await generateNow({ root: folder });
    if (hasErrors(generated.diagnostics)) {
      reportDiagnostics(generated.diagnostics, call);
      throw new CommandError(
        "the project was created, but svc-gen failed in it",
        [...enter, "npm run build"].join(" && "),
      );
    }
    wrote = writeChanged(folder, generated.files);
    saveBuildInfo({ root: folder }, generated);
    if (!call.json) for (const path of wrote) call.print(`wrote ${shownPath(cwd, join(folder, path))}\n`);
  }
  const next = [[...enter, ...(isInstalled ? [] : ["npm install"]), "npm test"].join(" && "), "npm run dev"];
  const then = [`npx svc-gen invoke ${shellWord(SAMPLE_INPUT)}`];
  if (call.json) {
    const paths = [...files.map(({ path }) => path), ...wrote];
    call.print(
      asJson({
        folder,
        name: packageName,
        fqn: tool.fqn,
        wrote: paths,
        installed: isInstalled,
        next: [...next, ...then],
      }),
    );
  } else {
    const lines = (commands: readonly string[]) => commands.map((line) => `  ${line}\n`).join("");
    call.print(
      `\n${tool.fqn} is ready. Next:\n${lines(next)}While the server runs, in a second terminal:\n${lines(then)}`,
    );
  }
  return EXIT.done;
}

type Ask = CommandContext<typeof OPTIONS>["ask"];

async function folderOf({ args, values }: CommandContext<typeof OPTIONS>, ask: Ask): Promise<string> {
  const [given] = args;
  if (given === "") throw new UsageError("new expects the name of a folder, got an empty text");
  // The folder's name does not include the scope.
  const proposed = values.name?.replace(/^@[^/]*\//, "") ?? DEFAULT_FOLDER;
  if (given !== undefined) return given;
  if (ask !== undefined) return answer("Folder", proposed, ask);
  if (values.yes || values.name !== undefined) return proposed;
  throw new UsageError(`without a terminal, new expects a folder: svc-gen new DIR, or --yes for ${DEFAULT_FOLDER}`);
}

async function toolOf(proposed: string, given: string | undefined, ask: Ask) {
  if (given !== undefined || ask === undefined) return toolNames(given ?? proposed);
  return toolNames(await answer("Name of the tool, domain.name@version", proposed, ask));
}

async function isYes(question: string, ask: Ask): Promise<boolean> {
  if (ask === undefined) return true;
  const text = await answer(question, "yes", ask);
  if (/^y(?:es)?$/i.test(text)) return true;
  if (/^no?$/i.test(text)) return false;
  throw new UsageError(`expected yes or no, got ${quoted(text)}`);
}

/** Answer to a question, or the default if the line is empty. */
async function answer(question: string, proposed: string, ask: NonNullable<Ask>): Promise<string> {
  return (await ask(`${question} (${proposed}): `)).trim() || proposed;
}
