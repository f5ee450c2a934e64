/** The page: tools, request, answer, history, and errors of the project. */

import { Answer } from "./answer.js";
import { History } from "./history.js";
import { Overlay } from "./overlay.js";
import { Request } from "./request.js";
import { checkHealth, connected, health, notice, reload, select, state, tool } from "./store.js";

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
          {!serving && url !== null && <span class="badge bad">not running</span>}
          {!connected.value && (
            <span class="badge bad" role="alert">
              disconnected from svc-gen dev
            </span>
          )}
        </p>
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
            <p>No tools yet.</p>
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
                <span class={state === undefined ? "hint" : isWell ? "good" : "bad"}>
                  {isWell ? "✓" : state === undefined ? "·" : "✗"}{" "}
                  {state === undefined ? "health unknown" : `health ${state.status ?? state.failure}`}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
