/** `svc-gen dev`: the development server of a project, and its output. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  type CliHost,
  type CommandContext,
  CommandError,
  defineCommand,
  EXIT,
  PROJECT_OPTIONS,
  plural,
  UsageError,
} from "../cli/command.js";
import { quoted, shellWord } from "../compile/diagnostics/quote.js";
import { type BuildInfo, lastBuildInfo } from "../compile/project/build-info.js";
import { type Difference, formatDifferences } from "../contract/diff.js";
import { blockedText, type DevEvent, develop, PortTaken } from "../dev/dev-session.js";
import { devServers, portOf } from "../dev/dev-state.js";
import { readableLine } from "../dev/log-lines.js";
import { withEnvFile } from "../files/env-file.js";
import { buildOptions } from "../files/output-files.js";
import { KeyFileError, readKeyFile } from "../keys/key-file.js";
import { publicKeyText } from "../keys/key-forms.js";
import {
  type CallEvent,
  DEV_LOG_LEVEL,
  DEV_OPTIONS,
  followedPage,
  openRemotePage,
  type PageEvent,
} from "./dev-page.js";
import { newsPrinter } from "./generate.js";
import { leaderIdOf, leaderOf } from "./keys/key-options.js";
import { leaderOptionsFor } from "./options/leader-options.js";
import { MAX_PORT, readNumber } from "./options/number-option.js";
import { PAGE_OPTIONS } from "./options/page-options.js";
import { generateOptions } from "./options/project-options.js";

const DEFAULT_PORT = 8080;
/** Node's default port. */
const DEFAULT_INSPECT_PORT = 9229;

const INSPECT = { type: "boolean", excludes: ["url"] } as const;

const OPTIONS = {
  ...DEV_OPTIONS,
  inspect: { ...INSPECT, summary: "allow debuggers to attach to the server" },
  "inspect-brk": { ...INSPECT, summary: "like --inspect, and wait for a debugger before the first line of code" },
  "inspect-port": {
    type: "string",
    value: "PORT",
    summary: `port for debuggers (default: ${DEFAULT_INSPECT_PORT})`,
    needs: ["inspect", "inspect-brk"],
  },
  url: {
    type: "string",
    value: "URL",
    summary: "serve only the page, for the running server at this address",
    excludes: ["project", "out"],
  },
  ...PAGE_OPTIONS,
  ...leaderOptionsFor({ needs: ["signed", "url"] }),
  ...PROJECT_OPTIONS,
  json: { type: "boolean", summary: "print one JSON object per line, for programs" },
  quiet: { type: "boolean", summary: "do not print notes" },
} as const;

type DevCall = CommandContext<typeof OPTIONS>;

export const command = defineCommand({
  details: `While the code has errors, the last good build keeps serving. Changes of a contract are printed as by svc-gen diff.
svc-gen dev runs the code of the project. Compiled files are written to the project's outDir, or to .svc/, which git ignores.
Keys, configuration and address are in a private folder in XDG_STATE_HOME or ~/.local/state.
Open the printed page in a browser on this machine to call the tools and to see each request and answer. With --url the
page calls a server that is already running, and nothing is generated or served.

The server receives the variables in .env of the project's folder, unless the environment sets them, and restarts when the
file changes. The default port is that of BIND_ADDR.
With --inspect the port of the debugger stays the same after a restart: a server ends before the next one starts.

With --json each event is one line of JSON: note (message), page (url, mcp), progress (step), run (diagnostics, wrote, changes),
serving (url, tools, restarted, newest), failed, ended (reason), blocked (seconds; 0 when the server answers again),
call (tool, status, milliseconds, request), line.`,
  options: OPTIONS,
  examples: [
    ["svc-gen dev", "serve unsigned calls on this machine"],
    ["svc-gen dev --signed", "then: svc-gen invoke TOOL '{…}' --signed"],
    ["svc-gen dev --signed --as treasurer", "then: svc-gen invoke TOOL '{…}' --signed --as treasurer"],
    ["svc-gen dev --inspect", "then attach a debugger to port 9229"],
    ["svc-gen dev --url https://tools.example.org", "the page for any running server"],
  ],
  run: async (call) => {
    const { port, signed = false, url, "inspect-brk": isBreak = false, "inspect-port": inspectPort } = call.values;
    if (url !== undefined) return showServer(url, call);
    const project = generateOptions(call);
    const { root, tsconfig = "tsconfig.json" } = project;
    if (!existsSync(resolve(root, tsconfig))) {
      const given = call.values.project ?? "";
      const next = /^\d+$/.test(given)
        ? `-p is --project; to set the port, pass --port ${given}`
        : "run svc-gen dev in a tool project, or pass --project FOLDER";
      throw new UsageError(`${quoted(tsconfig)} does not exist; ${next}`);
    }
    const settings = environment(root, call.env);
    const given = port === undefined ? undefined : readNumber("port", port, 0, MAX_PORT);
    const portIn = (env: NodeJS.ProcessEnv) => given ?? boundPort(env) ?? DEFAULT_PORT;
    const leaders = {
      as: (call.values.as ?? []).map((id) => leaderIdOf("as", id)),
      own: signed ? leaderWithKey(call) : undefined,
    };
    const tell = call.json
      ? (event: object) => call.print(`${JSON.stringify(event)}\n`)
      : printer(call, portIn(settings), lastBuildInfo(root, buildOptions(project)));
    if (port === undefined && !call.quiet)
      for (const message of idleVariables(settings)) tell({ event: "note", message });
    void devServers(root, call.env).then((others) => {
      for (const { pid, url, page } of others)
        if (pid !== process.pid)
          tell({
            event: "note",
            message: `svc-gen dev already runs in this folder: it serves ${url}, with the page ${page}`,
          });
    });
    const page = await followedPage(call, project, settings, tell);
    try {
      await develop({
        project,
        portIn,
        exactPort: Number(port ?? 0) !== 0,
        signed,
        leaders,
        inspect:
          call.values.inspect || isBreak
            ? { port: readNumber("inspect-port", inspectPort ?? `${DEFAULT_INSPECT_PORT}`, 1, MAX_PORT), isBreak }
            : undefined,
        env: call.env,
        defaults: DEV_LOG_LEVEL,
        page: page.url,
        mcp: page.mcp,
        onEvent: page.onEvent,
        end: call.interrupted(),
      });
    } catch (error) {
      if (error instanceof KeyFileError)
        throw new CommandError(error.message, "delete the file: svc-gen dev will create a new one");
      if (!(error instanceof PortTaken)) throw error;
      throw new CommandError(error.message, "choose another port, or omit --port");
    } finally {
      await page.close();
    }
    return EXIT.done;
  },
});

/** The leader of `--leader-key`, for the allow-list. */
function leaderWithKey({ cwd, values }: DevCall) {
  const file = values["leader-key"];
  if (file === undefined) return undefined;
  return { ...leaderOf(values), publicKey: publicKeyText(readKeyFile(cwd, file).key) };
}

/** Runs only the page, until the user ends it. */
async function showServer(url: string, call: DevCall): Promise<number> {
  const page = await openRemotePage(url, call);
  call.print(call.json ? `${JSON.stringify({ event: "page", url: page.url })}\n` : `page for ${url}\n  ${page.url}\n`);
  await call.interrupted();
  await page.close();
  return EXIT.done;
}

/** The environment with the variables of `.env`. Without these if the file cannot be read, which the first build reports. */
function environment(root: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  try {
    return withEnvFile(root, env);
  } catch {
    return env;
  }
}

/** Port in `BIND_ADDR`. */
function boundPort({ BIND_ADDR = "" }: NodeJS.ProcessEnv): number | undefined {
  const [, port] = /:(\d{1,5})$/.exec(BIND_ADDR) ?? [];
  return port === undefined || Number(port) > 65_535 ? undefined : Number(port);
}

/** Notes about variables that are ignored, or used only in part. */
function idleVariables(env: NodeJS.ProcessEnv): string[] {
  const { BIND_ADDR, PORT } = env;
  const notes: string[] = [];
  if (BIND_ADDR !== undefined && boundPort(env) === undefined) {
    notes.push("BIND_ADDR is ignored: expected HOST:PORT");
  } else if (BIND_ADDR !== undefined && !/^(?:127\.0\.0\.1|localhost):/.test(BIND_ADDR)) {
    notes.push("only the port of BIND_ADDR is used: svc-gen dev always serves on 127.0.0.1");
  }
  if (PORT !== undefined) notes.push("PORT is ignored, by the built server too: use --port or BIND_ADDR");
  return notes;
}

interface NoteEvent {
  readonly event: "note";
  readonly message: string;
}

const PROGRESS = { building: "reading and checking the project", starting: "starting the server" } as const;

/** Prints events as text. */
function printer(
  call: DevCall,
  port: number,
  last: BuildInfo | undefined,
): (event: DevEvent | PageEvent | NoteEvent | CallEvent) => void {
  const paint = (text: string, code: number) => (call.colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const printNews = newsPrinter(call, last);
  let pageUrl = "";
  let mcpUrl: string | undefined;
  /** Port at which the next build is expected; undefined if the system chooses it. */
  let expected = port === 0 ? undefined : `${port}`;
  const introduced = new Set<string>();
  return (event) => {
    switch (event.event) {
      case "page":
        pageUrl = event.url;
        mcpUrl = event.mcp;
        return;
      case "note":
        call.complain(`${event.message}\n`);
        return;
      case "progress": {
        if (call.quiet && event.seconds === undefined) return;
        const text =
          event.seconds === undefined
            ? `${PROGRESS[event.step]} …`
            : `the server has not started after ${event.seconds} s: check whether an import or a create() method is waiting`;
        call.complain(paint(`${text}\n`, 2));
        return;
      }
      case "call": {
        const { tool, status, code, milliseconds, request, replayed } = event;
        const colour = status < 400 ? 32 : status < 500 ? 33 : 31;
        const facts = [code, `${milliseconds} ms`, replayed && "stored answer", `request ${request}`].filter(Boolean);
        const time = new Date().toTimeString().slice(0, 8);
        call.complain(`${time} ${paint(`${status}`, colour)} ${tool} · ${facts.join(" · ")}\n`);
        return;
      }
      case "run": {
        const errors = printNews(event.diagnostics);
        if (errors > 0) {
          call.complain(paint(`\n✗ ${plural(errors, "error")}; ${nextOf(event)}\n`, 31));
        }
        call.print(formatDifferences(event.changes, adviceOf));
        return;
      }
      case "serving": {
        call.print(servingLine(event, paint));
        const port = portOf(event.url);
        if (expected !== undefined && port !== expected) {
          call.print(`  another process uses port ${expected}; choose a port with --port\n`);
        }
        expected = port;
        printTools(event, introduced, call);
        if (introduced.size === 0) {
          call.print(`  openapi ${pageUrl}openapi.json\n`);
          if (mcpUrl !== undefined) call.print(`  mcp     ${mcpUrl}\n`);
          call.print(`  page    ${pageUrl}\n\n`);
        }
        for (const { url, fqn } of event.tools) introduced.add(`${fqn} ${url}`);
        return;
      }
      case "failed": {
        call.complain(paint(`✗ the server did not start: ${event.reason}; ${nextOf(event)}\n`, 31));
        return;
      }
      case "ended":
        call.complain(paint(`✗ the server ended: ${event.reason}; it starts again\n`, 31));
        return;
      case "blocked":
        call.complain(
          event.seconds === 0 ? "the server answers again\n" : paint(`✗ ${blockedText(event.seconds)}\n`, 31),
        );
        return;
      case "line": {
        const line = readableLine(event.line, true);
        if (line !== undefined) call.complain(`${line}\n`);
      }
    }
  };
}

function nextOf({ serving }: { readonly serving: boolean }): string {
  return serving ? "the last good build keeps serving" : "waiting for a change";
}

function servingLine(
  { url, milliseconds, restarted, newest }: Extract<DevEvent, { event: "serving" }>,
  paint: (text: string, code: number) => string,
): string {
  if (!newest) return paint(`✗ the last good build is serving on ${url}, without the latest changes\n`, 31);
  return paint(`✓ serving on ${url}${restarted ? ` after ${milliseconds} ms` : ": the build has not changed"}\n`, 32);
}

function printTools(
  { tools, signed }: Extract<DevEvent, { event: "serving" }>,
  introduced: ReadonlySet<string>,
  { print }: CliHost,
): void {
  const added = tools.filter(({ fqn, url }) => !introduced.has(`${fqn} ${url}`));
  for (const { fqn, url } of added) print(`  ${fqn}  POST ${url}/invoke\n`);
  const [first] = added;
  if (first === undefined) return;
  const only = tools.length === 1 ? "" : ` ${first.fqn}`;
  print(`  try     npx svc-gen invoke${only} ${shellWord(first.typed)}${signed ? " --signed" : ""}\n`);
}

/** What to do about a contract that is broken without a new version. */
function adviceOf({ before, after, verdict }: Difference): string {
  const fails = verdict === "breaking" ? "callers fail" : verdict === "not decided" ? "callers may fail" : undefined;
  if (fails === undefined || before !== after || after === undefined) return "";
  return ` (${fails}: make it @${Number(after) + 1} before you publish it)`;
}
