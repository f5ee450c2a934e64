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
  /** The codes of the errors of commit 76805e1. */
  readonly before: string;
}

export const ONCE_REFUSED: readonly OnceRefused[] = [
  {
    what: "a member called `token`",
    declarations: "export interface X { logprobs: { token: string }[] }",
    before: "SVC154",
  },
  {
    what: "`@format int64` on a `number`",
    declarations: "export interface X {\n/** @format int64 */\nid: number }",
    before: "SVC171",
  },
  {
    what: "`@format` without a name",
    declarations: "export interface X {\n/** @format */\ncode: string }",
    before: "SVC170",
  },
  {
    what: "a union with an impossible branch",
    declarations: 'export type X = { kind: "a"; v: string } | { kind: "b"; v: never };',
    before: "SVC137",
  },
  {
    what: "an intersection of unions",
    declarations: "export type X = ({ v: string } | { w: number }) & ({ v: number } | { z: string });",
    before: "SVC137",
  },
  { what: "`never[]`", declarations: "export interface X { list: never[] }", before: "SVC137" },
  { what: "an optional `void`", declarations: "export interface X { a?: void; b: string }", before: "SVC136" },
  {
    what: "`undefined` in a list of a result",
    declarations: "export interface X { list: (string | undefined)[] }",
    side: "output",
    before: "SVC136",
  },
  { what: "`Record<PropertyKey, …>`", declarations: "export type X = Record<PropertyKey, string>;", before: "SVC141" },
  {
    what: "an optional member whose name is a symbol",
    declarations: "declare const key: unique symbol;\nexport interface X { [key]?: string; a: string }",
    before: "SVC141",
  },
  { what: "`CpuInfo` of `node:os`", declarations: 'export type { CpuInfo as X } from "node:os";', before: "SVC135" },
  {
    what: "`IncomingHttpHeaders` of `node:http`",
    declarations: 'export type { IncomingHttpHeaders as X } from "node:http";',
    before: "SVC135",
  },
  { what: "60 interfaces in each other", declarations: chain(60, "string"), before: "SVC140" },
  { what: "a ring of 60 interfaces", declarations: chain(60, "X0"), before: "SVC140" },
];
