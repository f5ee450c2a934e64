/** Overlay with the errors of the last build. */

import { signal } from "@preact/signals";
import { state } from "./store.js";
import { Text } from "./text-box.js";

const hidden = signal<unknown>(undefined);

export function Overlay() {
  const { problems, serving, source } = state.value;
  if (problems.length === 0 || hidden.value === problems) return null;
  return (
    <section class="overlay" role="alert" aria-label="Errors">
      <div class="line">
        <h2>
          {problems.length} {problems.length === 1 ? "error" : "errors"};{" "}
          {!serving
            ? "no server is running"
            : source === "remote"
              ? "the other tools are available"
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
