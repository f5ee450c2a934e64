/** References within one schema document. */

import { type Json, JsonObject } from "../json.js";

/** The schema that a `$ref` names: a JSON pointer within the document; undefined for any other reference. */
export function resolveReference(document: JsonObject, reference: string): Json | undefined {
  const steps = referenceSteps(reference);
  let at: Json | undefined = steps === undefined ? undefined : document;
  for (const step of steps ?? []) {
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d*)$/.test(step) ? (at[Number(step)] as Json | undefined) : undefined;
    else at = at instanceof JsonObject ? at.get(step) : undefined;
  }
  return at;
}

/** The steps of a reference such as `#/$defs/Line`; undefined for one that leaves the document or is no pointer. */
export function referenceSteps(reference: string): readonly string[] | undefined {
  if (!reference.startsWith("#")) return undefined;
  let pointer: string;
  try {
    pointer = decodeURIComponent(reference.slice(1));
  } catch {
    return undefined;
  }
  if (pointer === "") return [];
  const [root, ...steps] = pointer.split("/");
  return root === "" ? steps.map(unescaped) : undefined;
}

function unescaped(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** A name as a step of a JSON pointer (RFC 6901). */
export function pointerStep(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
