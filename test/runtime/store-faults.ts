/** Faults of a `DevStore`: answers that are late, damaged or cut off. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { DevAnswer, DevFault, DevStore } from "#runtime/storage/dev/dev-store.js";

export type StoreFault =
  | Extract<DevFault, { kind: "status" }>
  /** The answer starts late. */
  | { readonly kind: "slow"; readonly delayMs: number }
  /** The answer stops after half of its body; the connection stays open, or ends. */
  | { readonly kind: "stall" | "truncated" }
  /** One bit of the content is flipped, or the answer has another blob id. */
  | { readonly kind: "wrong-bytes" | "wrong-id" }
  /** The connection is reset: `before` the request's body is read, or `after` the blob is stored. */
  | { readonly kind: "reset"; readonly when: "before" | "after" }
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string | Uint8Array;
    };

/** Queues a fault for the next requests of a method. */
export function failNext(store: DevStore, on: "PUT" | "GET", fault: StoreFault, times = 1): void {
  const unread = fault.kind === "reset" && fault.when === "before";
  store.fail(on, fault.kind === "status" ? fault : { kind: "answer", unread, send: senderOf(fault) }, times);
}

function senderOf(fault: Exclude<StoreFault, { kind: "status" }>): DevAnswer["send"] {
  return async (response, content) => {
    const whole = (body: Buffer) => void response.writeHead(200, { "Content-Length": body.length }).end(body);
    switch (fault.kind) {
      case "slow": {
        const left = new AbortController();
        if (response.closed) left.abort();
        void once(response, "close").then(() => left.abort());
        await sleep(fault.delayMs, undefined, { signal: left.signal });
        return whole(content);
      }
      case "stall":
      case "truncated":
        response.writeHead(200, { "Content-Length": content.length });
        response.write(content.subarray(0, content.length >> 1), () => {
          if (fault.kind === "truncated") response.socket?.end();
        });
        return;
      case "wrong-bytes":
        return whole(Buffer.from(content.map((byte, at) => (at === content.length >> 1 ? byte ^ 1 : byte))));
      case "wrong-id":
        return whole(
          Buffer.from(
            content.toString().replace(/"blobId":"[^"]*"/, `"blobId":"${randomBytes(32).toString("base64url")}"`),
          ),
        );
      case "reset":
        return void response.req.socket.resetAndDestroy();
      case "answer": {
        const body = Buffer.from(fault.body);
        response.writeHead(fault.status, { "Content-Length": body.length, ...fault.headers }).end(body);
      }
    }
  };
}
