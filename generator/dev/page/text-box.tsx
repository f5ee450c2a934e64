/** Text boxes: scrollable regions and copy buttons. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

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

interface TextProps {
  readonly label: string;
  readonly text: string;
  readonly as?: "plain" | "hex" | "code";
  readonly caption?: string;
}

/** Preformatted text below its caption and copy button. */
export function Text({ label, text, as = "plain", caption }: TextProps) {
  return (
    <Box label={label} copied={text} caption={caption}>
      <pre class={as}>{text}</pre>
    </Box>
  );
}

interface BoxProps {
  readonly label: string;
  readonly copied: string;
  readonly caption?: string | undefined;
  readonly children: ComponentChildren;
}

export function Box({ label, copied, caption, children }: BoxProps) {
  return (
    <div class="text">
      <div class="caption">
        <span>{caption}</span>
        <Copy text={copied} label={label} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard cannot scroll it (WCAG 2.1.1) */}
      <section class="scroll" tabIndex={0} aria-label={label}>
        {children}
      </section>
    </div>
  );
}
