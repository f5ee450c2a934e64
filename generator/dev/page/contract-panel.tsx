/** The contract: changes since git HEAD, ports, schemas and metadata. */

import { INPUT_BUDGET, MAX_RESULT_BYTES, MAX_VALUES } from "svc-runtime/internal/protocol";
import type { PortView, ToolView } from "../page-server/page-api.js";
import { isList, parseValue, printValue } from "./form/exact-json.js";
import { asSchema, Fields, type Schema, typeText } from "./form/field-schema.js";
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
  const input = new Fields(current.inputSchema);
  const output = new Fields(current.outputSchema);
  const variants = output.root.get("oneOf");
  const portsOf = (all: Fields, ports: readonly PortView[], root: Schema | undefined) => {
    const field = root && all.field(root);
    const members = field?.kind === "object" ? field.members : [];
    return (
      <table>
        <tbody>
          {ports.map(({ name, many }) => {
            const member = members.find((each) => each.name === name);
            const rules = member && all.field(member.schema).rules.split(" · ").slice(1).join(" · ");
            return (
              <tr key={name}>
                <th scope="row">
                  {name}
                  {member?.required === false && "?"}
                </th>
                <td>
                  <code>{member && typeText(all, member.schema)}</code>
                  <div class="hint">
                    {[many && `many: 1 to ${MAX_VALUES} values`, rules].filter(Boolean).join(" · ")}
                  </div>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    );
  };
  const variantSchema = (name: string) =>
    (isList(variants) ? variants : [])
      .map((each) => asSchema(asSchema(asSchema(each).get("properties")).get(name)))
      .find((each) => each.size > 0);
  return (
    <>
      <h3>Input ports</h3>
      <p class="hint">
        Inputs have at most {INPUT_BUDGET / 2 ** 20} MiB, results {MAX_RESULT_BYTES / 1024} KiB, lists 1 to {MAX_VALUES}{" "}
        values.
      </p>
      {portsOf(input, current.inputPorts, input.root)}
      {current.variants.map(({ name, ports }) => (
        <div key={name}>
          <h3>Output variant {name}</h3>
          {portsOf(output, ports, variantSchema(name))}
        </div>
      ))}
    </>
  );
}
