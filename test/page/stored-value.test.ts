/** Reading a stored value of a result on the page: from the aggregator, if its bytes are those that the tool stored. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { DevelopmentPage } from "#generator/dev/page-server/development-page.js";
import type { ExchangeReport, StoredContent } from "#generator/dev/page-server/page-api.js";
import { NexusData, NexusValue, OffchainToolOutput, serve } from "#runtime/index.js";
import { provideContracts } from "#runtime/v1.js";
import { listen } from "../listening.js";
import { keptLog, UNSIGNED } from "../runtime/tools.js";
import { atEnd } from "../teardown.js";
import { Adding, CONTRACTS } from "./adding.js";
import { postAs } from "./requests.js";

const CONTENT = '{"rows":[1,2]}';
const BLOB_ID = "A".repeat(43);

test("reads a stored value, and refuses other bytes", async () => {
  const digest = createHash("sha256").update(CONTENT).digest();
  class Storing extends Adding {
    override encodeOutput() {
      return OffchainToolOutput.fromPorts("ok", [["sum", NexusData.one(NexusValue.walrus(BLOB_ID, digest))]]);
    }
  }
  provideContracts(CONTRACTS);
  const server = await serve([Storing], { address: [[127, 0, 0, 1], 0], config: UNSIGNED, logger: keptLog() });
  atEnd(() => server.close());
  let stored = CONTENT;
  const asked: string[] = [];
  const aggregator = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.statusCode = stored === "" ? 404 : 200;
    response.end(stored);
  });
  let configured: string | undefined = `http://${await listen(aggregator)}/base/`;
  const page = new DevelopmentPage({ url: server.url, leader: () => ({}), aggregator: () => configured });
  await page.open();
  atEnd(() => page.close());
  const post = (name: string, body: object) => postAs(page.url, name, body);
  const call = await post("call", {
    fqn: "xyz.page.adding@1",
    kind: "call",
    signed: false,
    input: '{"a":1,"b":2,"words":["x"]}',
  });
  assert.equal(call.status, 200, call.text);
  const { id, exchange } = JSON.parse(call.text) as ExchangeReport;
  assert.deepEqual(exchange.result?.stored, [{ port: "sum", blobId: BLOB_ID, sha256: digest.toString("hex") }]);

  const read = await post("read", { id, index: 0 });
  assert.deepEqual(JSON.parse(read.text) as StoredContent, { text: CONTENT, bytes: CONTENT.length });
  assert.deepEqual(asked, [`/base/v1/blobs/${BLOB_ID}`]);

  const refused = async (index: number, reason: RegExp) => {
    const { status, text } = await post("read", { id, index });
    assert.notEqual(status, 200);
    assert.match(text, reason);
    assert.ok(!text.includes("127.0.0.1"), "the page does not learn the address");
  };
  stored = "other bytes";
  await refused(0, /their SHA-256 differs/);
  stored = "";
  await refused(0, /the aggregator answers 404/);
  await refused(1, /no such stored value/);
  configured = undefined;
  await refused(0, /set WALRUS_AGGREGATOR/);
  configured = "http://127.0.0.1:1";
  await refused(0, /did not return the value/);
});
