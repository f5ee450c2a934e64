/** `svc-gen env`: prints the environment variables that the tools of a project declare. */

import { asJson, defineCommand, EXIT, JSON_OPTION, PROJECT_OPTIONS, UsageError } from "../cli/command.js";
import { generateToRead } from "./generate.js";
import { variablesOf } from "./options/project-tools.js";

interface Variable {
  readonly name: string;
  readonly optional: boolean;
  readonly description: string;
}

/**
 * Formats of a variable's line. Values are never printed; they come from the environment in which the server is
 * started.
 */
const FORMS: Readonly<Record<string, (variable: Variable) => string>> = {
  env: ({ name, optional, description }) => `# ${description}\n${optional ? "# " : ""}${name}=\n`,
  compose: ({ name, optional, description }) =>
    `      # ${description}\n      ${name}: ${optional ? `\${${name}:-}` : `\${${name}:?${name} is not set}`}\n`,
  kubernetes: ({ name, optional, description }) =>
    `            # ${description}\n            - name: ${name}\n              valueFrom: { secretKeyRef: { name: tools, key: ${name}${optional ? ", optional: true" : ""} } }\n`,
};

export const command = defineCommand({
  details: `Tools declare variables in static variables(). A server does not start while a required variable is missing; svc-gen doctor
shows which variables are set. Formats: env for .env and docker run --env-file; compose for the environment of a service in
compose.yaml; kubernetes for the env of a container, with values from a secret named tools.`,
  options: {
    as: { type: "string", value: "FORM", summary: "format: env, compose or kubernetes (default: env)" },
    ...PROJECT_OPTIONS,
    json: JSON_OPTION,
  },
  examples: [
    ["svc-gen env", "lines for .env; fill in the values"],
    ["svc-gen env --as compose", "for docs/deploy/compose.yaml"],
  ],
  run: async (call) => {
    const { as = "env" } = call.values;
    const print = Object.hasOwn(FORMS, as) ? FORMS[as] : undefined;
    if (print === undefined) throw new UsageError("--as expects env, compose or kubernetes");
    const generated = await generateToRead(call);
    if (generated === undefined) return EXIT.failure;
    const variables = (variablesOf(generated.contracts) ?? []).map(([name, description]): Variable => {
      return {
        name: name.replace(/\?$/, ""),
        optional: name.endsWith("?"),
        description: description.replaceAll(/\s+/g, " "),
      };
    });
    call.print(call.json ? asJson({ variables }) : variables.map(print).join(""));
    return EXIT.done;
  },
});
