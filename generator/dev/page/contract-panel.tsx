/** The contract beside the one in git HEAD, and the schemas. */

import { parseJson, printJson } from "./exact-json.js";
import { Text } from "./scrollable.js";
import { contract, tool } from "./store.js";

export function ContractPanel() {
  const current = tool.value;
  const view = contract.value;
  if (current === undefined) return null;
  const changed = view?.differences.filter(({ verdict }) => verdict !== "same") ?? [];
  return (
    <section aria-labelledby="contract-title" class="contract">
      <h3 id="contract-title">Contract</h3>
      <p class="hint">{view?.against ?? "…"}</p>
      {view?.broken === true && (
        <p class="problem" role="alert">
          A contract is broken: callers fail. Raise the version in fqn(), or take the change back.
        </p>
      )}
      {view !== undefined && view.differences.length > 0 && changed.length === 0 && <p>No tool has changed.</p>}
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
      {[
        ["Input schema", current.inputSchema],
        ["Output schema", current.outputSchema],
      ].map(([title = "", text = ""]) => (
        <details key={title}>
          <summary>{title}</summary>
          <Text label={title} text={printJson(parseJson(text))} />
        </details>
      ))}
    </section>
  );
}
