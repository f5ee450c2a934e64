/** A closed, typed view -> Handlebars -> text. Values are printed by typed helpers; templates hold no behaviour. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { posix } from "node:path";
import type { Contract } from "svc-runtime/generator";
import { literal } from "./print-literal.js";

/** One generated file: its path relative to the project, forward slashes. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

export interface ImportView {
  /** `{ Sum }`, `{ Sum as Sum2 }` or `Sum`, an identifier at the end of it. */
  readonly clause: string;
  readonly local: string;
  readonly from: string;
}

/** The values in the header of every file. */
interface Header {
  readonly version: string;
}

/** What the template of each file is rendered over. */
export interface Views {
  /** `contracts`: the entries as text. */
  readonly contracts: Header & { readonly contracts: readonly string[] };
  readonly server: Header & { readonly imports: readonly ImportView[]; readonly several: boolean };
}

// Its one-file build: the same code in forty files takes 30 ms more to load.
const Handlebars = createRequire(import.meta.url)("handlebars/dist/handlebars.js") as typeof import("handlebars");
const handlebars = Handlebars.create();
handlebars.registerHelper("literal", (value: unknown) => literal(value));

/** Every template has its own compiled form, made at first use. */
const compiled = new Map<string, HandlebarsTemplateDelegate>();

/** The text of one file over the view; unknown names are errors. */
export function render<Name extends keyof Views>(template: Name, view: Views[Name]): string {
  return run(template, view);
}

/** The entry of one contract, as far as it depends on the tool alone. */
export function renderContract(contract: Contract): string {
  return run("contract", contract).trimEnd();
}

function run(template: string, view: object): string {
  let delegate = compiled.get(template);
  if (delegate === undefined) {
    const text = readFileSync(new URL(`../../../templates/${template}.ts.hbs`, import.meta.url), "utf8");
    delegate = handlebars.compile(text, { strict: true, noEscape: true, knownHelpersOnly: false });
    compiled.set(template, delegate);
  }
  return delegate(view);
}

/** The specifier by which `from` imports `to`, both absolute or both below one folder: `.js` for `.ts`, `.mjs` for `.mts`. */
export function specifier(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to).replace(/\.([cm]?)tsx?$/, ".$1js");
  return path.startsWith(".") ? path : `./${path}`;
}
