/** Menu of protocol checks, each with its last verdict. The browser opens and closes it. */

import type { CheckKind } from "../page-server/page-api.js";
import { call, canCall, history, shown, signs, state, tool, verdictText } from "./store.js";

export const CHECKS: Readonly<Record<CheckKind, readonly [label: string, hint: string]>> = {
  retry: ["Exact retry", "sends the same bytes again"],
  tampered: ["Tampered body", "changes a value after signing"],
  "wrong-key": ["Wrong key", "signs with a key that is not in the allow-list"],
  unsigned: ["Unsigned call", "sends no signature headers"],
};

export function ChecksMenu() {
  return (
    <>
      <button type="button" popovertarget="checks">
        Checks <span aria-hidden="true">▾</span>
      </button>
      <section id="checks" class="menu" popover="auto" aria-label="Protocol checks">
        {(Object.keys(CHECKS) as CheckKind[]).map((kind) => (
          <Check key={kind} kind={kind} />
        ))}
      </section>
    </>
  );
}

/** A check with the verdict of its last call: the history has the newest call first, and no verdict is shown as good. */
function Check({ kind }: { readonly kind: CheckKind }) {
  const [label, hint] = CHECKS[kind];
  const fqn = tool.value?.fqn;
  const reason = reasonAgainst(kind);
  const last = history.value.find((entry) => entry.kind === kind && entry.fqn === fqn);
  const isDisabled = reason !== undefined || !canCall.value;
  return (
    <button
      type="button"
      popovertarget="checks"
      aria-disabled={isDisabled}
      onClick={(event) => {
        if (isDisabled) event.preventDefault();
        else void call(kind, kind === "retry" ? repeatable() : undefined);
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
