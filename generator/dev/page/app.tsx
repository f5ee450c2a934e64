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
import { Text } from "./text-box.js";

const FIRST_TOOL = `import { SvcTool } from "svc-runtime";

/** Greets a person. */
export class Hello extends SvcTool<{ name: string }, { ok: { greeting: string } }> {
  static override fqn() { return "xyz.example.hello@1"; }
  static override path() { return "hello"; }

  override invoke({ name }: { name: string }) {
    return { ok: { greeting: "Hello, " + name } };
  }
}
`;

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
            <section class="empty">
              <h2>No tools yet</h2>
              {source === "project" ? (
                <>
                  <p>Save this as src/hello.ts, or export another class that extends SvcTool. Its form appears here.</p>
                  <Text label="First tool" text={FIRST_TOOL} as="code" caption="src/hello.ts" />
                </>
              ) : (
                <p>The server lists no tools. Check its address, then press Reload tools.</p>
              )}
            </section>
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
                <span class="scope">{fqn.slice(0, fqn.lastIndexOf(".") + 1)}</span>
                <span class="name">{fqn.slice(fqn.lastIndexOf(".") + 1)}</span>
                <span class={isWell ? "good" : "bad"} title={state && healthText(state)}>
                  {isWell ? "✓" : state && `✗ ${state.status ?? ""}`}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
