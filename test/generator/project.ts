/** A tool project in a temporary folder, with this repository's runtime in its node_modules. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Generated, generate } from "#generator/generate.js";
import { atEnd } from "../teardown.js";

export const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

/** The options of a careful author; `skipLibCheck` because two dependencies' declarations want the DOM. */
export const STRICT = {
  target: "ES2023",
  module: "NodeNext",
  lib: ["ES2023"],
  types: [] as string[],
  rootDir: "src",
  outDir: "dist",
  strict: true,
  skipLibCheck: true,
};

export class ToolProject {
  readonly root: string;

  constructor(files: Readonly<Record<string, string>>, options: object = STRICT, name = "svc-gen-test-") {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), name)));
    atEnd(() => this.remove());
    this.write({
      "package.json": '{ "name": "tools", "version": "1.0.0", "type": "module" }\n',
      "tsconfig.json": `${JSON.stringify({ compilerOptions: options, include: ["src"] })}\n`,
      ...files,
    });
    const modules = join(this.root, "node_modules");
    mkdirSync(join(modules, "@types"), { recursive: true });
    symlinkSync(join(REPOSITORY, "runtime"), join(modules, "svc-runtime"));
    symlinkSync(join(REPOSITORY, "node_modules/@types/node"), join(modules, "@types/node"));
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      if (statSync(join(this.root, path), { throwIfNoEntry: false })?.isDirectory()) {
        rmSync(join(this.root, path), { recursive: true });
      }
      writeFileSync(join(this.root, path), text);
    }
  }

  generate(): Generated {
    return generate({ root: this.root });
  }

  /** Generates, expects no errors, and writes the files. */
  build(): Readonly<Record<string, string>> {
    const { files, diagnostics } = this.generate();
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    if (errors.length > 0)
      throw new Error(errors.map((each) => `${each.code} ${each.subject}: ${each.message}`).join("\n"));
    const texts = Object.fromEntries(files.map(({ path, text }) => [path, text]));
    this.write(texts);
    return texts;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** The source of one tool class. */
export function toolSource(name: string, input: string, output = '"done"', before = ""): string {
  return `import { SvcTool, StatusCode } from "svc-runtime";
${before}
export class ${name} extends SvcTool<${input}, ${output}> {
  static override fqn() { return "xyz.test.tool-${name.toLowerCase()}@1"; }
  static override description() { return "A tool."; }
  static override path() { return "${name}"; }
  override async invoke(): Promise<${output}> { throw new Error("not run"); }
  override async health() { return StatusCode.OK; }
}
`;
}
