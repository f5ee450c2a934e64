/** Types of packages that svc-gen refused wrongly once, each as the declarations of a package that exports `X`. */

/** Interfaces in each other, each of which names the next one. */
function chain(size: number, last: string): string {
  const links = Array.from({ length: size }, (_, at) => {
    return `interface X${at} { next?: ${at + 1 < size ? `X${at + 1}` : last} }`;
  });
  return `${links.join("\n")}\nexport type X = X0;`;
}

/** What was refused, its declarations, and `output` for a type that only a result may have. */
export const ONCE_REFUSED: readonly (readonly [what: string, declarations: string, side?: "output"])[] = [
  ["a member called `token`", "export interface X { logprobs: { token: string }[] }"],
  ["`@format int64` on a `number`", "export interface X {\n/** @format int64 */\nid: number }"],
  ["`@format` without a name", "export interface X {\n/** @format */\ncode: string }"],
  ["an impossible branch", 'export type X = { kind: "a"; v: string } | { kind: "b"; v: never };'],
  ["unions that intersect", "export type X = ({ v: string } | { w: number }) & ({ v: number } | { z: string });"],
  ["`never[]`", "export interface X { list: never[] }"],
  ["an optional `void`", "export interface X { a?: void; b: string }"],
  ["`undefined` in a list of a result", "export interface X { list: (string | undefined)[] }", "output"],
  ["`Record<PropertyKey, …>`", "export type X = Record<PropertyKey, string>;"],
  ["an optional symbol", "declare const key: unique symbol;\nexport interface X { [key]?: string; a: string }"],
  ["`CpuInfo` of `node:os`", 'export type { CpuInfo as X } from "node:os";'],
  ["`IncomingHttpHeaders` of `node:http`", 'export type { IncomingHttpHeaders as X } from "node:http";'],
  ["60 interfaces in each other", chain(60, "string")],
  ["a ring of 60 interfaces", chain(60, "X0")],
];
