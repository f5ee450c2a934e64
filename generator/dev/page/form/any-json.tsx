/** A control for any JSON value, edited as text. Hides secrets, except those that the user is typing. */

import { useState } from "preact/hooks";
import { fields } from "../store.js";
import { JsonFault, parseValue, printValue, sameValue, type Value } from "./exact-json.js";
import type { Schema } from "./field-schema.js";

interface Props {
  readonly id: string;
  readonly describedBy: string;
  readonly value: Value;
  readonly schema: Schema;
  readonly onValue: (value: Value) => void;
}

export function AnyJson({ id, describedBy, value, schema, onValue }: Props) {
  const all = fields.value;
  const hidden = all?.hidden(value, schema) ?? value;
  const untyped = { text: printValue(hidden), base: value, fault: "" };
  // Keeps the typed text, with its white space, until the value changes elsewhere.
  const [typed, setTyped] = useState(untyped);
  const { text, fault } = typed.base === value ? typed : untyped;
  const read = (next: string) => {
    try {
      const parsed = parseValue(next);
      const base = all?.revealed(parsed, value, schema) ?? parsed;
      setTyped({ text: next, base, fault: "" });
      onValue(base);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      setTyped({ text: next, base: value, fault: error.message });
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
        onBlur={() => fault === "" && !sameValue(parseValue(text), hidden) && setTyped(untyped)}
      />
      {fault !== "" && <p class="problem">{fault}. Calls send the last valid value.</p>}
    </>
  );
}
