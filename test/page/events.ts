/** The events of a page, read without a browser. */

import { request } from "node:http";
import type { PageState } from "#generator/dev/page-server/page-api.js";

/** The events that a page gets when it is opened: its state, the lines of the log, and the calls. */
export function firstEvents(page: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = request(`${page}api/events`, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        if ((text.match(/\n\n/g) ?? []).length < 3) return;
        stream.destroy();
        resolve(text);
      });
    });
    stream.on("error", reject);
    stream.end();
  });
}

export async function stateOf(page: string): Promise<PageState> {
  return JSON.parse(/^event: state\ndata: (.*)$/m.exec(await firstEvents(page))?.[1] ?? "null") as PageState;
}
