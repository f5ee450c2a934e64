/** The development page of `svc-gen dev`: of the project, or of a running server. */

import type { DevEvent } from "../dev/dev-session.js";
import { isDebugLine, type LoggedCall, loggedCall } from "../dev/log-lines.js";
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

/** A call that the server answered. */
export interface CallEvent extends LoggedCall {
  readonly event: "call";
}

type LeaderCall = Call<typeof LEADER_OPTIONS & Options>;

/** The page and the terminal show each call with the server's own times, which the log has at this level. */
export const DEV_LOG_LEVEL = { SVC_LOG_LEVEL: "debug" } as const;

/**
 * Opens the page of a project.
 *
 * @param showsDebug whether debug lines of the log are printed, otherwise only the calls that they are about
 * @param tell prints events
 */
export async function followedPage(
  call: LeaderCall,
  project: GenerateOptions,
  showsDebug: boolean,
  tell: (event: DevEvent | PageEvent | CallEvent) => void,
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
  return {
    url: page.url,
    close: () => page.close(),
    onEvent: (event) => {
      void page.follow(event, () => readOutput(root, "meta.json")?.toString() ?? "[]");
      const isHidden = event.event === "line" && !showsDebug && isDebugLine(event.line);
      const logged = isHidden ? loggedCall(event.line) : undefined;
      if (logged !== undefined) tell({ event: "call", ...logged });
      else if (!isHidden) tell(event);
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
