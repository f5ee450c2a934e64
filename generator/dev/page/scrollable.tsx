/** Regions that scroll: reached by the keyboard, and named. */

import type { ComponentChildren } from "preact";

export function Scrollable({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard cannot scroll it (WCAG 2.1.1)
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** A text with its own line breaks. */
export function Text({
  label,
  text,
  hex = false,
}: {
  readonly label: string;
  readonly text: string;
  readonly hex?: boolean;
}) {
  return (
    <Scrollable label={label}>
      <pre class={hex ? "hex" : ""}>{text}</pre>
    </Scrollable>
  );
}
