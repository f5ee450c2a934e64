/** Errors on recursive types without a finite value, such as `interface Box { inside: Box }`. */

import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { type Definition, type Doc, keywordValue, type Member, type Shape, type Tool } from "../model.js";

const HINT = "make it optional with ?, allow null, or use an array";

/** Reports one member of each endless cycle. */
export function checkFiniteValues(tool: Tool): Diagnostic[] {
  const found: Diagnostic[] = [];
  const finite = new Set<string>();
  for (;;) {
    addFinite(finite, tool.definitions);
    let at = tool.definitions.find(({ name }) => !finite.has(name));
    if (at === undefined) return found;
    const open = new Set<string>();
    let member: Member | undefined;
    while (at !== undefined && !open.has(at.name)) {
      open.add(at.name);
      const cause = causeOf(at.shape, finite);
      member = cause?.member;
      at = tool.definitions.find(({ name }) => name === cause?.name);
    }
    if (at === undefined) return found;
    finite.add(at.name);
    const where = member ?? { place: tool.place, subject: tool.import.className };
    const detail = `each ${at.name} contains another ${at.name}`;
    found.push(diagnostic("SVC137", { place: where.place, subject: where.subject }, detail, HINT));
  }
}

/** Adds the definitions that have finite values, given those in the set. */
function addFinite(finite: Set<string>, definitions: readonly Definition[]): void {
  const added = definitions.filter(({ name, shape }) => !finite.has(name) && causeOf(shape, finite) === undefined);
  for (const { name } of added) finite.add(name);
  if (added.length > 0) addFinite(finite, definitions);
}

interface Cause {
  /** Definition without a finite value. */
  readonly name: string;
  readonly member?: Member;
}

/** A definition outside `finite` that each value of a shape contains, and the innermost member that leads to it. */
function causeOf(shape: Shape, finite: ReadonlySet<string>, doc?: Doc): Cause | undefined {
  const first = (parts: readonly Shape[]) => parts.map((part) => causeOf(part, finite)).find(Boolean);
  switch (shape.kind) {
    case "ref":
      return finite.has(shape.name) ? undefined : { name: shape.name };
    case "wrapped":
      return causeOf(shape.item, finite);
    case "array": {
      const mayBeEmpty = [shape, { doc }].every((each) => (keywordValue(each, "minItems") ?? 0) === 0);
      return mayBeEmpty ? undefined : causeOf(shape.item, finite);
    }
    case "tuple":
      return first([...shape.items.slice(0, shape.items.length - shape.optional), ...shape.tail]);
    case "union": {
      const causes = shape.branches.map((branch) => causeOf(branch, finite));
      return causes.every(Boolean) ? causes[0] : undefined;
    }
    case "object":
      for (const member of shape.members) {
        const cause = member.optional ? undefined : causeOf(member.shape, finite, member.doc);
        if (cause !== undefined) return { member, ...cause };
      }
      return undefined;
    default:
      return undefined;
  }
}
