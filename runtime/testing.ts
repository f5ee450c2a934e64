/** svc-runtime/testing: runs tool classes in tests through the server's own pipeline (docs/testing.md). */

import "./internal/node-version.js";

export { LeaderError } from "svc-client/internal/leader/error";
export type { Leader } from "svc-client/internal/leader/request/request";
export type { SignedRequest } from "svc-client/internal/leader/request/signed-request";
export type { ErrEvalOutput, InputOf, OutputOf } from "svc-client/internal/leader/tool-types";
export { createFakeTool, type FakeTool, type FakeToolOptions } from "./testing/fake-tool.js";
export { createHarness, Harness, type SignedCall, type SignedCallOptions } from "./testing/harness.js";
export type { LogLine } from "./testing/kept-log.js";
export type { LeaderChoice } from "./testing/leaders.js";
export type { HarnessOptions, RawRequest, RawResponse } from "./testing/test-server.js";
