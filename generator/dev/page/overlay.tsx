/** What lies over the page: the errors of the last run, and a text to copy. */

import { signal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Text } from "./scrollable.js";
import { shared, state } from "./store.js";

const hidden = signal<unknown>(undefined);

/** The errors of the sources with their frames, while the last good server serves. */
export function Overlay() {
  const { problems, serving, source } = state.value;
  if (problems.length === 0 || hidden.value === problems) return null;
  return (
    <section class="overlay" role="alert" aria-label="Errors">
      <div class="row">
        <h2>
          {problems.length} {problems.length === 1 ? "error" : "errors"};{" "}
          {!serving
            ? "nothing serves"
            : source === "remote"
              ? "the other tools are shown"
              : "the last good build keeps serving"}
        </h2>
        <button
          type="button"
          onClick={() => {
            hidden.value = problems;
          }}
        >
          Hide
        </button>
      </div>
      {problems.map(({ title, text }) => (
        <Text key={`${title} ${text}`} label={title} text={text} />
      ))}
    </section>
  );
}

/** A text to copy, in a dialog: what the clipboard has, or what can be selected where there is none. */
export function ShareDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useSignalEffect(() => {
    if (shared.value !== undefined && dialog.current?.open === false) dialog.current.showModal();
  });
  return (
    <dialog
      ref={dialog}
      aria-labelledby="share-title"
      onClose={() => {
        shared.value = undefined;
      }}
    >
      <h2 id="share-title">{shared.value?.title}</h2>
      <p class="hint">Copied to the clipboard, where the browser allows it.</p>
      <Text label="Text to copy" text={shared.value?.text ?? ""} />
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
