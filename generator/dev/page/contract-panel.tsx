/** The contract: changes since git HEAD, ports, schemas and metadata. */

import { INPUT_BUDGET, MAX_RESULT_BYTES, MAX_VALUES } from "svc-runtime/internal/protocol";
import type { PortView, ToolView } from "../page-server/page-api.js";
import { parseValue, printValue } from "./form/exact-json.js";
import { contract, tool } from "./store.js";
import { Text } from "./text-box.js";

export function ContractPanel() {
  const current = tool.value;
  const view = contract.value;
  if (current === undefined) return null;
  const changed = view?.differences.filter(({ verdict }) => verdict !== "same") ?? [];
  return (
    <>
      <p class="hint">{view?.against ?? "…"}</p>
      {view?.broken === true && (
        <p class="problem" role="alert">
          Breaking change: existing callers will fail. Raise the version in fqn(), or undo the change.
        </p>
      )}
      {view !== undefined && view.differences.length > 0 && changed.length === 0 && (
        <p>The contracts have not changed.</p>
      )}
      <ul>
        {changed.map(({ tool: name, verdict, versions, changes }) => (
          <li key={name}>
            <strong>
              {name} {versions}
            </strong>
            : <span class={verdict === "breaking" || verdict === "not decided" ? "bad" : "good"}>{verdict}</span>
            <ul>
              {changes.map(({ kind, port, change }) => (
                <li key={`${port} ${change}`}>
                  {kind}: {port === null ? "" : `${port}: `}
                  {change}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <Ports current={current} />
      {[
        ["Input schema", current.inputSchema],
        ["Output schema", current.outputSchema],
        ["Metadata document", current.metadata],
      ].map(([title = "", text = ""]) => (
        <details key={title}>
          <summary>{title}</summary>
          <Text label={title} text={printValue(parseValue(text))} />
        </details>
      ))}
    </>
  );
}

function Ports({ current }: { readonly current: ToolView }) {
  const port = ({ name, many }: PortView) => (
    <li key={name}>
      <strong>{name}</strong> <span class="hint">data, {many ? `many (1 to ${MAX_VALUES})` : "one"}</span>
    </li>
  );
  return (
    <>
      <h3>Input ports</h3>
      <p class="hint">
        Inputs have at most {INPUT_BUDGET / 2 ** 20} MiB, results {MAX_RESULT_BYTES / 1024} KiB, lists 1 to {MAX_VALUES}{" "}
        values.
      </p>
      <ol>{current.inputPorts.map(port)}</ol>
      {current.variants.map(({ name, ports }) => (
        <div key={name}>
          <h3>Output variant {name}</h3>
          <ol>{ports.map(port)}</ol>
        </div>
      ))}
    </>
  );
}
