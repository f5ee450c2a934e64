/** The server's log: the lines of the shown call or all of them, filtered by text. */

import { signal } from "@preact/signals";
import { logLines, shown, state } from "./store.js";
import { Box } from "./text-box.js";

const filter = signal("");
const wantsAll = signal(false);

export function LogPanel() {
  const requestId = shown.value?.exchange.requestId;
  const isOfCall = requestId !== undefined && !wantsAll.value;
  const wanted = filter.value.toLowerCase();
  const lines = logLines.value.filter(
    ({ request, text }) => (!isOfCall || request === requestId) && text.toLowerCase().includes(wanted),
  );
  return (
    <>
      <p class="row">
        <label>
          Filter{" "}
          <input
            type="search"
            value={filter.value}
            onInput={({ currentTarget }) => {
              filter.value = currentTarget.value;
            }}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={isOfCall}
            disabled={requestId === undefined}
            onChange={({ currentTarget }) => {
              wantsAll.value = !currentTarget.checked;
            }}
          />{" "}
          this call only
        </label>
        <span class="hint" role="status">
          {lines.length} {lines.length === 1 ? "line" : "lines"}
        </span>
      </p>
      {state.value.source === "remote" && <p class="hint">The log of a remote server is not available on this page.</p>}
      <Box label="Server log" copied={lines.map(({ text }) => text).join("\n")}>
        <pre>
          {lines.map(({ text, alarms }, i) => (
            <span key={i} class={alarms ? "bad" : ""}>
              {text}
              {"\n"}
            </span>
          ))}
        </pre>
      </Box>
    </>
  );
}
