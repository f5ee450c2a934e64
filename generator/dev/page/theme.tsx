/** The colour theme: the system's, unless the user chooses one. */

import { effect, signal } from "@preact/signals";

type Theme = "system" | "light" | "dark";

const KEY = "svc-gen theme";
const theme = signal<Theme>(kept());

function kept(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Without storage the choice is lost when the page closes.
  }
});

export function ThemeSwitch() {
  return (
    <label>
      Theme{" "}
      <select
        value={theme.value}
        onChange={({ currentTarget }) => {
          theme.value = currentTarget.value as Theme;
        }}
      >
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
