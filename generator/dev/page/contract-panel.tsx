/** The contract: its types, changes since git HEAD, and metadata. */

import { parseValue, printValue } from "./form/exact-json.js";
import { contract, tool } from "./store.js";
import { Text } from "./text-box.js";

export function ContractPanel() {
  const current = tool.value;
  const view = contract.value;
  if (current === undefined) return null;
  return (
    <>
      <p class="hint">{view?.against ?? "…"}</p>
      {view?.broken === true && (
        <p class="problem" role="alert">
          Breaking change: existing callers will fail. Raise the version in fqn(), or undo the change.
        </p>
      )}
      {view !== undefined && view.changes !== "" && <Text label="Changes" text={view.changes} caption="Changes" />}
      {view !== undefined && <Text label="Types" text={view.types} caption="Types" as="code" />}
      <details>
        <summary>Metadata document</summary>
        <Text label="Metadata document" text={printValue(parseValue(current.metadata))} />
      </details>
    </>
  );
}
