/** `svc-gen dev`: the development server of a project, and what is printed of it. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Difference, formatDifferences } from "../contract-diff.js";
import type { DevEvent } from "../dev/dev-session.js";
import { quoted, shellWord } from "../diagnostics/quote.js";
import { buildOptions } from "../output-files.js";
import { type BuildInfo, lastBuildInfo } from "../project/build-info.js";
import {
  type Call,
  type CliHost,
  CommandError,
  defineCommand,
  EXIT,
  type Options,
  PROJECT_OPTIONS,
  plural,
  UsageError,
} from "./command.js";
import type { PageEvent } from "./dev-page.js";
import { newsOf } from "./generate.js";
import { LEADER_OPTIONS } from "./leader-options.js";
import { PAGE_OPTIONS, readPort } from "./page-options.js";
import { generateOptions } from "./project-options.js";

const DEFAULT_PORT = 8080;

export const devCommand = defineCommand({
  name: "dev",
  summary: "generate, compile and serve, again after every save, until Ctrl-C",
  details: `While something is wrong, the last good build keeps serving. A change of a contract is shown as by diff.
It runs the code of the project. Compiled files go to the project's own outDir, else to .svc/, which git ignores. Keys,
configuration and address are in a private folder of yours, below XDG_STATE_HOME or ~/.local/state.
The printed page calls the tools from a browser on this machine, and shows each call as a leader sees it. With --url it
shows a server that runs elsewhere; nothing is generated or served then.

With --json one line an event: page (url), run (diagnostics, wrote, changes), serving (url, tools), failed, ended, line.`,
  options: {
    port: { type: "string", value: "PORT", summary: `port on 127.0.0.1 (default: ${DEFAULT_PORT}, or a free one)` },
    signed: { type: "boolean", summary: "require signed requests, with development keys made for this project" },
    url: { type: "string", value: "URL", summary: "only the page, for the running server at this address" },
    ...PAGE_OPTIONS,
    ...LEADER_OPTIONS,
    ...PROJECT_OPTIONS,
    json: { type: "boolean", summary: "one JSON object a line, for programs" },
    quiet: { type: "boolean", summary: "no notes" },
  },
  examples: [
    ["svc-gen dev", "serve unsigned calls on this machine"],
    ["svc-gen dev --signed", "then: svc-gen invoke TOOL '{…}' --signed"],
    ["svc-gen dev --url https://tools.example.org", "the page for any running server"],
  ],
  run: async (call) => {
    const { port, signed, url } = call.values;
    refuseIdleOptions(call);
    if (url !== undefined) return showServer(url, call);
    const project = generateOptions(call);
    const { root, tsconfig = "tsconfig.json" } = project;
    if (!existsSync(resolve(root, tsconfig))) {
      throw new UsageError(
        `there is no ${quoted(tsconfig)} here; run svc-gen dev in a tool project, or name it: --project`,
      );
    }
    const { develop, PortTaken } = await import("../dev/dev-session.js");
    const { DEV_LOG_LEVEL, followedPage } = await import("./dev-page.js");
    const tell = call.json
      ? (event: object) => call.print(`${JSON.stringify(event)}\n`)
      : await printer(call, lastBuildInfo(root, buildOptions(project)));
    const page = await followedPage(call, project, tell);
    try {
      await develop({
        project,
        port: port === undefined ? DEFAULT_PORT : readPort("port", port),
        exactPort: Number(port ?? 0) !== 0,
        signed: signed === true,
        env: { ...DEV_LOG_LEVEL, ...call.env },
        page: page.url,
        onEvent: page.onEvent,
        end: call.interrupted(),
      });
    } catch (error) {
      const { KeyFileError } = await import("../keys/key-file.js");
      if (error instanceof KeyFileError)
        throw new CommandError(error.message, "delete it: svc-gen dev makes another one");
      if (!(error instanceof PortTaken)) throw error;
      throw new CommandError(error.message, "name another one, or leave --port out");
    } finally {
      await page.close();
    }
    return EXIT.done;
  },
});

/** Refuses options that would do nothing. */
function refuseIdleOptions({ values }: Call<typeof LEADER_OPTIONS & typeof PAGE_OPTIONS & Options>): void {
  const given = (names: readonly string[]) =>
    names.find((name) => (values as Record<string, unknown>)[name] !== undefined);
  const [own, keys] = [given(["port", "signed", "project", "out"]), given(Object.keys(LEADER_OPTIONS))];
  if (values.url !== undefined && own !== undefined) {
    throw new UsageError(`--${own} is of a project: leave it out, or --url, which shows a server that runs`);
  }
  if (values.url === undefined && values.signed === undefined && keys !== undefined && keys !== "ca") {
    throw new UsageError(`--${keys} wants --signed or --url`);
  }
}

/** The page alone, until the user ends it. */
async function showServer(
  url: string,
  call: Call<typeof LEADER_OPTIONS & typeof PAGE_OPTIONS & Options>,
): Promise<number> {
  const { openRemotePage } = await import("./dev-page.js");
  const page = await openRemotePage(url, call);
  call.print(call.json ? `${JSON.stringify({ event: "page", url: page.url })}\n` : `page for ${url}\n  ${page.url}\n`);
  await call.interrupted();
  await page.close();
  return EXIT.done;
}

/** Prints events for people. */
async function printer(
  call: Call<Options>,
  last: BuildInfo | undefined,
): Promise<(event: DevEvent | PageEvent) => void> {
  const { readableLine } = await import("../dev/log-lines.js");
  const { portOf } = await import("../dev/dev-state.js");
  const paint = (text: string, code: number) => (call.colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const news = newsOf(call, last);
  let pageUrl = "";
  /** The port that the next build should serve on. */
  let expected = call.values.port === undefined ? `${DEFAULT_PORT}` : undefined;
  const introduced = new Set<string>();
  return (event) => {
    switch (event.event) {
      case "page":
        pageUrl = event.url;
        return;
      case "run": {
        const errors = news(event.diagnostics);
        if (errors > 0) {
          const next = event.serving ? "the last good build keeps serving" : "waiting for a change";
          call.complain(paint(`\n✗ ${plural(errors, "error")}; ${next}\n`, 31));
        }
        call.print(formatDifferences(event.changes, adviceOf));
        return;
      }
      case "serving": {
        call.print(paint(`✓ serving on ${event.url} after ${event.milliseconds} ms\n`, 32));
        const port = portOf(event.url);
        if (expected !== undefined && port !== expected) {
          call.print(`  port ${expected} is taken by another process; --port names one of your own\n`);
        }
        expected = port;
        printTools(event, introduced, call);
        if (introduced.size === 0) {
          call.print(`  page    ${pageUrl}\n  read    ${pageUrl}reference\n  openapi ${pageUrl}openapi.json\n\n`);
        }
        for (const { url, fqn } of event.tools) introduced.add(`${fqn} ${url}`);
        return;
      }
      case "failed": {
        const next = event.serving ? "the last good build keeps serving" : "waiting for a change";
        call.complain(paint(`✗ the server did not start: ${event.reason}; ${next}\n`, 31));
        return;
      }
      case "ended":
        call.complain(paint(`✗ the server ended: ${event.reason}; waiting for a change\n`, 31));
        return;
      case "line": {
        const line = readableLine(event.line, true);
        if (line !== undefined) call.complain(`${line}\n`);
      }
    }
  };
}

/** Prints the tools that were not there before. */
function printTools(
  { tools, signed }: Extract<DevEvent, { event: "serving" }>,
  introduced: ReadonlySet<string>,
  { print }: CliHost,
): void {
  const added = tools.filter(({ fqn, url }) => !introduced.has(`${fqn} ${url}`));
  for (const { fqn, url } of added) {
    print(`\n  ${fqn}\n    call    POST ${url}/invoke\n    health  ${url}/health\n    meta    ${url}/meta\n`);
  }
  const [first] = added;
  if (first === undefined) return;
  const only = tools.length === 1 ? "" : ` ${first.fqn}`;
  print(`\n  try     npx svc-gen invoke${only} ${shellWord(first.sample)}${signed ? " --signed" : ""}\n\n`);
}

/** What to do about a broken contract of the same version. */
function adviceOf({ before, after, verdict }: Difference): string {
  const fails = verdict === "breaking" ? "callers fail" : verdict === "not decided" ? "callers may fail" : undefined;
  if (fails === undefined || before !== after || after === undefined) return "";
  return ` (${fails}: make it @${Number(after) + 1} before you publish it)`;
}
