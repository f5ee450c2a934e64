/** The errors of the last run, over the page. */

import { signal } from "@preact/signals";
import { state } from "./store.js";
import { Text } from "./text-box.js";

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
