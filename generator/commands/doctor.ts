/** `svc-gen doctor [URL]`: finds problems of a project, or of the path to a served tool. */

import { hiddenPath } from "svc-runtime/internal/config";
import { DEFAULT_INVOKE_MAX_BODY_BYTES } from "svc-runtime/internal/generator";
import { prepareSigningKey } from "svc-runtime/leader";
import {
  asJson,
  type CliHost,
  type CommandContext,
  defineCommand,
  EXIT,
  JSON_OPTION,
  PROJECT_OPTIONS,
  UsageError,
} from "../cli/command.js";
import { hasErrors } from "../compile/diagnostics/diagnostics.js";
import { quotedUrl } from "../compile/diagnostics/quote.js";
import type { Generated } from "../compile/generate.js";
import type { GenerateOptions } from "../compile/project/layout.js";
import { checkConfig } from "../config/check-config.js";
import { DEV_LEADER, devKeys } from "../dev/dev-keys.js";
import { devServers, privateFolder } from "../dev/dev-state.js";
import { type Check, formatChecks } from "../doctor/check.js";
import { checkPairs, type LeaderWithKey } from "../doctor/key-checks.js";
import { checkConfiguration, checkProject } from "../doctor/project-checks.js";
import { checkServer } from "../doctor/server-checks.js";
import { readMetaJson, staleFiles } from "../files/output-files.js";
import { readNamed } from "../files/read-file.js";
import { toolAddress } from "../http/tools-at.js";
import { readKeyFile } from "../keys/key-file.js";
import { isHttpUrl, schemeAdvice } from "../tools/tool-addresses.js";
import { generateNow } from "./generate.js";
import { leaderOf, publicKeyIn } from "./keys/key-options.js";
import { headerPrefixOf, LEADER_OPTIONS } from "./options/leader-options.js";
import { readNumber } from "./options/number-option.js";
import { generateOptions } from "./options/project-options.js";
import { projectFqns, variablesOf } from "./options/project-tools.js";

const OPTIONS = {
  config: { type: "string", value: "FILE", summary: "configuration (default: the path in SVC_TOOLKIT_CONFIG_PATH)" },
  ...LEADER_OPTIONS,
  "leader-key": { type: "string", value: "FILE", summary: "private key of a leader, which signs the probes of URL" },
  "tool-key": {
    type: "string",
    value: "HEX",
    summary: "public key of the tool, as leaders have it; compared with the configuration",
  },
  size: {
    type: "string",
    value: "BYTES",
    summary: "send a body of this size (default: announce a body as large as the server's limit, and send none)",
  },
  unsigned: { type: "boolean", summary: "expect that the server at URL requires no signatures" },
  ...PROJECT_OPTIONS,
  json: JSON_OPTION,
} as const;

/** Maximum size, in bytes, of a probe's body, which is created in memory. */
const MAX_SIZE = 2 ** 30;

export const command = defineCommand({
  details: `Without URL, svc-gen doctor checks generated files, configuration, keys and the variables that the tools declare. With the URL of a
tool it checks connection, TLS, redirects, health, metadata (compared with meta.json of this folder), signature headers, bodies and
their size limit.

No probe runs the tool: the server refuses each because of its signature, invalid JSON or values that the contract does not allow.
Probes are signed with --leader-key, or, if URL is a running svc-gen dev --signed, with the keys of the project. For a signed probe
the server may create an instance of the tool and call its authorize().

Each line begins with ✓ (passed), ✗ (failed, followed by the next step) or - (does not apply); exit 1 if a check failed. A next step
may refer to a heading of docs/troubleshooting.md or a code of docs/error-codes.md.
With --json: {"checks":[{"name","ok","detail","next"}]}; ok is null for checks that do not apply.`,
  options: OPTIONS,
  examples: [
    ["svc-gen doctor", "the project in this folder"],
    ["svc-gen doctor https://tools.example.org/sum", "a served tool"],
    ["svc-gen doctor http://127.0.0.1:8080/sum --leader-key keys/leader.key", "with signed probes"],
  ],
  run: async (call) => {
    const { args, cwd, values } = call;
    const [url] = args;
    const idle = (["size", "unsigned", "ca", "header-prefix"] as const).find((name) => values[name] !== undefined);
    if (url === undefined && idle !== undefined)
      throw new UsageError(`--${idle} applies only with a URL: svc-gen doctor URL`);
    const project = generateOptions(call);
    if (values["tool-key"] !== undefined) publicKeyIn("tool-key", values["tool-key"], cwd);
    const checks = url === undefined ? await checkHere(call, project) : await checkThere(call, project, url);
    call.print(call.json ? asJson({ checks }) : formatChecks(checks, call.colour));
    return checks.some(({ ok }) => ok === false) ? EXIT.failure : EXIT.done;
  },
});

type DoctorCall = CommandContext<typeof OPTIONS>;

function checkHere(call: DoctorCall, project: GenerateOptions) {
  const { cwd, env, values } = call;
  const key = values["leader-key"];
  let made: Promise<Generated> | undefined;
  const generated = () => (made ??= generateNow(project));
  return checkProject({
    project,
    cwd,
    env,
    config: values.config,
    tools: projectFqns(project.root),
    keyFile: key,
    leader: givenLeader(call),
    toolKey: values["tool-key"],
    variables: async () => variablesOf((await generated()).contracts),
    stale: async () => stalePaths(project, await generated()),
  });
}

async function checkThere(call: DoctorCall, { root }: GenerateOptions, text: string): Promise<Check[]> {
  const { cwd, env, values } = call;
  const { config: file, "tool-key": toolKey } = values;
  if (toolKey !== undefined && file === undefined) throw new UsageError("--tool-key expects --config FILE too");
  if (!isHttpUrl(text)) {
    const got = `${hiddenPath(text) ?? quotedUrl(text)}${schemeAdvice(text)}`;
    throw new UsageError(`doctor expects the URL of a tool, such as https://tools.example.org/sum, got ${got}`);
  }
  const leader = givenLeader(call);
  const checked = file === undefined ? undefined : checkConfig(file, cwd);
  const keys = { leader, toolKey, tools: undefined };
  const local = file === undefined ? [] : [checkConfiguration(file, checked, cwd), ...checkPairs(keys, checked)];
  const target = new URL(text);
  const ca = values.ca === undefined ? undefined : readNamed(cwd, values.ca);
  const address = await toolAddress(target, { rejectUnauthorized: false });
  const served = await checkServer(address, {
    committed: readMetaJson(root),
    leader: leader ?? (await ownLeader(root, target, env)),
    headerPrefix: headerPrefixOf(values["header-prefix"]),
    ca,
    unsigned: values.unsigned === true,
    maxBody: Number(checked?.config?.invokeMaxBodyBytes() ?? DEFAULT_INVOKE_MAX_BODY_BYTES),
    size: values.size === undefined ? undefined : readNumber("size", values.size, 0, MAX_SIZE),
  });
  return [...local, ...served];
}

/** Paths of generated files that are out of date; undefined if the project has errors. */
function stalePaths({ root }: GenerateOptions, { files, diagnostics }: Generated): readonly string[] | undefined {
  return hasErrors(diagnostics) ? undefined : staleFiles(root, files).map(({ path }) => path);
}

function givenLeader({ values, cwd }: DoctorCall): LeaderWithKey | undefined {
  const file = values["leader-key"];
  if (file === undefined) return undefined;
  const key = prepareSigningKey(readKeyFile(cwd, file).key);
  const { id, kid } = leaderOf(values);
  return { id, keyId: kid, key };
}

/** Leader of the project's own `svc-gen dev --signed`, if the URL is that server's. */
async function ownLeader(
  root: string,
  { protocol, hostname, port }: URL,
  env: CliHost["env"],
): Promise<LeaderWithKey | undefined> {
  const host = hostname === "localhost" ? "127.0.0.1" : hostname;
  const servers = await devServers(root, env);
  const isOwn = servers.some(({ url, signed }) => signed && url === `${protocol}//${host}:${port}`);
  const own = isOwn ? devKeys(privateFolder(root, env)) : undefined;
  return own && { id: DEV_LEADER.id, keyId: DEV_LEADER.kid, key: prepareSigningKey(own.leaderKey) };
}
