/** Finds types that several imported tools declare identically, so that they are written once. */

import { type Declaration, printDeclaration } from "./print-types.js";

/** Declarations that are identical in every tool that has a declaration with that name. */
export function sharedDeclarations(tools: readonly (readonly Declaration[])[]): ReadonlyMap<string, Declaration> {
  const uses = new Map<string, { readonly declaration: Declaration; readonly texts: Set<string>; count: number }>();
  for (const declaration of tools.flat()) {
    const { name } = declaration;
    const known = uses.get(name) ?? { declaration, texts: new Set(), count: 0 };
    uses.set(name, known);
    known.texts.add(printDeclaration(declaration));
    known.count++;
  }
  const shared = new Map<string, Declaration>();
  for (const [name, { declaration, texts, count }] of uses) {
    if (count > 1 && texts.size === 1 && name !== "Input" && name !== "Output") shared.set(name, declaration);
  }
  // A declaration that uses a type of its own tool is not shared.
  const isLocal = (name: string) => uses.has(name) && !shared.has(name);
  for (let size = -1; size !== shared.size; ) {
    size = shared.size;
    for (const [name, { type }] of shared) if ([...namesIn(type)].some(isLocal)) shared.delete(name);
  }
  return shared;
}

/** Names in a type, including keywords such as `string`. */
export function namesIn(type: Declaration["type"], names = new Set<string>()): ReadonlySet<string> {
  switch (type.kind) {
    case "text":
      names.add(type.text);
      break;
    case "list":
      namesIn(type.item, names);
      break;
    case "tuple":
      for (const item of type.items) namesIn(item.type, names);
      break;
    case "union":
    case "intersection":
      for (const part of type.parts) namesIn(part, names);
      break;
    case "object":
      for (const member of type.members) namesIn(member.type, names);
      if (type.rest !== undefined) namesIn(type.rest, names);
  }
  return names;
}
