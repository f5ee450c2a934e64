/** The calls made since `svc-gen dev` started. */

import type { CallEntry } from "../page-server/page-api.js";
import { CHECKS } from "./checks-menu.js";
import { history, showCall, shown, state } from "./store.js";

export function History() {
  const calls = history.value;
  return (
    <section class="history" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      {calls.length === 0 && <p class="hint">No calls yet.</p>}
      <ol>
        {calls.map((entry) => (
          <li key={entry.id}>
            <button
              type="button"
              aria-current={shown.value?.id === entry.id ? "true" : undefined}
              onClick={() => showCall(entry)}
            >
              <span class="line">
                <span class={`outcome ${classOf(entry)}`}>
                  {entry.status ?? ""} {entry.outcome}
                </span>{" "}
                <span class="hint">{msText(entry.ms)}</span>
              </span>
              <span class="hint facts" title={`${new Date(entry.at).toLocaleTimeString()} ${entry.preview}`}>
                {entry.fqn.split(".").at(-1)} {entry.kind === "call" ? "" : `${CHECKS[entry.kind][0]} `}
                <code>{entry.preview}</code>
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** CSS class of a call: the first variant is good, another one a warning. An error that a check expects is neither. */
export function classOf({ fqn, status, outcome, kind, holds }: CallEntry): string {
  if (holds === false) return "bad";
  if (kind !== "call" && holds === true && status !== 200) return "expected";
  if (status !== 200) return "bad";
  const first = state.value.tools.find((each) => each.fqn === fqn)?.variants[0];
  return outcome === (first ?? outcome) ? "good" : "warn";
}

export function msText(ms: number): string {
  return `${ms >= 100 ? ms.toFixed(0) : ms.toFixed(1)} ms`;
}
