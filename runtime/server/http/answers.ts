/**
 * Sends the answers of the routes through fastify, which runs the hooks of the application. The bytes of an answer count
 * before they are sent, and a connection that has ended gets nothing more.
 */

import type { FastifyReply } from "fastify";
import { errorReply, type InvokeService } from "../call/invoke-service.js";
import type { Reply } from "../call/messages.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { HeaviestConnection } from "./heaviest-connection.js";
import { type ConnectionLimits, MAX_UNREAD_BYTES } from "./limits.js";
import { destroyUnlessFlushed, endAfterRequest, isKept, unreadBytes } from "./lingering-close.js";
import { REQUEST_ID_HEADER, requestIdOf } from "./request-id.js";

/** Keeps caches from storing an answer, and from giving it to another caller. */
export const NO_STORE = ["cache-control", "no-store"] as const;

export interface AnswersOptions {
  readonly service: InvokeService;
  readonly log: ServerLogger;
  /** Maximum total bytes of unread answers; {@link MAX_UNREAD_BYTES} by default. */
  readonly maxUnreadBytes?: number | undefined;
}

export class Answers {
  readonly #service: InvokeService;
  readonly #log: ServerLogger;
  readonly #deadlines: ConnectionLimits;
  /** Number of bytes of answers that are not read yet. */
  readonly #unread: HeaviestConnection;
  /** Sends the answers of failed calls after the `onError` hooks. */
  readonly #failed = new WeakMap<FastifyReply, () => void>();

  constructor({ service, log, maxUnreadBytes = MAX_UNREAD_BYTES }: AnswersOptions, deadlines: ConnectionLimits) {
    this.#service = service;
    this.#log = log;
    this.#deadlines = deadlines;
    this.#unread = new HeaviestConnection(maxUnreadBytes, () => service.load.refusals.count("answers"));
  }

  /**
   * Sends an answer, and counts its bytes as unread until they are sent. Never throws.
   *
   * @param last whether the connection closes after this answer
   */
  send(reply: FastifyReply, answer: Reply, last: boolean): void {
    const { raw, request } = reply;
    // The author's own route has sent its headers, so its answer can only be cut off.
    if (raw.headersSent) return void raw.destroy();
    const { socket } = request.raw;
    const { length } = answer.body;
    if (length > 0) this.#unread.hold(socket, length);
    if (socket.destroyed) return;
    raw.once("close", () => this.#unread.release(socket, length));
    try {
      this.#send(reply, answer, last);
    } catch (error) {
      this.fail(reply, error);
    }
  }

  /** Sends the answer of a failed call, after the application's `onError` hooks ran with its error. */
  sendFailure(reply: FastifyReply, answer: Reply, last: boolean): void {
    const { error } = answer;
    this.#failed.set(reply, () => this.send(reply, answer, last));
    reply.send(
      error instanceof Error ? error : new Error("the tool threw a value that is not an Error", { cause: error }),
    );
  }

  /** Sends the answer of a failed call. Returns false if the reply has none. */
  sendFailed(reply: FastifyReply): boolean {
    const send = this.#failed.get(reply);
    this.#failed.delete(reply);
    send?.();
    return send !== undefined;
  }

  /** Answers 500 without running hooks, because a hook may be the cause. */
  fail(reply: FastifyReply, error: unknown): void {
    this.#log.error({ err: error }, "sending an answer failed");
    const { raw } = reply;
    if (raw.headersSent) return void raw.destroy();
    reply.hijack();
    for (const name of raw.getHeaderNames()) raw.removeHeader(name);
    const { status, headers, body } = errorReply("internal_error");
    const memory = this.#service.memoryHeader ?? [];
    const id = [REQUEST_ID_HEADER, requestIdOf(reply.request.id)];
    const length = ["content-length", String(body.length)];
    raw.writeHead(status, [...headers, ...id, ...memory, ...NO_STORE, ...length, "connection", "close"]).end(body);
  }

  #send(reply: FastifyReply, { status, headers, body, sent }: Reply, last: boolean): void {
    const request = reply.request.raw;
    const response = reply.raw;
    const memory = this.#service.memoryHeader;
    if (memory !== undefined) reply.header(...memory);
    reply.code(status);
    reply.header(REQUEST_ID_HEADER, requestIdOf(reply.request.id));
    reply.header(...NO_STORE);
    for (let i = 0; i < headers.length; i += 2) {
      const [name, value] = [headers[i] as string, headers[i + 1] as string];
      // CORS hooks also set `Vary`.
      reply.header(name, name === "vary" && reply.hasHeader(name) ? `${reply.getHeader(name)}, ${value}` : value);
    }
    // fastify omits it for HEAD without a body. Statuses 204 and 304 must not have it (RFC 9110 section 8.6).
    if (body.length === 0 && status !== 204 && status !== 304) reply.header("content-length", "0");
    const unread = unreadBytes(request);
    if (last || !isKept(unread)) reply.header("connection", "close");
    if (unread > 0) endAfterRequest(request, response, this.#deadlines.lingerMs);
    reply.send(body.length === 0 ? undefined : body);
    if (sent !== undefined) response.once("finish", sent);
    destroyUnlessFlushed(response, this.#deadlines.answerMs);
  }
}
