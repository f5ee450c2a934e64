/**
 * Compares an imported schema with the one that svc-gen generates from the written types, as JSON: position by position,
 * without following references. The order of keywords, of `required` and of several types is ignored; the order of
 * properties is not.
 */

import { pointerStep, referenceOf } from "../contract/schema-reader.js";
import { type Json, JsonObject } from "../text/json.js";
import { isSame } from "./merge-schemas.js";

export interface SchemaDifference {
  /** Position in the imported metadata; for a value that only the generated schema has, where it would be. */
  readonly pointer: string;
  /** Undefined if the imported schema lacks it. */
  readonly imported: Json | undefined;
  /** Undefined if the generated schema lacks it. */
  readonly generated: Json | undefined;
}

/** @param pointer position of the values in the metadata, such as `/input_schema` */
export function differencesOf(
  imported: Json | undefined,
  generated: Json | undefined,
  pointer: string,
): readonly SchemaDifference[] {
  const difference = { pointer, imported, generated };
  if (imported === undefined || generated === undefined) return [difference];
  const name = pointer.slice(pointer.lastIndexOf("/") + 1);
  // Without the other keywords: a definition is written where it is used, or the reverse.
  if ((referenceOf(imported) === undefined) !== (referenceOf(generated) === undefined)) return [difference];
  if (imported instanceof JsonObject && generated instanceof JsonObject) {
    const names = new Set([...imported.members.keys(), ...generated.members.keys()]);
    const found = [...names].flatMap((each) => {
      const [one, other] = [imported.get(each), generated.get(each)];
      return one === other ? [] : differencesOf(one, other, `${pointer}/${pointerStep(each)}`);
    });
    return name === "properties" && !hasSameOrder(imported, generated) ? [...found, difference] : found;
  }
  if (Array.isArray(imported) && Array.isArray(generated)) {
    if (name === "required" || name === "type") {
      return isSame([...imported].sort(), [...generated].sort()) ? [] : [difference];
    }
    if (imported.length !== generated.length) return [difference];
    return imported.flatMap((each: Json, at) => differencesOf(each, generated[at], `${pointer}/${at}`));
  }
  return isSame(imported, generated) ? [] : [difference];
}

/** Whether the members that two objects have in common are in the same order. */
function hasSameOrder(one: JsonObject, other: JsonObject): boolean {
  const common = (members: JsonObject, others: JsonObject) =>
    [...members.members.keys()].filter((name) => others.members.has(name));
  return isSame(common(one, other), common(other, one));
}
