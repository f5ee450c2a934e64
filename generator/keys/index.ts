/** Exports of this folder, for commands that import it on demand. */

export * from "./key-entries.js";
export * from "./key-file.js";
export * from "./key-forms.js";
export * from "./rotation.js";
