/** The calls made while the page is open. */

import type { CallReport } from "../page-server/page-api.js";
import { drafts, editText, history, select, shown, shownId, view } from "./store.js";

export function History() {
  const calls = history.value;
  if (calls.length === 0) return null;
  return (
    <>
      <h2>History</h2>
      <ol class="history">
        {calls.map((report) => (
          <li key={report.id}>
            <button
              type="button"
              aria-current={shown.value?.id === report.id ? "true" : undefined}
              onClick={() => show(report)}
            >
              <span class="name">
                {new Date(report.at).toLocaleTimeString()} {report.kind}
              </span>
              <span class={report.holds === false ? "bad" : "hint"}>
                {report.fqn.split(".").at(-1)}: {answerOf(report)}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Shows a call, with its input in the form. */
function show(report: CallReport): void {
  select(report.fqn);
  shownId.value = report.id;
  view.value = "call";
  if (drafts.value.size > 0) editText(report.input);
}

function answerOf({ exchange: { response, result, error } }: CallReport): string {
  return response === null ? "no answer" : `${response.status} ${result?.variant ?? error?.code ?? ""}`;
}
