/** Requests of a page to its server, without a browser. */

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

/** Posts as a script of the page does; gives the status and the text of the answer. */
export async function postAs(page: string, name: string, body: object): Promise<{ status: number; text: string }> {
  const headers = { "Content-Type": "application/json", Origin: new URL(page).origin };
  const response = await fetch(`${page}api/${name}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}
