/** docs/deploy: the container's files against what they refer to. container-image.test.ts builds and starts the image. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { GUIDE_FILES } from "../guide.js";

const containerfile = readFileSync("docs/deploy/Containerfile", "utf8");
const compose = readFileSync("docs/deploy/compose.yaml", "utf8");

it("the container starts node itself, as a user without rights", () => {
  assert.match(containerfile, /^CMD \["node", "dist\/generated\/server\.js"\]$/m);
  assert.match(containerfile, /^USER 1000:1000$/m);
});

it("both stages take the base image from an argument, whose default is a tested version of Node", () => {
  assert.equal(containerfile.match(/^FROM \$\{NODE_IMAGE\}/gm)?.length, 2);
  assert.doesNotMatch(containerfile, /^FROM (?!\$)/m);
  const [, line = ""] = /^ARG NODE_IMAGE=node:(\d+)-slim$/m.exec(containerfile) ?? [];
  assert.match(readFileSync("VERSIONING.md", "utf8"), new RegExp(`^\\| ${line}\\.\\S+ .*\\| passed \\|$`, "m"));
});

it("container and gateway use the same port", () => {
  assert.match(containerfile, /BIND_ADDR=0\.0\.0\.0:8080/);
  assert.match(compose, /expose: \["8080"\]/);
  assert.match(compose, /ports: \["443:8443"\]/);
});

it("svc comes from the checkout that package.json of a project refers to", () => {
  assert.match(containerfile, /^#.* --build-context svc=\.\.\/svc /m);
  assert.match(compose, /^ {6}additional_contexts:\n {8}svc: \.\.\/svc$/m);
  assert.match(GUIDE_FILES["package.json"] ?? "", /"svc-runtime": "file:\.\.\/svc\/runtime"/);
});
