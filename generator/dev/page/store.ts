/** State of the page: the server's state, the edited inputs, and the calls. */

import { computed, effect, signal } from "@preact/signals";
import type {
  CallEntry,
  CallKind,
  ContractView,
  ExchangeReport,
  HealthView,
  LogEvent,
  PageState,
  ToolView,
} from "../page-server/page-api.js";
import { JsonFault, parseValue, printValue, sameValue, type Value } from "./form/exact-json.js";
import { Fields, HIDDEN } from "./form/field-schema.js";

const EMPTY: PageState = {
  source: "project",
  url: null,
  signed: null,
  tools: [],
  problems: [],
  serving: false,
  signers: [],
};

export const state = signal<PageState>(EMPTY);
export const connected = signal(true);
const selectedName = signal("");
export const inputView = signal<"form" | "json">("form");
export const answerView = signal<"exchange" | "signatures" | "log" | "contract">("exchange");
/** ID of the leader that the user chose. */
export const actsAs = signal<string | undefined>(undefined);
export const wantsSigned = signal<boolean | undefined>(undefined);
export const health = signal<ReadonlyMap<string, HealthView>>(new Map());
export const logLines = signal<readonly LogEvent[]>([]);
/** Calls, newest first. */
export const history = signal<readonly CallEntry[]>([]);
const report = signal<ExchangeReport | undefined>(undefined);
export const running = signal<CallKind | undefined>(undefined);
/** ID of the last call that this page made. */
export const called = signal<string | undefined>(undefined);
export const notice = signal("");
export const contract = signal<ContractView | undefined>(undefined);

/** An edited input: its text, with secrets hidden unless they are being typed, and the last valid value of the text. */
export interface Draft {
  readonly text: string;
  readonly value: Value;
  readonly fault: string;
  readonly schema: string;
}

/** Drafts by tool name without version. */
export const drafts = signal<ReadonlyMap<string, Draft>>(new Map());

const nameOf = (fqn: string) => fqn.split("@")[0] ?? fqn;

export const tool = computed<ToolView | undefined>(() => {
  const { tools } = state.value;
  return tools.find(({ fqn }) => nameOf(fqn) === selectedName.value) ?? tools[0];
});
export const fields = computed(() => (tool.value === undefined ? undefined : new Fields(tool.value.inputSchema)));
export const draft = computed(() => (tool.value === undefined ? undefined : drafts.value.get(nameOf(tool.value.fqn))));
/** Whether calls are signed: the user's choice, or by default whether the server requires it. */
export const signs = computed(
  () => state.value.signers.length > 0 && (wantsSigned.value ?? state.value.signed !== false),
);
/** The leader that signs: the chosen one, or the first. */
export const signer = computed(() => {
  const { signers } = state.value;
  return signers.find(({ leaderId }) => leaderId === actsAs.value) ?? signers[0];
});
/** Call whose answer is shown. */
export const shown = computed(() => (report.value?.fqn === tool.value?.fqn ? report.value : undefined));
export const canCall = computed(() => running.value === undefined && draft.value?.fault === "");
/** Path in the error of the shown call, if it is a member of the input. */
export const errorAt = computed(() => {
  const error = shown.value?.exchange.error;
  return error?.path ? { path: error.path, text: error.details ?? "" } : undefined;
});

/** Selects a tool and shows its last answer. */
export function select(fqn: string): void {
  selectedName.value = nameOf(fqn);
  const last = history.value.find((entry) => entry.fqn === tool.value?.fqn);
  if (last !== undefined && shown.value === undefined) void loadReport(last.id);
}

async function loadReport(id: string): Promise<void> {
  await noticing(async () => {
    report.value = await post<ExchangeReport>("report", { id });
  });
}

/** Shows a call and puts its input into the form. */
export async function showCall({ id, fqn }: CallEntry): Promise<void> {
  selectedName.value = nameOf(fqn);
  await loadReport(id);
  if (shown.value?.id === id) editText(shown.value.input);
}

/**
 * Shows the last call after the page was reloaded. Adapts its input if the contract has changed; drops the input if the
 * user has already typed.
 */
async function restore({ id, fqn }: CallEntry): Promise<void> {
  selectedName.value = nameOf(fqn);
  const before = draft.value;
  await loadReport(id);
  if (shown.value?.id !== id || draft.value !== before) return;
  editText(shown.value.input);
  const all = fields.value;
  const input = draft.value;
  if (all !== undefined && input?.fault === "") editValue(all.reconcile(input.value, all.root));
}

export function verdictText({ verdict, holds }: CallEntry, subject = ""): string {
  return `${holds === null ? "–" : holds ? "✓" : "✗"} ${subject}${verdict ?? ""}`;
}

function setDraft(change: (before: Draft) => Draft): void {
  const current = tool.value;
  if (current === undefined) return;
  const name = nameOf(current.fqn);
  const before = drafts.value.get(name);
  if (before !== undefined) drafts.value = new Map(drafts.value).set(name, change(before));
}

export function editValue(value: Value): void {
  setDraft((before) => ({ ...before, value, text: shownText(value), fault: "" }));
}

/** Fills in an example but keeps secrets that the user typed. */
export function editExample(value: Value): void {
  const all = fields.value;
  const before = draft.value?.value;
  if (all !== undefined)
    editValue(
      all.revealed(
        all.mapSecrets(value, () => HIDDEN),
        before,
      ),
    );
}

function shownText(value: Value, all = fields.value): string {
  return printValue(all?.hidden(value) ?? value);
}

export function editText(text: string): void {
  setDraft((before) => {
    try {
      const value = parseValue(text);
      return { ...before, text, value: fields.value?.revealed(value, before.value) ?? value, fault: "" };
    } catch (error) {
      if (error instanceof JsonFault) return { ...before, text, fault: error.message };
      throw error;
    }
  });
}

/** Hides the secrets that the user typed into the JSON. */
export function hideTyped(): void {
  const input = draft.value;
  if (input?.fault !== "") return;
  if (!sameValue(parseValue(input.text), fields.value?.hidden(input.value))) editValue(input.value);
}

/** Creates drafts for new tools, and adapts those whose schema has changed. */
effect(() => {
  const next = new Map(drafts.peek());
  for (const { fqn, inputSchema, sample } of state.value.tools) {
    const name = nameOf(fqn);
    const old = next.get(name);
    if (old?.schema === inputSchema) continue;
    const own = new Fields(inputSchema);
    const value = old === undefined ? own.mapSecrets(parseValue(sample), () => "") : own.reconcile(old.value, own.root);
    next.set(name, { value, text: shownText(value, own), fault: "", schema: inputSchema });
  }
  drafts.value = next;
});

async function post<T>(name: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`api/${name}`, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as T & { readonly error?: string };
  if (!response.ok) throw new Error(answer.error ?? `${response.status}`);
  return answer;
}

async function noticing(work: () => Promise<void>): Promise<void> {
  notice.value = "";
  try {
    await work();
  } catch (error) {
    notice.value = error instanceof Error ? error.message : String(error);
  }
}

export async function call(kind: CallKind, of?: string): Promise<void> {
  const current = tool.value;
  const input = draft.value;
  if (current === undefined || input === undefined || !canCall.value) return;
  running.value = kind;
  await noticing(async () => {
    const secrets = fields.value?.secretsOf(input.value) ?? [];
    const text = secrets.length === 0 ? input.text : printValue(input.value);
    const hidden = secrets.length === 0 ? {} : { shown: shownText(input.value), secrets };
    const request = {
      fqn: current.fqn,
      kind,
      signed: signs.value,
      as: signer.value?.leaderId,
      input: text,
      ...hidden,
      ...(of !== undefined && { of }),
    };
    report.value = await post<ExchangeReport>("call", request);
    called.value = report.value.id;
  });
  running.value = undefined;
}

export async function checkHealth(): Promise<void> {
  const { tools } = state.value;
  const found = await Promise.all(
    tools.map(async ({ fqn }) => [fqn, await post<HealthView>("health", { fqn }).catch(() => undefined)] as const),
  );
  health.value = new Map(found.flatMap(([fqn, each]) => (each === undefined ? [] : [[fqn, each] as const])));
}

export function healthText({ status, failure }: HealthView): string {
  return `${status === 200 ? "✓" : "✗"} health ${status ?? failure}`;
}

/** Loads the contract of the shown tool. */
export async function loadContract(): Promise<void> {
  const fqn = tool.value?.fqn;
  await noticing(async () => {
    const view = await post<ContractView>("contract", { fqn });
    if (tool.value?.fqn === fqn) contract.value = view;
  });
}

effect(() => {
  if (tool.value !== undefined && answerView.peek() === "contract") void loadContract();
});

/** Reads the tools of the remote server and their health again. */
export async function reload(): Promise<void> {
  await noticing(async () => {
    await post("reload", {});
    await checkHealth();
  });
}

const MAX_LINES = 2000;
const MAX_CALLS = 200;

export function connect(): void {
  const events = new EventSource("api/events");
  events.addEventListener("open", () => {
    connected.value = true;
  });
  events.addEventListener("error", () => {
    connected.value = false;
  });
  events.addEventListener("state", ({ data }: MessageEvent<string>) => {
    state.value = JSON.parse(data) as PageState;
    if (state.value.serving) void checkHealth();
  });
  events.addEventListener("history", ({ data }: MessageEvent<string>) => {
    history.value = JSON.parse(data) as readonly CallEntry[];
    const [last] = history.value;
    if (last !== undefined && report.value === undefined) void restore(last);
  });
  events.addEventListener("call", ({ data }: MessageEvent<string>) => {
    history.value = [JSON.parse(data) as CallEntry, ...history.value].slice(0, MAX_CALLS);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void call("call");
  });
  let isFirst = true;
  events.addEventListener("log", ({ data }: MessageEvent<string>) => {
    const lines = JSON.parse(data) as readonly LogEvent[];
    logLines.value = [...(isFirst ? [] : logLines.value), ...lines].slice(-MAX_LINES);
    isFirst = false;
  });
  events.addEventListener("open", () => {
    // After a reconnect the server sends all lines again.
    isFirst = true;
  });
}
