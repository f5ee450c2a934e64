/** A project of the tools of tested-tools.ts, an input of `Probe` and what it gives back. */

import { copyFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ToolProject } from "../generator/project.js";
import { REPOSITORY } from "../repository.js";
import type { Input } from "./tested-tools.js";

/** Lets a project use svc-gen. */
export function linkGenerator({ root }: ToolProject): void {
  symlinkSync(REPOSITORY, join(root, "node_modules/svc-gen"));
}

export const project = new ToolProject({ "src/.keep": "" });
copyFileSync(join(REPOSITORY, "test/runtime/tested-tools.ts"), join(project.root, "src/tested-tools.ts"));
linkGenerator(project);

export const INPUT: Input = {
  id: 9_007_199_254_740_993n,
  when: new Date("2026-01-02T03:04:05.006Z"),
  data: Uint8Array.of(0, 1, 255),
  tags: ["a", "b"],
  name: "probe",
  mode: "echo",
};
const { name: _, mode: __, ...echoed } = INPUT;
export const TREE = {
  weight: 2n,
  at: INPUT.when,
  children: [{ weight: 18_446_744_073_709_551_615n, children: [] }],
};
export const ECHO = { echo: { ...echoed, tree: TREE } };
