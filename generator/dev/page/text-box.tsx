/** Text boxes: coloured JSON, scrollable regions and copy buttons. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

const TOKEN = /("(?:[^"\\\n]|\\.)*"?)(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;
/** Maximum length of a coloured text, because each of its tokens is an element. */
const MAX_COLOURED = 60_000;

/** Coloured JSON, valid or not. */
export function Json({ text }: { readonly text: string }) {
  if (text.length > MAX_COLOURED) return <>{text}</>;
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [all, string, colon] = match;
    const kind = string === undefined ? (/\d/.test(all) ? "num" : "word") : colon === undefined ? "str" : "key";
    parts.push(
      text.slice(from, match.index),
      <span key={match.index} class={`j-${kind}`}>
        {string ?? all}
      </span>,
      colon,
    );
    from = match.index + all.length;
  }
  return <>{[...parts, text.slice(from)]}</>;
}

export function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  const [done, setDone] = useState("");
  return (
    <button
      type="button"
      class="small copy"
      aria-label={`Copy: ${label}`}
      onClick={async () => setDone((await copy(text)) ? "Copied" : "Not copied")}
      onBlur={() => setDone("")}
    >
      <span role="status">{done || "Copy"}</span>
    </button>
  );
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers provide no clipboard API over plain HTTP, except on localhost.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
}

export function Scrollable({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard cannot scroll it (WCAG 2.1.1)
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

interface TextProps {
  readonly label: string;
  readonly text: string;
  readonly as?: "plain" | "json" | "hex" | "code";
}

/** Preformatted text with a copy button. */
export function Text({ label, text, as = "plain" }: TextProps) {
  return (
    <div class="text">
      <Scrollable label={label}>
        <pre class={as}>{as === "json" ? <Json text={text} /> : text}</pre>
      </Scrollable>
      <Copy text={text} label={label} />
    </div>
  );
}
