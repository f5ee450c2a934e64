/** docs/deploy: the compose files and the Kubernetes manifest by the schemas of their programs, and against what they refer to. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse, parseAllDocuments, parseDocument } from "yaml";
import { REDIS_SETTINGS } from "#runtime/config/environment.js";
import { type RedisReplayOptions, RedisReplayStore } from "#runtime/redis/index.js";

const read = (path: string) => readFileSync(path, "utf8");
const schema = (name: string) => JSON.parse(read(`test/e2e/schemas/${name}.json`)) as object;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
const faults = (validate: ReturnType<typeof ajv.compile>, data: unknown) =>
  validate(data) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

describe("compose files", () => {
  const validate = ajv.compile(schema("compose"));
  for (const path of ["docs/deploy/compose.yaml", "docs/deploy/replicas/compose.yaml"]) {
    it(`${path} is one by the schema of compose`, () => {
      const document = parseDocument(read(path), { merge: true });
      assert.deepEqual([document.errors, document.warnings], [[], []]);
      assert.deepEqual(faults(validate, document.toJS()), []);
    });
  }

  it("the schema finds a misspelt member", () => {
    const text = read("docs/deploy/replicas/compose.yaml").replace("stop_grace_period", "stop_grace_time");
    assert.ok(faults(validate, parse(text, { merge: true })).length > 0);
  });
});

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
  };
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly Container[];
}
interface Container {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly readinessProbe: { readonly httpGet?: { readonly path: string; readonly port: string } };
  readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
}

describe("docs/deploy/replicas/kubernetes.yaml", () => {
  const text = read("docs/deploy/replicas/kubernetes.yaml");
  const resources = parseAllDocuments(text).map((document) => {
    assert.deepEqual([document.errors, document.warnings], [[], []]);
    return document.toJS() as Resource;
  });
  const find = (kind: string, name: string) =>
    resources.find((resource) => resource.kind === kind && resource.metadata.name === name) ?? assert.fail(kind);
  ajv.addSchema(schema("kubernetes"), "kubernetes");
  const validate = (resource: unknown) => {
    const { kind } = resource as Resource;
    return faults(ajv.getSchema(`kubernetes#/$defs/${kind}`) ?? assert.fail(kind), resource);
  };
  const tool = find("Deployment", "tool").spec.template?.spec ?? assert.fail();
  const [container] = tool.containers as readonly [Container];

  it("has a disruption budget and a rolling update for three replicas, by the strict schemas of Kubernetes", () => {
    const kinds = resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.deepEqual(kinds, [
      "Deployment tool",
      "Service tool",
      "PodDisruptionBudget tool",
      "Service redis",
      "StatefulSet redis",
      "PodDisruptionBudget redis",
      "NetworkPolicy redis",
    ]);
    for (const resource of resources) assert.deepEqual(validate(resource), [], resource.kind);
  });

  it("the schemas find misspelt members, wrong types and missing ones, deep down too", () => {
    for (const [from, to] of [
      ["readinessProbe:", "readynessProbe:"],
      ["minAvailable: 2", "minAvailabel: 2"],
      ["failureThreshold: 1", 'failureThreshold: "1"'],
      ["containerPort: 8080", "hostPort: 8080"],
    ] as const) {
      assert.ok(text.includes(from), from);
      const found = parseAllDocuments(text.replace(from, to)).flatMap((document) => validate(document.toJS()));
      assert.ok(found.length > 0, to);
    }
  });

  it("every selector finds pods", () => {
    const pods = resources.flatMap(({ spec }) => (spec.template === undefined ? [] : [spec.template.metadata.labels]));
    for (const { spec, kind } of resources) {
      const labels = spec.selector?.matchLabels ?? spec.selector;
      if (labels !== undefined)
        assert.ok(
          pods.some((pod) => JSON.stringify(pod) === JSON.stringify(labels)),
          kind,
        );
    }
  });

  it("probes go to the listener for operators, liveness does not ask for Redis", () => {
    const admin = container.env?.find(({ name }) => name === "SVC_ADMIN_ADDR")?.value;
    const port = container.ports.find(({ name }) => name === "admin")?.containerPort;
    assert.equal(admin, `0.0.0.0:${port}`);
    assert.deepEqual(container.readinessProbe.httpGet, { path: "/readyz", port: "admin" });
    assert.equal(container.livenessProbe?.httpGet.path, "/livez");
  });

  it("the pod's grace is longer than preStop and the whole shutdown", () => {
    const [, seconds] = container.lifecycle?.preStop.exec.command ?? [];
    // The drain limit, the grace and the last answers: docs/operations.md, Shutdown.
    assert.ok(tool.terminationGracePeriodSeconds >= Number(seconds) + 25 + 2 + 2 + 5);
  });
});

describe("settings of the replicas", () => {
  it("compose and Kubernetes set the same ones, and no other than the server knows", () => {
    const compose = parse(read("docs/deploy/replicas/compose.yaml"), { merge: true });
    const manifest = parseAllDocuments(read("docs/deploy/replicas/kubernetes.yaml"))[0]?.toJS();
    const env = manifest.spec.template.spec.containers[0].env as { name: string }[];
    const names = Object.keys(compose.services["tool-1"].environment).sort();
    assert.deepEqual(env.map(({ name }) => name).sort(), names);
    const ours = ["BIND_ADDR", "SVC_ADMIN_ADDR", "SVC_TOOLKIT_CONFIG_PATH", ...REDIS_SETTINGS];
    assert.deepEqual(
      names.filter((name) => !ours.includes(name)),
      [],
    );
    for (const tool of ["tool-2", "tool-3"]) {
      assert.deepEqual(compose.services[tool].environment, compose.services["tool-1"].environment);
    }
  });

  it("the certificate of setup.sh has every address and name of Redis", () => {
    const [, names = ""] = /^names=(IP:\S+)\nnames=\$names,/m.exec(read("docs/deploy/replicas/setup.sh")) ?? [];
    const compose = parse(read("docs/deploy/replicas/compose.yaml"), { merge: true });
    for (const [name, service] of Object.entries(compose.services) as [
      string,
      { networks: { inside: { ipv4_address: string } } },
    ][]) {
      if (/^(redis|sentinel)-/.test(name))
        assert.ok(names.includes(`IP:${service.networks.inside.ipv4_address}`), name);
    }
    for (const pod of [0, 1, 2])
      assert.match(read("docs/deploy/replicas/setup.sh"), new RegExp(`DNS:redis-${pod}\\.redis\\b`));
  });
});

describe("docs/operations.md, Shared replay state", () => {
  const [, section = ""] = read("docs/operations.md").split("\n## Shared replay state\n");
  const [page = ""] = section.split(/\n## /);
  const rows = page.split("\n").filter((line) => line.startsWith("| `SVC_"));

  it("lists every setting", () => {
    const names = rows.flatMap((row) => row.split("|")[1]?.match(/\w+/g) ?? []);
    assert.deepEqual(names, REDIS_SETTINGS);
  });

  it("has the defaults and bounds of the numbers, and of the prefix", () => {
    const store = (options: RedisReplayOptions) => new RedisReplayStore({ url: "unix:///none", ...options });
    const [timeout = "", grace = ""] = rows.filter((row) => row.includes("_MS`"));
    const [, limits = ""] = timeout.split("| 1,000 |");
    const [least, most] = [...limits.matchAll(/[\d,]+/g)].map(([text]) => Number(text.replaceAll(",", ""))).slice(-2);
    assert.ok(least !== undefined && most !== undefined);
    for (const timeoutMs of [least, most]) store({ timeoutMs });
    for (const timeoutMs of [least - 1, most + 1]) assert.throws(() => store({ timeoutMs }), RangeError);
    assert.match(grace, /\| 5,000 \|/);
    const source = read("runtime/redis/redis-replay-store.ts");
    assert.match(source, /DEFAULT_TIMEOUT_MS = 1_000;/);
    assert.match(source, /DEFAULT_GRACE_MS = 5_000;/);
    assert.match(source, /prefix = "svc:"/);
  });

  it("gives the rights and the settings of Redis that the files of docs/deploy/replicas have", () => {
    const rights = (text: string) => /^ *user svc on .* (~svc:\* -@all .*)$/m.exec(text)?.[1];
    assert.ok(rights(page) !== undefined);
    assert.equal(rights(page), rights(read("docs/deploy/replicas/setup.sh")));
    const conf = read("docs/deploy/replicas/redis/redis.conf").split("\n");
    const settings = page.match(/^ {4}(?:maxmemory|append|min-)[^#\n]*/gm) ?? [];
    assert.equal(settings.length, 6);
    for (const setting of settings) assert.ok(conf.includes(setting.trim()), setting);
  });
});
