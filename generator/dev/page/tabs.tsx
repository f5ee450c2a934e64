/** Tabs with one panel (ARIA tabs pattern): arrow keys, Home and End select; Tab moves to the panel. */

import type { ComponentChildren } from "preact";

interface TabsProps<Name extends string> {
  readonly id: string;
  readonly label: string;
  readonly tabs: readonly (readonly [name: Name, label: string])[];
  readonly current: Name;
  readonly onSelect: (name: Name) => void;
  readonly children: ComponentChildren;
}

export function Tabs<Name extends string>({ id, label, tabs, current, onSelect, children }: TabsProps<Name>) {
  const tabId = (name: string) => `${id}-${name}`;
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex(([name]) => name === current);
    const to = new Map([
      ["ArrowLeft", at - 1],
      ["ArrowRight", at + 1],
      ["Home", 0],
      ["End", -1],
    ]).get(event.key);
    const next = to === undefined ? undefined : tabs.at(to % tabs.length);
    if (next === undefined) return;
    event.preventDefault();
    onSelect(next[0]);
    document.getElementById(tabId(next[0]))?.focus();
  };
  return (
    <>
      <div role="tablist" aria-label={label} class="tabs" onKeyDown={onKeyDown}>
        {tabs.map(([name, text]) => (
          <button
            type="button"
            role="tab"
            key={name}
            id={tabId(name)}
            aria-selected={name === current}
            aria-controls={`${id}-panel`}
            tabIndex={name === current ? 0 : -1}
            onClick={() => onSelect(name)}
          >
            {text}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={tabId(current)} class="panel">
        {children}
      </div>
    </>
  );
}
