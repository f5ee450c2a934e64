/** The complaints of generated validators in the words of the decoder: path, expected, got; kinds and sizes, never values. */

import type { ValidatorError } from "./contract.js";
import { pathText } from "./fault.js";
import { kindOf } from "./mismatch.js";
import { ucs2length } from "./validate.js";

type Step = string | number;

/**
 * One sentence about a tree that a validator refused.
 *
 * @param declared the names that may stand in a path: any other came from the caller and is written `*`
 */
export function complaint(errors: readonly ValidatorError[], root: unknown, declared: ReadonlySet<string>): string {
  const told = mostTelling(errors);
  const [first] = told;
  if (first === undefined) return "the input does not conform to the schema";
  const { path, at } = locate(first.instancePath, root, declared);
  const { missingProperty } = first.params;
  const missing = typeof missingProperty === "string";
  const place = pathText(missing ? [...path, declared.has(missingProperty) ? missingProperty : "*"] : path);
  const expected = [...new Set(told.map(expectedBy))].join(" or ");
  return `${place === "" ? "" : `${place}: `}expected ${expected}, got ${missing ? "nothing" : gotBy(first, at)}`;
}

/**
 * The deepest of the errors of a union's branches: the deeper, the closer was the branch; of one depth those of a branch
 * for values of this kind. Those of one place are equal.
 */
function mostTelling(errors: readonly ValidatorError[]): readonly ValidatorError[] {
  const ofBranches = errors.filter(({ keyword }) => keyword !== "anyOf");
  // A literal that does not match: the value is hardly meant for this branch.
  const meant = preferred(ofBranches, ({ keyword }) => keyword !== "enum");
  const depth = ({ instancePath }: ValidatorError) => instancePath.split("/").length;
  const deepest = meant.reduce((most, error) => Math.max(most, depth(error)), 0);
  const deep = meant.filter((error) => depth(error) === deepest);
  const [best, ...others] = preferred(deep, (error) => !isOfKind(error));
  if (best === undefined) return [];
  const isEqual = ({ instancePath, params }: ValidatorError) =>
    instancePath === best.instancePath && params.missingProperty === best.params.missingProperty;
  return [best, ...others.filter(isEqual)];
}

function preferred<T>(list: readonly T[], isBetter: (item: T) => boolean): readonly T[] {
  const better = list.filter(isBetter);
  return better.length > 0 ? better : list;
}

/** Whether an error says that the value is of another kind. */
function isOfKind({ keyword, params: { type } }: ValidatorError): boolean {
  return keyword === "type" || (keyword === "svcInteger" && type !== undefined);
}

/** Where a JSON pointer leads in the tree, as steps that may be shown. */
function locate(pointer: string, root: unknown, declared: ReadonlySet<string>): { path: Step[]; at: unknown } {
  const path: Step[] = [];
  let at = root;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(at) ? Number(name) : declared.has(name) ? name : "*");
    at =
      at !== null && typeof at === "object" && Object.hasOwn(at, name)
        ? (at as Record<string, unknown>)[name]
        : undefined;
  }
  return { path, at };
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
  null: "null",
};

const COMPARED: Readonly<Record<string, string>> = {
  ">=": "of at least",
  "<=": "of at most",
  ">": "above",
  "<": "below",
};

function expectedBy({ keyword, params }: ValidatorError): string {
  const { type, comparison, limit, multipleOf, pattern, format, allowedValues } = params;
  switch (keyword) {
    case "type":
      return [type]
        .flat()
        .map((each) => KINDS[String(each)] ?? String(each))
        .join(" or ");
    case "required":
    case "svcProto":
      return "a value";
    case "additionalProperties":
      return "only declared members";
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return `a number ${COMPARED[String(comparison)]} ${limit}`;
    case "svcInteger":
      if (multipleOf !== undefined) return `a multiple of ${multipleOf}`;
      return comparison === undefined ? "an integer" : `an integer ${COMPARED[String(comparison)]} ${limit}`;
    case "multipleOf":
      return `a multiple of ${multipleOf}`;
    case "minLength":
      return `at least ${limit} characters`;
    case "maxLength":
      return `at most ${limit} characters`;
    case "minItems":
      return `at least ${limit} items`;
    case "maxItems":
      return `at most ${limit} items`;
    case "uniqueItems":
      return "items that differ";
    case "pattern":
      return `a string that matches ${pattern}`;
    case "format":
      return `a string of the format ${format}`;
    case "enum":
      return [allowedValues]
        .flat()
        .map((each) => JSON.stringify(each))
        .join(" or ");
    case "not":
      return "a value";
    default:
      return `what ${keyword} asks for`;
  }
}

function gotBy({ keyword, params }: ValidatorError, at: unknown): string {
  const { type, comparison, multipleOf, i, j } = params;
  if (keyword === "additionalProperties") return "another";
  if (keyword === "uniqueItems")
    return `two that are equal, ${[i, j]
      .map(Number)
      .sort((a, b) => a - b)
      .join(" and ")}`;
  if (Array.isArray(at) && /Items$/.test(keyword)) return String(at.length);
  if (typeof at === "string") {
    if (/Length$/.test(keyword)) return String(ucs2length(at));
    if (keyword === "pattern" || keyword === "format") return "one that is not so";
    if (keyword === "enum") return "another string";
  }
  const isNumber = typeof at === "number" || typeof at === "bigint";
  if (isNumber && comparison !== undefined)
    return String(comparison).startsWith(">") ? "a smaller one" : "a larger one";
  if (isNumber && multipleOf !== undefined) return "a number that is none";
  return type === "integer" && typeof at === "number" ? "a number that is no integer" : kindOf(at);
}
