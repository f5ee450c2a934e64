/** Renders Handlebars templates. Typed helpers print the values; templates contain no logic. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Contract, ToolHints } from "svc-runtime/internal/generator";
import { literal, literalLines, schemaLines } from "./print-literal.js";

export interface ImportView {
  /** `{ Sum }`, `{ Sum as Sum2 }` or `Sum`; the last identifier equals `local`. */
  readonly clause: string;
  readonly local: string;
  readonly from: string;
}

interface Header {
  readonly version: string;
}

/** Data for each template. */
export interface Views {
  /** One entry of the contracts. */
  readonly contract: Omit<Contract, "hints"> &
    Required<Pick<Contract, "variables">> & { readonly hints: ToolHints | false };
  /** Rendered entries of the contracts. */
  readonly contracts: Header & { readonly contracts: readonly string[] };
  readonly server: Header & {
    readonly imports: readonly ImportView[];
    readonly several: boolean;
    /** Specifier that imports the author's server options; false if there is no such file. */
    readonly options: string | false;
  };
}

// The bundled build loads 30 ms faster than the separate files.
const require = createRequire(import.meta.url);
const Handlebars = require("handlebars/dist/handlebars.js") as typeof import("handlebars");
const handlebars = Handlebars.create();
handlebars.registerHelper("literal", (value: unknown) => literal(value));
handlebars.registerHelper("member", (value: unknown) => literalLines(value, "      "));
handlebars.registerHelper("schema", (text: string) => schemaLines(text));
handlebars.registerPartial("header", templateText("header"));

/** Templates by name, compiled at first use. */
const compiled = new Map<string, HandlebarsTemplateDelegate>();

/** Renders one file. Throws if the template uses a name that is not in the view. */
export function render<Name extends keyof Views>(template: Name, view: Views[Name]): string {
  let delegate = compiled.get(template);
  if (delegate === undefined) {
    delegate = handlebars.compile(templateText(template), { strict: true, noEscape: true, knownHelpersOnly: false });
    compiled.set(template, delegate);
  }
  return delegate(view);
}

function templateText(name: string): string {
  return readFileSync(new URL(`../../../../templates/${name}.ts.hbs`, import.meta.url), "utf8");
}
