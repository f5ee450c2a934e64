/** The page: tools, request, answer, history, and errors of the project. */

import { Answer } from "./answer.js";
import { History } from "./history.js";
import { Overlay } from "./overlay.js";
import { Request } from "./request.js";
import {
  actsAs,
  checkHealth,
  connected,
  health,
  healthText,
  notice,
  reload,
  select,
  signer,
  signs,
  state,
  tool,
  wantsSigned,
} from "./store.js";

export function App() {
  const { url, signed, serving, signers, source } = state.value;
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
          {!serving && url !== null && <span class="badge bad">not running</span>}
          {!connected.value && (
            <span class="badge bad" role="alert">
              disconnected from svc-gen dev
            </span>
          )}
        </p>
        {signers.length > 0 && (
          <select
            aria-label="Who signs"
            value={signs.value ? signer.value?.leaderId : ""}
            onChange={({ currentTarget }) => {
              wantsSigned.value = currentTarget.value !== "";
              if (currentTarget.value !== "") actsAs.value = currentTarget.value;
            }}
          >
            {signers.map(({ leaderId }) => (
              <option key={leaderId} value={leaderId}>
                as {leaderId}
              </option>
            ))}
            <option value="">unsigned</option>
          </select>
        )}
        <button type="button" class="small" onClick={source === "remote" ? reload : checkHealth}>
          {source === "remote" ? "Reload tools" : "Check health"}
        </button>
      </header>
      <div class="page">
        <Tools />
        <main id="main" tabIndex={-1}>
          {notice.value !== "" && (
            <p class="problem notice" role="alert">
              {notice.value}
            </p>
          )}
          {tool.value === undefined ? (
            <p>No tools yet. Export a class that extends SvcTool and save the file: its form appears here.</p>
          ) : (
            <div class="columns">
              <Request />
              <Answer />
            </div>
          )}
        </main>
        <History />
      </div>
      <Overlay />
    </>
  );
}

function Tools() {
  return (
    <nav class="tools" aria-labelledby="tools-title">
      <h2 id="tools-title">Tools</h2>
      <ul>
        {state.value.tools.map(({ fqn }) => {
          const state = health.value.get(fqn);
          const isWell = state?.status === 200;
          return (
            <li key={fqn}>
              <button
                type="button"
                aria-current={tool.value?.fqn === fqn ? "true" : undefined}
                onClick={() => select(fqn)}
              >
                <span class="name">{fqn}</span>
                <span class={isWell ? "good" : "bad"}>{isWell ? "✓" : state && healthText(state)}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
