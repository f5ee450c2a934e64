/** `svc-gen`, `svc-gen --check` and `svc-gen --watch`: the generator and its output. */

import { setFlagsFromString } from "node:v8";
import {
  type CliHost,
  type CommandContext,
  defineCommand,
  EXIT,
  JSON_OPTION,
  type Options,
  PROJECT_OPTIONS,
  plural,
} from "../cli/command.js";
import { type Diagnostic, errorsIn, formatDiagnostics, hasErrors } from "../compile/diagnostics/diagnostics.js";
import { withoutKnownNotes } from "../compile/diagnostics/known-notes.js";
import type { Generated, Review } from "../compile/generate.js";
import { type BuildInfo, isFresh, lastBuildInfo } from "../compile/project/build-info.js";
import type { GenerateOptions } from "../compile/project/layout.js";
import { buildOptions, saveBuildInfo, staleFiles, writeChanged } from "../files/output-files.js";
import { generateOptions } from "./options/project-options.js";

export const command = defineCommand({
  details: `svc-gen without a command does the same. If the project has errors, they are printed with their positions and nothing is written.

With --json each run prints one line: {"diagnostics":[…],"wrote":[…],"milliseconds":41}.`,
  options: {
    check: {
      type: "boolean",
      summary:
        "write nothing; if files are stale, print the differences and exit 3; check every schema with a second generator",
    },
    watch: {
      type: "boolean",
      summary: "write now, and again after every change of a source file, until Ctrl-C",
      excludes: ["check"],
    },
    ...PROJECT_OPTIONS,
    json: JSON_OPTION,
    notes: { type: "boolean", summary: "print all notes, also those that the last run without errors printed" },
    quiet: { type: "boolean", summary: "do not print notes" },
  },
  examples: [
    ["svc-gen && tsc", "the build script of a tool project"],
    ["svc-gen --check", "for CI: fails when generated files are stale"],
    ["svc-gen --check --json", "for programs: prints the paths of stale files"],
    ["svc-gen --watch", "generates after every save"],
  ],
  run: (call) => {
    const options = generateOptions(call);
    return call.values.watch ? watch(options, call) : build(options, call, call.values.check === true);
  },
});

/** Output of a run of the generator with `--json`. */
export interface RunReport {
  readonly diagnostics: readonly object[];
  /** Paths of the files that were written. */
  readonly wrote: readonly string[];
  readonly milliseconds: number;
}

type Reporter = Pick<CommandContext<Options>, keyof CliHost | "json" | "quiet">;
type GenerateCall = Reporter & { readonly values: { readonly notes?: boolean } };

/** V8 spends a quarter of a run's processor time on optimizing code, and a process that ends after one run gains less. */
const OPTIMIZE_LATER =
  Number.parseInt(process.versions.v8, 10) < 12 ? "--interrupt-budget=400000" : "--invocation-count-for-turbofan=18000";

/** Runs the generator. Imports it on demand, because TypeScript takes longer to load than everything else. */
export async function generateNow(options: GenerateOptions, review?: Review): Promise<Generated> {
  setFlagsFromString(OPTIMIZE_LATER);
  const { generate } = await import("../compile/generate.js");
  return generate(options, review);
}

/**
 * Runs the generator for a command that only reads the result, and prints errors and warnings.
 *
 * @returns undefined if there are errors
 */
export async function generateToRead(
  call: Reporter & Parameters<typeof generateOptions>[0],
): Promise<Generated | undefined> {
  const generated = await generateNow(generateOptions(call));
  reportDiagnostics(generated.diagnostics, { ...call, quiet: true });
  return hasErrors(generated.diagnostics) ? undefined : generated;
}

/**
 * Prints the diagnostics of a run and, as text, the number of errors.
 *
 * @param earlier diagnostics of an earlier run, whose notes are counted but not printed again
 */
export function reportDiagnostics(
  diagnostics: readonly Diagnostic[],
  reporter: Reporter,
  earlier: readonly Diagnostic[] = [],
): void {
  const visible = visibleDiagnostics(diagnostics, reporter);
  const shown = withoutKnownNotes(visible, earlier);
  if (shown.length > 0) reporter.complain(formatDiagnostics(shown, reporter.colour));
  countKnown(visible.length - shown.length, reporter);
  const errors = errorsIn(shown);
  if (errors.length > 0) reporter.complain(`\n${summary(errors)}\n`);
}

function visibleDiagnostics(
  diagnostics: readonly Diagnostic[],
  { quiet }: Pick<Reporter, "quiet">,
): readonly Diagnostic[] {
  return quiet ? diagnostics.filter(({ severity }) => severity !== "note") : diagnostics;
}

function countKnown(known: number, { complain }: Reporter): void {
  if (known === 0) return;
  complain(`${plural(known, "note")} as before (svc-gen --notes prints ${known === 1 ? "it" : "them"})\n`);
}

/**
 * For a command that keeps running: prints of each run only what is new. Unchanged warnings and notes are printed once.
 *
 * @returns a function that prints the diagnostics of a run, and returns the number of errors
 */
export function newsPrinter(reporter: Reporter, last?: Pick<BuildInfo, "diagnostics">) {
  let earlier = last?.diagnostics ?? [];
  let lastText = "";
  let isFirst = true;
  return (diagnostics: readonly Diagnostic[]): number => {
    const errors = errorsIn(diagnostics).length;
    const visible = visibleDiagnostics(diagnostics, reporter);
    const shown = withoutKnownNotes(visible, earlier);
    const text = shown.length === 0 ? "" : formatDiagnostics(shown, reporter.colour);
    if (errors > 0 || text !== lastText) reporter.complain(text);
    lastText = text;
    if (isFirst) countKnown(visible.length - shown.length, reporter);
    isFirst = false;
    // A run with errors does not report all notes.
    if (errors === 0) earlier = diagnostics;
    return errors;
  };
}

function summary(errors: readonly Diagnostic[]): string {
  const files = new Set(errors.flatMap(({ place }) => (place === undefined ? [] : [place.file]))).size;
  return `svc-gen: ${plural(errors.length, "error")} in ${plural(files, "file")}; nothing was written`;
}

function printReport({ diagnostics, wrote, milliseconds }: RunReport, reporter: Reporter): void {
  reporter.print(`${JSON.stringify({ diagnostics, wrote, milliseconds })}\n`);
}

/** Starts the clock of a run. The returned function stops it and prints the result of the run. */
function startRun(reporter: GenerateCall, last: BuildInfo | undefined) {
  const from = performance.now();
  const earlier = reporter.values.notes ? [] : (last?.diagnostics ?? []);
  return (diagnostics: readonly Diagnostic[], wrote: readonly string[] = [], stale: readonly string[] = []): void => {
    if (!reporter.json) {
      reportDiagnostics(diagnostics, reporter, earlier);
      return;
    }
    const files = stale.map((file) => ({ severity: "error", code: "stale", file, hint: "run `svc-gen`" }));
    const milliseconds = Math.round(performance.now() - from);
    printReport(
      { diagnostics: [...visibleDiagnostics(diagnostics, reporter), ...files], wrote, milliseconds },
      reporter,
    );
  };
}

/** Writes the files, or compares them with a new run, which also reads every type with the second reader. */
async function build(options: GenerateOptions, reporter: GenerateCall, checks: boolean): Promise<number> {
  const last = lastBuildInfo(options.root, buildOptions(options));
  const report = startRun(reporter, last);
  const upToDate = () => {
    if (!reporter.json && !(checks && reporter.quiet)) reporter.print("up to date\n");
  };
  if (last !== undefined && (last.checked || !checks) && isFresh(options.root, last)) {
    report(last.diagnostics);
    upToDate();
    return EXIT.done;
  }
  const generated = await generateNow(options, checks ? await secondReading() : undefined);
  const { diagnostics, files } = generated;
  if (hasErrors(diagnostics)) {
    report(diagnostics);
    return EXIT.failure;
  }
  // Before files are written, which may fail.
  if (!reporter.json) report(diagnostics);
  const stale = checks ? staleFiles(options.root, files) : [];
  const wrote = checks ? [] : writeChanged(options.root, files);
  const paths = stale.map(({ path }) => path);
  if (reporter.json) report(diagnostics, wrote, paths);
  if (stale.length > 0) {
    if (!reporter.json) reporter.complain((await import("./stale-report.js")).staleReport(stale));
    return EXIT.stale;
  }
  if (checks && diagnostics.some(({ severity }) => severity === "warning")) return EXIT.failure;
  saveBuildInfo(options, generated, checks);
  if (wrote.length === 0) upToDate();
  else if (!reporter.json) reporter.print(wrote.map((path) => `wrote ${path}\n`).join(""));
  return EXIT.done;
}

async function secondReading(): Promise<Review> {
  const { SecondReader } = await import("../compile/second-reader/second-reader.js");
  const reader = new SecondReader();
  return (...tool) => reader.review(...tool);
}

async function watch(options: GenerateOptions, reporter: GenerateCall): Promise<number> {
  const { watchProject } = await import("../compile/watch.js");
  const last = reporter.values.notes ? undefined : lastBuildInfo(options.root, buildOptions(options));
  const printNews = newsPrinter(reporter, last);
  await watchProject(
    options,
    {
      write: (files) => writeChanged(options.root, files),
      tell: ({ diagnostics, wrote, milliseconds }) => {
        if (reporter.json) {
          return printReport({ diagnostics: visibleDiagnostics(diagnostics, reporter), wrote, milliseconds }, reporter);
        }
        const errors = printNews(diagnostics);
        if (errors > 0) reporter.print(`${plural(errors, "error")}; waiting for a change\n`);
        else
          reporter.print(`${wrote.length === 0 ? "up to date" : `wrote ${wrote.join(", ")}`} in ${milliseconds} ms\n`);
      },
    },
    reporter.interrupted(),
  );
  return EXIT.done;
}
