/** Preloaded by packages.test.ts: makes the packages named by WITHOUT_PACKAGE unresolvable, for `import` and `require`. */

import { Module, register } from "node:module";

const missing = process.env.WITHOUT_PACKAGE.split(" ");
const isMissing = (specifier) => missing.some((name) => `${specifier}/`.startsWith(`${name}/`));
const fault = (specifier) =>
  Object.assign(new Error(`Cannot find package '${specifier}'`), { code: "ERR_MODULE_NOT_FOUND" });

const { _resolveFilename: resolveFilename } = Module;
Module._resolveFilename = function (specifier, ...rest) {
  if (isMissing(specifier)) throw fault(specifier);
  return resolveFilename.call(this, specifier, ...rest);
};

const hooks = `
const missing = ${JSON.stringify(missing)};
export async function resolve(specifier, context, next) {
  if (!missing.some((name) => (specifier + "/").startsWith(name + "/"))) return next(specifier, context);
  throw Object.assign(new Error("Cannot find package '" + specifier + "'"), { code: "ERR_MODULE_NOT_FOUND" });
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
