/** Types of packages that svc-gen refused wrongly once, each as the declarations of a package that exports `X`. */

/** Interfaces in each other, each of which names the next one. */
function chain(size: number, last: string): string {
  const links = Array.from({ length: size }, (_, at) => {
    return `interface X${at} { next?: ${at + 1 < size ? `X${at + 1}` : last} }`;
  });
  return `${links.join("\n")}\nexport type X = X0;`;
}

export interface OnceRefused {
  readonly what: string;
  readonly declarations: string;
  /** `output` for a type that only a result may have. */
  readonly side?: "output";
}

export const ONCE_REFUSED: readonly OnceRefused[] = [
  {
    what: "a member called `token`",
    declarations: "export interface X { logprobs: { token: string }[] }",
  },
  {
    what: "`@format int64` on a `number`",
    declarations: "export interface X {\n/** @format int64 */\nid: number }",
  },
  {
    what: "`@format` without a name",
    declarations: "export interface X {\n/** @format */\ncode: string }",
  },
  {
    what: "a union with an impossible branch",
    declarations: 'export type X = { kind: "a"; v: string } | { kind: "b"; v: never };',
  },
  {
    what: "an intersection of unions",
    declarations: "export type X = ({ v: string } | { w: number }) & ({ v: number } | { z: string });",
  },
  { what: "`never[]`", declarations: "export interface X { list: never[] }" },
  { what: "an optional `void`", declarations: "export interface X { a?: void; b: string }" },
  {
    what: "`undefined` in a list of a result",
    declarations: "export interface X { list: (string | undefined)[] }",
    side: "output",
  },
  { what: "`Record<PropertyKey, …>`", declarations: "export type X = Record<PropertyKey, string>;" },
  {
    what: "an optional member whose name is a symbol",
    declarations: "declare const key: unique symbol;\nexport interface X { [key]?: string; a: string }",
  },
  { what: "`CpuInfo` of `node:os`", declarations: 'export type { CpuInfo as X } from "node:os";' },
  {
    what: "`IncomingHttpHeaders` of `node:http`",
    declarations: 'export type { IncomingHttpHeaders as X } from "node:http";',
  },
  { what: "60 interfaces in each other", declarations: chain(60, "string") },
  { what: "a ring of 60 interfaces", declarations: chain(60, "X0") },
];
