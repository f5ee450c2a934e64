/** Menu of protocol checks, each with its last verdict (ARIA menu button pattern). */

import { useEffect, useRef, useState } from "preact/hooks";
import type { CheckKind } from "../page-server/page-api.js";
import { call, canCall, history, shown, signs, state, tool, verdictText } from "./store.js";
import { movedIndex } from "./tabs.js";

export const CHECKS: Readonly<Record<CheckKind, readonly [label: string, hint: string]>> = {
  retry: ["Exact retry", "sends the same bytes again"],
  tampered: ["Tampered body", "changes a value after signing"],
  "wrong-key": ["Wrong key", "signs with a key that is not in the allow-list"],
  unsigned: ["Unsigned call", "sends no signature headers"],
};

export function ChecksMenu() {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const items = () => [...(root.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  useEffect(() => {
    if (!isOpen) return;
    items()[0]?.focus();
    const close = ({ target }: Event) => {
      if (!root.current?.contains(target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", close);
    return () => document.removeEventListener("pointerdown", close);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const all = items();
    const next = movedIndex(event, all.indexOf(document.activeElement as HTMLElement), all.length, [
      "ArrowUp",
      "ArrowDown",
    ]);
    if (event.key === "Tab") setOpen(false);
    else if (event.key === "Escape") close();
    else if (next !== undefined) all[next]?.focus();
    if (event.key === "Escape" || next !== undefined) event.preventDefault();
  };
  return (
    <div class="menu" ref={root}>
      <button
        type="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls="checks"
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        Checks <span aria-hidden="true">▾</span>
      </button>
      <div id="checks" role="menu" tabIndex={-1} aria-label="Protocol checks" hidden={!isOpen} onKeyDown={onKeyDown}>
        {isOpen && (Object.keys(CHECKS) as CheckKind[]).map((kind) => <Check key={kind} kind={kind} close={close} />)}
      </div>
    </div>
  );
}

function Check({ kind, close }: { readonly kind: CheckKind; readonly close: () => void }) {
  const [label, hint] = CHECKS[kind];
  const fqn = tool.value?.fqn;
  const reason = reasonAgainst(kind);
  const last = history.value.find((entry) => entry.kind === kind && entry.fqn === fqn);
  const isDisabled = reason !== undefined || !canCall.value;
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      aria-disabled={isDisabled}
      onClick={() => {
        if (isDisabled) return;
        close();
        void call(kind, kind === "retry" ? repeatable() : undefined);
      }}
    >
      <span class="name">{label}</span>
      <span class={last === undefined ? "hint" : last.holds === false ? "bad" : "good"}>
        {reason ?? (last === undefined ? hint : verdictText(last))}
      </span>
    </button>
  );
}

/** The call that a retry repeats: the shown one, otherwise the tool's last one. */
function repeatable(): string | undefined {
  return (shown.value ?? history.value.find(({ fqn }) => fqn === tool.value?.fqn))?.id;
}

/** Reason why a check is not available. */
function reasonAgainst(kind: CheckKind): string | undefined {
  const { signers, signed } = state.value;
  if (kind === "retry") return repeatable() === undefined ? "make a call first" : undefined;
  if (signed === false) return "needs a signed server: start svc-gen dev --signed";
  if (kind === "unsigned") return undefined;
  if (signers.length === 0) return "needs keys: start svc-gen dev --signed, or pass --leader-key";
  return signs.value ? undefined : "needs a signed call";
}
