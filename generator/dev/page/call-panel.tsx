/** The input as form and JSON, and the buttons that call. */

import type { CallKind } from "../page-server/page-api.js";
import { parseJson, type Value } from "./exact-json.js";
import { InputForm } from "./form.js";
import {
  call,
  draft,
  editExample,
  editText,
  fields,
  history,
  running,
  signs,
  state,
  tool,
  wantsSigned,
} from "./store.js";

export function CallPanel() {
  return (
    <>
      <div class="input">
        <section aria-labelledby="form-title">
          <h3 id="form-title">Input</h3>
          <InputForm />
        </section>
        <JsonPane />
      </div>
      <CallBar />
    </>
  );
}

function JsonPane() {
  const current = draft.value;
  if (current === undefined) return null;
  return (
    <section aria-labelledby="json-title" class="json">
      <h3 id="json-title">
        <label for="json">JSON</label>
      </h3>
      <textarea
        id="json"
        spellcheck={false}
        rows={Math.min(30, Math.max(8, current.text.split("\n").length + 1))}
        value={current.text}
        aria-invalid={current.fault !== ""}
        aria-describedby="json-fault"
        onInput={({ currentTarget }) => editText(currentTarget.value)}
      />
      <p id="json-fault" class="problem" role="status">
        {current.fault}
      </p>
      <Examples />
    </section>
  );
}

/** Whole inputs: the sample, and those of `@example` on the input type. */
function Examples() {
  const sample = tool.value?.sample;
  const examples = fields.value?.input.examples ?? [];
  return (
    <p>
      {sample !== undefined && (
        <button type="button" class="small" onClick={() => editExample(parseJson(sample))}>
          Sample input
        </button>
      )}
      {examples.map((example: Value, i) => (
        <button type="button" class="small" key={i} onClick={() => editExample(example)}>
          Example {i + 1}
        </button>
      ))}
    </p>
  );
}

interface Trial {
  readonly kind: CallKind;
  readonly label: string;
  readonly hint: string;
  /** Whether it shows something about signatures only. */
  readonly signed: boolean;
}

const TRIALS: readonly Trial[] = [
  { kind: "retry", label: "Exact retry", hint: "the last call's bytes again", signed: false },
  { kind: "tampered", label: "Tampered body", hint: "a value is changed after signing", signed: true },
  { kind: "wrong-key", label: "Wrong key", hint: "signed by a key that is not in the allow-list", signed: true },
];

function CallBar() {
  const { signer, signed } = state.value;
  const last = history.value.find(({ fqn }) => fqn === tool.value?.fqn);
  const fault = draft.value?.fault !== "";
  const busy = running.value !== undefined;
  const cannotSign = signer === null ? "no keys: start svc-gen dev --signed, or give --leader-key" : undefined;
  const isPointless = signed === false ? "this server runs unsigned: start svc-gen dev --signed" : cannotSign;
  return (
    <section aria-labelledby="call-title" class="bar">
      <h3 id="call-title">Call</h3>
      <div class="row">
        <button type="button" class="primary" disabled={busy || fault} onClick={() => call("call")}>
          {signs.value ? "Call signed" : "Call unsigned"}
        </button>
        <label class="switch">
          <input
            type="checkbox"
            checked={signs.value}
            disabled={signer === null}
            onChange={({ currentTarget }) => {
              wantsSigned.value = currentTarget.checked;
            }}
          />
          sign as leader {signer === null ? "" : `${signer.leaderId}, key ${signer.keyId}`}
        </label>
        <span role="status" class="hint">
          {busy ? `calling: ${running.value}…` : fault ? "the JSON has a fault" : (cannotSign ?? "")}
        </span>
      </div>
      <h4 id="trials-title">What the protocol does when…</h4>
      <ul class="trials" aria-labelledby="trials-title">
        {TRIALS.map(({ kind, label, hint, signed: wants }) => {
          const why = wants ? (isPointless ?? (signs.value ? undefined : "signed calls only")) : undefined;
          const missing = kind === "retry" && last === undefined ? "call first" : undefined;
          const reason = why ?? missing;
          return (
            <li key={kind}>
              <button
                type="button"
                disabled={busy || fault || reason !== undefined}
                onClick={() => call(kind, kind === "retry" ? last?.id : undefined)}
              >
                {label}
              </button>
              <span class="hint">{reason ?? hint}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
