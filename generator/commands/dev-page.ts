/** The development page of `svc-gen dev`: of the project, or of a running server. */

import type { DevEvent } from "../dev/dev-session.js";
import { isDebugLine } from "../dev/log-lines.js";
import { DevelopmentPage } from "../dev/page-server/development-page.js";
import { readOutput } from "../output-files.js";
import type { GenerateOptions } from "../project/layout.js";
import { type Call, type Options, UsageError } from "./command.js";
import { type LEADER_OPTIONS, leaderOptions } from "./leader-options.js";

/** Printed once, before the first build. */
export interface PageEvent {
  readonly event: "page";
  readonly url: string;
}

type LeaderCall = Call<typeof LEADER_OPTIONS & Options>;

/** The page shows each call with the server's own times, which the log has at this level. */
export const DEV_LOG_LEVEL = { SVC_LOG_LEVEL: "debug" } as const;

/**
 * Opens the page of a project.
 *
 * @param tell prints events; lines of the log that only the page asked for are left out
 */
export async function followedPage(
  call: LeaderCall,
  project: GenerateOptions,
  tell: (event: DevEvent | PageEvent) => void,
): Promise<{
  readonly url: string;
  readonly onEvent: (event: DevEvent) => void;
  readonly close: () => Promise<void>;
}> {
  const { root } = project;
  const leader = () => leaderOptions(call, call.values.signed === true, root);
  const page = new DevelopmentPage({ root, leader });
  await page.open();
  tell({ event: "page", url: page.url });
  const showsDebug = call.env.SVC_LOG_LEVEL !== undefined;
  return {
    url: page.url,
    close: () => page.close(),
    onEvent: (event) => {
      void page.follow(event, () => readOutput(root, "meta.json")?.toString() ?? "[]");
      if (event.event !== "line" || showsDebug || !isDebugLine(event.line)) tell(event);
    },
  };
}

/**
 * Opens the page of a running server, which is read again from the page.
 *
 * @throws UsageError for an address that is none
 */
export async function openRemotePage(address: string, call: LeaderCall): Promise<DevelopmentPage> {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw new UsageError("--url wants the address of a server, such as http://127.0.0.1:8080");
  }
  const { origin, pathname } = new URL(address);
  const url = `${origin}${pathname.replace(/\/(?:invoke|meta|health)?\/*$/, "")}`;
  const page = new DevelopmentPage({ url, leader: () => leaderOptions(call, true) });
  await page.open();
  return page;
}
