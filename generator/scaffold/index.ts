/** Exports of this folder, for the command that imports it on demand. */

export * from "./add-tool.js";
export * from "./names.js";
export * from "./npm-install.js";
export * from "./package-specs.js";
export * from "./project-files.js";
export * from "./project-folder.js";
