import type { MetaSchema, PortShape } from "../wire/bcs/bcs-shapes.js";
import { quote } from "../wire/json/print.js";

/** Changes between two versions of a tool's ports, one text each, in the order of the new ports. */
export function listChanges(before: MetaSchema, after: MetaSchema): string[] {
  const names = new Set([...after.outputVariants, ...before.outputVariants].map(({ name }) => name));
  const variants = [...names].flatMap((name) => {
    const [old, now] = [before, after].map(({ outputVariants }) => outputVariants.find((each) => each.name === name));
    if (old === undefined) return [`variant ${quote(name)} was added`];
    if (now === undefined) return [`variant ${quote(name)} was removed`];
    return portChanges(`port of ${quote(name)}`, old.ports, now.ports);
  });
  return [...portChanges("input port", before.inputPorts, after.inputPorts), ...variants];
}

function portChanges(what: string, before: readonly PortShape[], after: readonly PortShape[]): string[] {
  const changes: string[] = [];
  for (const { name, many } of after) {
    const old = before.find((port) => port.name === name);
    if (old === undefined) changes.push(`${what} ${quote(name)} was added`);
    else if (old.many !== many) changes.push(`${what} ${quote(name)} became ${many ? "a list" : "one value"}`);
  }
  for (const { name } of before) {
    if (!after.some((port) => port.name === name)) changes.push(`${what} ${quote(name)} was removed`);
  }
  const order = (ports: readonly PortShape[]) => ports.map(({ name }) => name).join("\0");
  if (changes.length === 0 && order(before) !== order(after))
    changes.push(`the order of ${what.replace("port", "ports")} changed`);
  return changes;
}
