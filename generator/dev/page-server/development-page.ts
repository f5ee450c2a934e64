/** The development page. It follows the events of `svc-gen dev`, or shows a remote server. */

import type { ToolHints } from "svc-runtime/internal/generator";
import { type Diagnostic, errorsIn, formatDiagnostics } from "../../compile/diagnostics/diagnostics.js";
import { exchange } from "../../http/exchange.js";
import { toolsAt } from "../../http/tools-at.js";
import { blockedText, type DevEvent } from "../dev-session.js";
import { CallHistory, entryOf } from "./calls/call-history.js";
import { Caller, type CallerOptions } from "./calls/calls.js";
import { contractView } from "./contract-view.js";
import { logEvent } from "./log-events.js";
import { openApiText } from "./openapi-document.js";
import type { ExchangeReport, HealthView, LogEvent, PageCall, PageState, ProblemView } from "./page-api.js";
import { PageFault } from "./page-fault.js";
import { type PageAddress, type PageContent, PageServer } from "./page-server.js";
import { remoteServer } from "./remote-tools.js";
import { type ShownTool, shownTools } from "./tool-views.js";

/** Exactly one of `root` and `url` is set. */
export interface PageOptions {
  /** Folder of the tool project. */
  readonly root?: string;
  /** Address of the remote server. */
  readonly url?: string;
  /** Returns the leader's keys and options. Called after each start of the tool server: the first one creates keys. */
  readonly leader: () => CallerOptions;
  /** Address of the page; by default 127.0.0.1 and a port that the system chooses. */
  readonly address?: PageAddress;
  readonly mcp?: PageContent["mcp"];
}

/** Maximum number of log lines sent to a newly opened page. */
const MAX_LINES = 500;
const MAX_SECRETS = 100;
/** Milliseconds during which log lines are collected before they are sent. */
const FLUSH_MS = 30;
const HEALTH_TIMEOUT_MS = 15_000;

export class DevelopmentPage {
  readonly #server: PageServer;
  readonly #lines: LogEvent[] = [];
  readonly #unsent: LogEvent[] = [];
  #flushing: NodeJS.Timeout | undefined;
  #tools: readonly ShownTool[] = [];
  #metaJson = "";
  #hints: ReadonlyMap<string, ToolHints> = new Map();
  /** OpenAPI document of the current build; created at the first request, because it takes seconds for 200 tools. */
  #openApi: string | undefined;
  /** Secrets of recent calls, which are hidden in log lines. */
  #secrets: readonly string[] = [];
  readonly #history = new CallHistory();
  #caller = new Caller({}, this.#history);
  /** The project's server, while it is running. */
  #served: { readonly url: string; readonly signed: boolean } | null = null;
  #state: PageState;

  readonly #options: PageOptions;

  constructor(options: PageOptions) {
    this.#options = options;
    const source = options.url === undefined ? "project" : "remote";
    this.#state = { source, url: null, signed: null, tools: [], problems: [], serving: false, signers: [] };
    const endpoints = {
      call: (request: PageCall) => this.#call(request),
      health: ({ fqn }: { readonly fqn: string }) => this.#health(fqn),
      report: ({ id }: { readonly id: string }) => this.#history.report(id),
      contract: ({ fqn }: { readonly fqn: string }) =>
        contractView(options.root, this.#metaJson, this.#tool(fqn).view.metadata),
      reload: () => (options.url === undefined ? undefined : this.#readRemote(options.url)),
    };
    this.#server = new PageServer({
      endpoints,
      events: () => {
        // A new page gets all lines, so those that wait are sent to the other pages first.
        this.#flush();
        return [
          ["state", this.#state],
          ["log", this.#lines],
          ["history", this.#history.entries()],
        ];
      },
      served: () => this.#served,
      openApi: () => this.#openApiText(),
      mcp: options.mcp,
    });
  }

  /** Address for the browser. */
  get url(): string {
    return this.#server.url;
  }

  /** @throws PageFault if the port is taken; errors of Node's `listen` and of `leader` */
  async open(): Promise<void> {
    this.#caller = new Caller(this.#options.leader(), this.#history);
    await this.#server.listen(this.#options.address);
    if (this.#options.url !== undefined) await this.#readRemote(this.#options.url);
  }

  close(): Promise<void> {
    clearTimeout(this.#flushing);
    return this.#server.close();
  }

  /** Updates the page for an event of the project. */
  async follow(event: DevEvent, metaJson: () => string): Promise<void> {
    switch (event.event) {
      case "run": {
        const errors = errorsIn(event.diagnostics);
        return this.#update({ problems: errors.map(problemOf), serving: event.serving });
      }
      case "serving":
        this.#served = { url: event.url, signed: event.signed };
        return this.#show(event, metaJson());
      case "failed":
        return this.#update({
          problems: [{ title: "the server did not start", text: event.reason }],
          serving: event.serving,
        });
      case "ended":
        this.#served = null;
        return this.#update({ problems: [{ title: "the server stopped", text: event.reason }], serving: false });
      case "blocked": {
        const problem = { title: "the server is blocked", text: blockedText(event.seconds) };
        return this.#update({ problems: event.seconds === 0 ? [] : [problem] });
      }
      case "line": {
        const line = logEvent(event.line, this.#secrets);
        if (line === undefined) return;
        this.#lines.push(line);
        if (this.#lines.length > MAX_LINES) this.#lines.shift();
        this.#unsent.push(line);
        this.#flushing ??= setTimeout(() => this.#flush(), FLUSH_MS);
      }
    }
  }

  async #show({ url, signed, newest }: Extract<DevEvent, { event: "serving" }>, metaJson: string): Promise<void> {
    try {
      this.#tools = shownTools(metaJson, url);
      this.#metaJson = metaJson;
      this.#openApi = undefined;
      this.#caller = new Caller(this.#options.leader(), this.#history);
      this.#update({ url, signed, ...(newest && { problems: [] }), serving: true, ...this.#shown() });
      const { hints } = await toolsAt(url, undefined);
      if (this.#metaJson !== metaJson || this.#state.url !== url) return;
      this.#tools = shownTools(metaJson, url, hints);
      this.#hints = hints;
      this.#openApi = undefined;
      this.#update(this.#shown());
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#update({ problems: [{ title: "the tools cannot be shown", text }], serving: true });
    }
  }

  /** Sends the collected lines together, because a tool may log thousands each second. */
  #flush(): void {
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
    if (this.#unsent.length > 0) this.#server.send("log", this.#unsent.splice(0).slice(-MAX_LINES));
  }

  #update(change: Partial<PageState>): void {
    this.#state = { ...this.#state, ...change };
    this.#server.send("state", this.#state);
  }

  #shown(): Pick<PageState, "tools" | "signers"> {
    return { tools: this.#tools.map(({ view }) => view), signers: this.#caller.signers };
  }

  async #readRemote(url: string): Promise<void> {
    try {
      const options = this.#options.leader();
      this.#caller = new Caller(options, this.#history);
      const { address, tools, signed, problems } = await remoteServer(url, options.tls);
      this.#tools = tools;
      this.#update({ url: address, signed, problems, serving: true, ...this.#shown() });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#update({ url, problems: [{ title: "the server cannot be read", text }], serving: false });
    }
  }

  #tool(fqn: string): ShownTool {
    const found = this.#tools.find(({ view }) => view.fqn === fqn);
    if (found === undefined) throw new PageFault("this tool is no longer served");
    return found;
  }

  async #call(request: PageCall): Promise<ExchangeReport> {
    const { view, ports } = this.#tool(request.fqn);
    this.#secrets = [...new Set([...[request.secrets ?? []].flat(), ...this.#secrets])].slice(0, MAX_SECRETS);
    const report = await this.#caller.run(request, view, ports, this.#state.signed);
    this.#server.send("call", entryOf(report));
    return report;
  }

  #openApiText(): string | undefined {
    const { url, signed } = this.#state;
    const { root } = this.#options;
    if (root === undefined || url === null || signed === null) return undefined;
    this.#openApi ??= openApiText({ root, metaJson: this.#metaJson, url, signed, hints: this.#hints });
    return this.#openApi;
  }

  async #health(fqn: string): Promise<HealthView> {
    const { view } = this.#tool(fqn);
    const { tls } = this.#options.leader();
    const { response, failure } = await exchange({
      method: "GET",
      url: new URL(`${view.url}/health`),
      timeoutMs: HEALTH_TIMEOUT_MS,
      tls,
    });
    return { status: response?.status ?? null, failure: failure?.message ?? null };
  }
}

function problemOf(diagnostic: Diagnostic): ProblemView {
  return { title: diagnostic.message, text: formatDiagnostics([diagnostic], false) };
}
