/** The whole page: tools, the chosen tool, history, and what is wrong. */

import { CallPanel } from "./call-panel.js";
import { ContractPanel } from "./contract-panel.js";
import { parseJson, printJson } from "./exact-json.js";
import { History } from "./history.js";
import { Overlay } from "./overlay.js";
import { Report } from "./report.js";
import { Text } from "./scrollable.js";
import {
  checkHealth,
  connected,
  health,
  loadContract,
  logLines,
  notice,
  reload,
  select,
  state,
  tool,
  view,
} from "./store.js";

export function App() {
  const { url, signed, serving, source } = state.value;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the tool
      </a>
      <header>
        <h1>svc-gen dev</h1>
        <p>
          {url ?? "no server yet"}{" "}
          {signed !== null && <span class="badge">{signed ? "signatures required" : "unsigned"}</span>}{" "}
          {!serving && url !== null && <span class="badge bad">not serving</span>}
          {!connected.value && (
            <span class="badge bad" role="alert">
              svc-gen dev does not answer
            </span>
          )}
        </p>
        <button type="button" class="small" onClick={source === "remote" ? reload : checkHealth}>
          {source === "remote" ? "Read again" : "Check health"}
        </button>
      </header>
      <div class="page">
        <nav aria-label="Tools">
          <Tools />
          <History />
        </nav>
        <main id="main" tabIndex={-1}>
          {notice.value !== "" && (
            <p class="problem notice" role="alert">
              {notice.value}
            </p>
          )}
          {tool.value === undefined ? <p>No tools are served yet.</p> : <Tool />}
        </main>
      </div>
      <Overlay />
    </>
  );
}

function Tools() {
  return (
    <>
      <h2>Tools</h2>
      <ul class="tools">
        {state.value.tools.map(({ fqn }) => {
          const state = health.value.get(fqn);
          const isWell = state?.status === 200;
          const said = state === undefined ? "health unknown" : `health ${state.status ?? state.failure}`;
          return (
            <li key={fqn}>
              <button
                type="button"
                aria-current={tool.value?.fqn === fqn ? "true" : undefined}
                onClick={() => select(fqn)}
              >
                <span class="name">{fqn}</span>
                <span class={state === undefined ? "hint" : isWell ? "good" : "bad"}>
                  {isWell ? "✓" : state === undefined ? "·" : "✗"} {said}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}

const VIEWS = [
  ["call", "Call"],
  ["contract", "Contract"],
  ["log", "Log"],
] as const;

function Tool() {
  const current = tool.value;
  if (current === undefined) return null;
  const { fqn, description, timeoutMs, url } = current;
  return (
    <>
      <h2>{fqn}</h2>
      <p class="description">{description}</p>
      <p class="hint">
        POST {url}/invoke · timeout {timeoutMs} ms · inputs at most 8 MiB, results 256 KiB, lists 1 to 256 values
      </p>
      <nav class="views" aria-label="Views">
        {VIEWS.map(([name, label]) => (
          <button
            type="button"
            key={name}
            aria-current={view.value === name ? "page" : undefined}
            onClick={() => {
              view.value = name;
              if (name === "contract") void loadContract();
            }}
          >
            {label}
          </button>
        ))}
      </nav>
      {view.value === "call" && (
        <>
          <Ports />
          <CallPanel />
          <Report />
        </>
      )}
      {view.value === "contract" && (
        <>
          <Ports />
          <ContractPanel />
          <h3>Metadata document</h3>
          <Text label="Metadata document" text={printJson(parseJson(current.metadata))} />
        </>
      )}
      {view.value === "log" && (
        <Text label="Log of the server" text={logLines.value.map(({ text }) => text).join("\n") || "No lines yet."} />
      )}
    </>
  );
}

function Ports() {
  const current = tool.value;
  if (current === undefined) return null;
  const port = ({ name, many }: { readonly name: string; readonly many: boolean }) => (
    <li key={name}>
      <strong>{name}</strong> <span class="hint">data, {many ? "many (1 to 256)" : "one"}</span>
    </li>
  );
  return (
    <details class="ports">
      <summary>
        Ports: {current.inputPorts.length} in, {current.variants.length}{" "}
        {current.variants.length === 1 ? "variant" : "variants"} out
      </summary>
      <h3>Input, in order</h3>
      <ol>{current.inputPorts.map(port)}</ol>
      {current.variants.map(({ name, ports }) => (
        <div key={name}>
          <h3>Output variant {name}</h3>
          <ol>{ports.map(port)}</ol>
        </div>
      ))}
    </details>
  );
}
