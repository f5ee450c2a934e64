import assert from "node:assert/strict";
import { test } from "node:test";
import { isLoopback } from "#client/loopback.js";

test("only loopback addresses and localhost are this machine, in every notation of an address", () => {
  const here = ["localhost", "LOCALHOST", "127.0.0.1", "127.255.0.2", "::1", "[::1]", "0:0:0:0:0:0:0:1", "::1%lo"];
  const mapped = ["::ffff:127.0.0.1", "[::ffff:7f00:1]", "::ffff:127.0.0.1%lo", "[0:0:0:0:0:ffff:7f01:203]"];
  for (const host of [...here, ...mapped]) assert.equal(isLoopback(host), true, host);
  const names = ["127.example.com", "127.0.0.1.example.com", "localhost.example.com", "loopback", "ffff", "", "a b"];
  const parts = [
    "127.0.0.1/a",
    "u@localhost",
    "localhost#a",
    "127.0.0.1:80",
    "[::1]:80",
    "localhost%lo",
    "127.0.0.256",
  ];
  const others = [
    "128.0.0.1",
    "0.0.0.0",
    "::",
    "::2",
    "fe80::1%eth0",
    "::ffff:8.8.8.8",
    "::ffff:7f:1",
    "64:ff9b::7f00:1",
  ];
  for (const host of [...names, ...parts, ...others]) assert.equal(isLoopback(host), false, host);
});
