/** A control for any JSON value, edited as text. */

import { useState } from "preact/hooks";
import { JsonFault, parseValue, printValue, type Value } from "./exact-json.js";

interface Props {
  readonly id: string;
  readonly describedBy: string;
  readonly value: Value;
  readonly onValue: (value: Value) => void;
}

export function AnyJson({ id, describedBy, value, onValue }: Props) {
  const current = printValue(value);
  // Keeps the typed text, with its white space, until the value changes elsewhere.
  const [typed, setTyped] = useState({ text: current, base: current, fault: "" });
  const { text, fault } = typed.base === current ? typed : { text: current, fault: "" };
  const read = (next: string) => {
    try {
      const parsed = parseValue(next);
      setTyped({ text: next, base: printValue(parsed), fault: "" });
      onValue(parsed);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      setTyped({ text: next, base: current, fault: error.message });
    }
  };
  return (
    <>
      <textarea
        id={id}
        class="hex"
        aria-describedby={describedBy}
        aria-invalid={fault !== ""}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => read(currentTarget.value)}
      />
      {fault !== "" && <p class="problem">{fault}. Calls send the last valid value.</p>}
    </>
  );
}
