/** The request: the input as a form or as JSON, and the call buttons. */

import { ChecksMenu } from "./checks-menu.js";
import { parseValue, type Value } from "./form/exact-json.js";
import { InputForm } from "./form/form.js";
import {
  call,
  canCall,
  draft,
  editExample,
  editText,
  fields,
  health,
  healthText,
  hideTyped,
  inputView,
  running,
  shown,
  signs,
  state,
  tool,
} from "./store.js";
import { Tabs } from "./tabs.js";
import { Copy } from "./text-box.js";

export function Request() {
  const current = tool.value;
  if (current === undefined) return null;
  const address = `${current.url}/invoke`;
  const well = health.value.get(current.fqn);
  return (
    <section class="request" aria-labelledby="request-title">
      <div class="body">
        <h2 id="request-title">
          {current.fqn}{" "}
          {well !== undefined && (
            <span class={`badge ${well.status === 200 ? "good" : "bad"}`}>{healthText(well)}</span>
          )}
        </h2>
        <p>{current.description}</p>
        <p class="hint">
          POST {address} · timeout {current.timeoutMs} ms
          {current.effects.map((effect) => ` · ${effect}`)} <Copy text={address} label="address" />
        </p>
        <Tabs
          id="input"
          label="Input"
          tabs={[
            ["form", "Form"],
            ["json", "JSON"],
          ]}
          current={inputView.value}
          onSelect={(name) => {
            inputView.value = name;
          }}
        >
          <Examples />
          {draft.value?.fault && inputView.value === "form" && (
            <p class="problem">The JSON is invalid, so the form shows the last valid value: {draft.value.fault}</p>
          )}
          {inputView.value === "form" ? <InputForm /> : <Editor />}
        </Tabs>
      </div>
      <CallBar />
    </section>
  );
}

function Editor() {
  const current = draft.value;
  if (current === undefined) return null;
  return (
    <>
      <textarea
        id="json"
        class="editor hex"
        aria-label="JSON"
        spellcheck={false}
        autocomplete="off"
        wrap="off"
        value={current.text}
        aria-invalid={current.fault !== ""}
        aria-describedby="json-fault"
        onInput={({ currentTarget }) => editText(currentTarget.value)}
        onBlur={hideTyped}
      />
      <p id="json-fault" class="problem" role="status">
        {current.fault}
      </p>
    </>
  );
}

/** Buttons for complete inputs: the sample, and each `@example` of the input type. */
function Examples() {
  const sample = tool.value?.sample;
  const examples = fields.value?.input.examples ?? [];
  return (
    <p class="row">
      {sample !== undefined && (
        <button type="button" class="small" onClick={() => editExample(parseValue(sample))}>
          Sample input
        </button>
      )}
      {examples.map((example: Value, i) => (
        <button type="button" class="small" key={i} onClick={() => editExample(example)}>
          Example {i + 1}
        </button>
      ))}
      <Copy text={draft.value?.text ?? ""} label="input" />
    </p>
  );
}

function CallBar() {
  const { signers } = state.value;
  const report = shown.value;
  const hasFault = draft.value?.fault !== "";
  const isBusy = running.value !== undefined;
  return (
    <div class="bar">
      <button
        type="button"
        class="primary"
        aria-keyshortcuts="Control+Enter"
        disabled={!canCall.value}
        onClick={() => call("call")}
      >
        {signs.value ? "Call signed" : "Call unsigned"}{" "}
        <span class="kbd" aria-hidden="true">
          Ctrl ⏎
        </span>
      </button>
      <ChecksMenu />
      <span class="hint">
        {isBusy
          ? "calling…"
          : hasFault
            ? "the JSON is invalid"
            : signers.length === 0 && state.value.signed !== false
              ? "no keys: start svc-gen dev --signed, or pass --leader-key"
              : ""}
      </span>
      {report !== undefined && !isBusy && (
        <a class="to-answer" href="#answer">
          {report.status ?? "no answer"} {report.status !== null && report.outcome} ↓
        </a>
      )}
    </div>
  );
}
