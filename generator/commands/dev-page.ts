/** Development page of `svc-gen dev`, for the project or for a running server. */

import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type CommandContext, CommandError, UsageError } from "../cli/command.js";
import type { GenerateOptions } from "../compile/project/layout.js";
import { devKeys } from "../dev/dev-keys.js";
import type { DevEvent } from "../dev/dev-session.js";
import { makePrivateFolder, privateFolder } from "../dev/dev-state.js";
import { isDebugLine, type LoggedCall, loggedCall } from "../dev/log-lines.js";
import { DevelopmentPage } from "../dev/page-server/development-page.js";
import { PageFault } from "../dev/page-server/page-fault.js";
import type { PageAddress } from "../dev/page-server/page-server.js";
import { readMetaJson } from "../files/output-files.js";
import { KeyFileError, readKeyFile, writeKeyFile } from "../keys/key-file.js";
import { newKey } from "../keys/key-forms.js";
import { DEFAULT_SERVER, isHttpUrl, schemeAdvice } from "../tools/tool-addresses.js";
import { devMcp } from "./dev-mcp.js";
import { AS_OPTION, type LEADER_OPTIONS, leaderOptions } from "./options/leader-options.js";
import { MAX_PORT, readNumber } from "./options/number-option.js";
import type { PAGE_OPTIONS } from "./options/page-options.js";

export interface PageEvent {
  readonly event: "page";
  readonly url: string;
  /** Address for MCP clients; undefined if there is none. */
  readonly mcp?: string;
}

export interface CallEvent extends LoggedCall {
  readonly event: "call";
}

type LeaderCall = CommandContext<typeof LEADER_OPTIONS & typeof PAGE_OPTIONS & typeof DEV_OPTIONS>;

/** Options of the development server that its page depends on. */
export const DEV_OPTIONS = {
  port: {
    type: "string",
    value: "PORT",
    summary: "port on 127.0.0.1 (default: 8080, or a free one)",
    excludes: ["url"],
  },
  signed: {
    type: "boolean",
    summary: "require signed requests; the development keys are created for this project",
    excludes: ["url"],
  },
  as: {
    ...AS_OPTION,
    multiple: true,
    summary: "accept this leader too, with the development key, so that you can call authorize(); repeatable",
    needs: ["signed"],
  },
} as const;

/** Log level that contains the server's own times of each call, which the page and the terminal show. */
export const DEV_LOG_LEVEL = { SVC_LOG_LEVEL: "debug" } as const;

/**
 * Opens the page of a project.
 *
 * @param settings variables of the server. If they set a log level, debug lines are printed too. If they name a
 * configuration, MCP clients are not answered
 * @param tell prints events
 */
export async function followedPage(
  call: LeaderCall,
  project: GenerateOptions,
  settings: LeaderCall["env"],
  tell: (event: DevEvent | PageEvent | CallEvent) => void,
): Promise<{
  readonly url: string;
  readonly mcp: string | undefined;
  readonly onEvent: (event: DevEvent) => void;
  readonly close: () => Promise<void>;
}> {
  const { root } = project;
  const leader = () => {
    const own = devKeys(privateFolder(root, call.env));
    const { toolKey = own?.toolPublicKey, ...options } = leaderOptions(call, call.values.signed === true, root);
    return { ...options, ...(toolKey !== undefined && { toolKey }), as: call.values.as ?? [] };
  };
  const showsDebug = settings.SVC_LOG_LEVEL !== undefined;
  const { port, signed = false, host, "leader-key": leaderKey } = call.values;
  // MCP clients are answered only on this machine, and only with the development keys.
  const isOwn = signed ? leaderKey === undefined : settings.SVC_TOOLKIT_CONFIG_PATH === undefined;
  const bridge = host === undefined && isOwn ? devMcp(call, root) : undefined;
  const isAny = port === "0";
  const address = pageAddress(call, isAny ? undefined : `${realpathSync(root)} ${signed}`);
  const token = pageToken(root, call.env);
  const page = new DevelopmentPage({
    root,
    leader,
    address: { ...address, token },
    mcp: bridge?.answer,
  });
  await opened(page);
  const { url } = page;
  const mcp = bridge && `${url}mcp`;
  tell({ event: "page", url, ...(mcp !== undefined && { mcp }) });
  return {
    url,
    mcp,
    close: async () => {
      await page.close();
      await bridge?.close();
    },
    onEvent: (event) => {
      bridge?.onEvent(event);
      void page.follow(event, () => readMetaJson(root) ?? "[]");
      const isHidden = event.event === "line" && !showsDebug && isDebugLine(event.line);
      const logged = isHidden ? loggedCall(event.line) : undefined;
      if (logged !== undefined) tell({ event: "call", ...logged });
      else if (!isHidden) tell(event);
    },
  };
}

/**
 * Opens the page of a running server. The page can reload the server's tools.
 *
 * @throws UsageError for an invalid address
 */
export async function openRemotePage(address: string, call: LeaderCall): Promise<DevelopmentPage> {
  if (!isHttpUrl(address))
    throw new UsageError(`--url expects the address of a server, such as ${DEFAULT_SERVER}${schemeAdvice(address)}`);
  const leader = () => leaderOptions(call, true);
  const page = new DevelopmentPage({
    url: address,
    leader,
    address: pageAddress(call, address),
  });
  await opened(page);
  return page;
}

/** Ports for pages, below those that systems use for outgoing connections. */
const PORTS = { from: 20_000, count: 10_000 };
/** File with the random bytes from which the path of a project's page is derived. */
const PAGE_KEY = "page.key";

/** @param name identifies the content of the page: the same name has the same port; undefined for any free port */
function pageAddress({ values }: LeaderCall, name: string | undefined): PageAddress {
  const { host, "page-port": given } = values;
  if (given !== undefined) return { host, port: readNumber("page-port", given, 0, MAX_PORT), exact: true };
  if (name === undefined) return { host, port: 0, exact: true };
  const number = createHash("sha256").update(name).digest().readUInt32BE();
  return { host, port: PORTS.from + (number % PORTS.count), exact: false };
}

/** Token of a project's page. Stays the same, so that an open page continues to work after a restart. */
function pageToken(root: string, env: LeaderCall["env"]): string {
  const folder = makePrivateFolder(root, env);
  if (!existsSync(join(folder, PAGE_KEY))) writeKeyFile(folder, PAGE_KEY, newKey().text);
  try {
    return readKeyFile(folder, PAGE_KEY).key.toString("base64url");
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    throw new CommandError(error.message, `delete this file in ${folder}: svc-gen dev will create a new one`);
  }
}

async function opened(page: DevelopmentPage): Promise<void> {
  try {
    await page.open();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof PageFault)
      throw new CommandError(message, "choose another port with --page-port, or omit --page-port");
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new UsageError(`--host expects an address of this machine: ${code}`);
    throw error;
  }
}
