/** docs/deploy: the compose files and the Kubernetes manifests by the schemas of their programs, and against what they refer to. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse, parseAllDocuments, parseDocument } from "yaml";
import { ToolkitRuntimeConfig } from "#runtime/config/config.js";
import { REDIS_SETTINGS } from "#runtime/config/environment.js";
import { DEFAULT_TIMEOUT_MS } from "#runtime/index.js";
import { TIMEOUT_MARGIN_MS } from "#runtime/leader.js";
import { CLOSE_LIMIT_MS } from "#runtime/server/call/run/class-hooks.js";
import { GRACE_MS, LINGER_MS } from "#runtime/server/http/shutdown.js";

const read = (path: string) => readFileSync(path, "utf8");
const schema = (name: string) => JSON.parse(read(`test/e2e/schemas/${name}.json`)) as object;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(schema("kubernetes"), "kubernetes");
const faults = (validate: ReturnType<typeof ajv.compile>, data: unknown) =>
  validate(data) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

/** The folders of one server and of replicas: each has a compose file, a manifest and a configuration of nginx. */
const FOLDERS = ["docs/deploy", "docs/deploy/replicas"] as const;

/** Seconds from SIGTERM to the end of a server with the default times: docs/deploy/README.md. */
function shutdownSeconds(): number {
  const [, drain] = /^const DEFAULT_DRAIN_MS = ([\d_]+);$/m.exec(read("runtime/server/http/shutdown.ts")) ?? [];
  const drainMs = Number((drain ?? assert.fail("no drain limit")).replaceAll("_", ""));
  return (drainMs + GRACE_MS + LINGER_MS + CLOSE_LIMIT_MS) / 1_000;
}

interface ComposeService {
  readonly stop_grace_period?: string;
  readonly user?: string;
  readonly volumes: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}
const composeOf = (path: string) =>
  (parse(read(path), { merge: true }) as { services: Readonly<Record<string, ComposeService>> }).services;
const toolsOf = (folder: string) =>
  Object.entries(composeOf(`${folder}/compose.yaml`)).filter(([name]) => name.startsWith("tool"));

describe("compose files", () => {
  const validate = ajv.compile(schema("compose"));
  for (const path of [
    ...FOLDERS.map((folder) => `${folder}/compose.yaml`),
    "docs/deploy/monitoring/compose.yaml",
    "docs/deploy/monitoring/compose-replicas.yaml",
  ]) {
    it(`${path} is valid by the schema of compose`, () => {
      const document = parseDocument(read(path), { merge: true });
      assert.deepEqual([document.errors, document.warnings], [[], []]);
      assert.deepEqual(faults(validate, document.toJS()), []);
    });
  }

  for (const folder of FOLDERS) {
    it(`${folder}: tools get the time of a complete shutdown, and run as the owner of the configuration`, () => {
      const [, command = assert.fail()] = /^# {3}(echo .*) >\.env$/m.exec(read(`${folder}/compose.yaml`)) ?? [];
      const { stdout } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
      assert.equal(stdout, `TOOL_USER=${process.getuid?.()}:${process.getgid?.()}\n`);
      for (const [name, { stop_grace_period: grace = "10s", user = "" }] of toolsOf(folder)) {
        assert.ok(Number.parseInt(grace, 10) > shutdownSeconds(), `${name}: ${grace}`);
        assert.match(user, /^\$\{TOOL_USER:\?.*\}$/, name);
      }
    });

    it(`${folder}: nginx verifies the certificate of the server, which serves TLS with the files of its volume`, () => {
      const conf = read(`${folder}/nginx.conf`);
      assert.doesNotMatch(conf, /proxy_pass http:/);
      for (const line of ["proxy_pass https://", "proxy_ssl_verify on;", "proxy_ssl_name tool;"])
        assert.ok(conf.includes(line), line);
      const trusted = /proxy_ssl_trusted_certificate (.*)\/tool\.pem;/.exec(conf)?.[1];
      const { gateway } = composeOf(`${folder}/compose.yaml`);
      assert.ok(gateway?.volumes.includes(`./upstream/gateway:${trusted}:ro`));
      for (const [name, { volumes, environment = {} }] of toolsOf(folder)) {
        assert.ok(volumes.includes("./upstream/tool:/etc/tool-tls:ro"), name);
        assert.equal(environment.SVC_TOOL_TLS_CERT_PATH, "/etc/tool-tls/cert.pem", name);
        assert.equal(environment.SVC_TOOL_TLS_KEY_PATH, "/etc/tool-tls/key.pem", name);
      }
    });

    it(`${folder}: nginx waits for the 504 of a server, but not until a client gives up`, () => {
      const seconds = Number(/^ *proxy_read_timeout (\d+)s;$/m.exec(read(`${folder}/nginx.conf`))?.[1]);
      assert.ok(seconds * 1_000 > DEFAULT_TIMEOUT_MS && seconds * 1_000 < DEFAULT_TIMEOUT_MS + TIMEOUT_MARGIN_MS);
    });
  }

  it("the gateway reaches the port of the container, and clients that of the gateway", () => {
    const image = read("docs/deploy/Containerfile");
    assert.match(image, /BIND_ADDR=0\.0\.0\.0:8080/);
    const compose = read("docs/deploy/compose.yaml");
    for (const line of ['expose: ["8080"]', 'ports: ["443:8443"]']) assert.ok(compose.includes(line), line);
    // The default base image is a tested version of Node.
    const [, line = ""] = /^ARG NODE_IMAGE=node:(\d+)-slim$/m.exec(image) ?? [];
    assert.match(read("VERSIONING.md"), new RegExp(`^\\| ${line}\\.\\S+ .*\\| passed \\|$`, "m"));
  });

  it("only with a shared replay store does nginx send a call again", () => {
    assert.match(read("docs/deploy/nginx.conf"), /^ *proxy_next_upstream off;$/m);
    assert.match(read("docs/deploy/replicas/nginx.conf"), /^ *proxy_next_upstream_tries 3;$/m);
  });
});

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas?: number;
    readonly strategy?: object;
    readonly selector?: { readonly matchLabels?: object };
    readonly podSelector?: { readonly matchLabels: object };
    readonly template?: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
    readonly ports?: readonly { readonly targetPort?: string }[];
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly { readonly ports: readonly { readonly port: string }[] }[];
    readonly egress?: readonly { readonly to?: unknown; readonly ports: readonly { readonly port: number }[] }[];
  };
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number };
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
}
interface Probe {
  readonly timeoutSeconds?: number;
  readonly httpGet?: object;
}
interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle: {
    readonly preStop: { readonly exec?: { command: readonly string[] }; readonly sleep?: { seconds: number } };
  };
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

/** The resources of a manifest with the faults of each by the strict schema of its kind. */
const checked = (manifest: string) =>
  parseAllDocuments(manifest).map((document) => {
    const resource = document.toJS() as Resource;
    const found = faults(ajv.getSchema(`kubernetes#/$defs/${resource.kind}`) ?? assert.fail(resource.kind), resource);
    return { resource, faults: [...document.errors, ...document.warnings, ...found] };
  });

for (const folder of FOLDERS) {
  const path = `${folder}/kubernetes.yaml`;
  const resources = checked(read(path)).map(({ resource }) => resource);
  const find = (kind: string, name = "tool") =>
    resources.find((each) => each.kind === kind && each.metadata.name === name) ?? assert.fail(`${kind} ${name}`);
  const pod = find("Deployment").spec.template?.spec ?? assert.fail();
  const [container] = pod.containers;
  const ports = new Map(container.ports.map(({ name, containerPort }) => [name, containerPort]));
  const env = new Map(container.env.map(({ name, value }) => [name, value]));

  describe(path, () => {
    it("is valid by the strict schemas of Kubernetes", () => {
      assert.deepEqual(
        checked(read(path)).flatMap((each) => each.faults),
        [],
      );
    });

    it("has selectors that find pods, and names of ports of the tool", () => {
      const pods = resources.flatMap(({ spec }) => spec?.template?.metadata.labels ?? []);
      for (const { kind, spec } of resources) {
        const labels = spec?.podSelector?.matchLabels ?? spec?.selector?.matchLabels ?? spec?.selector;
        if (labels !== undefined)
          assert.ok(
            pods.some((each) => isDeepStrictEqual(each, labels)),
            kind,
          );
      }
      const targets = (find("Service").spec.ports ?? []).map(({ targetPort }) => targetPort);
      const admitted = (find("NetworkPolicy").spec.ingress ?? []).flatMap((rule) => rule.ports.map(({ port }) => port));
      assert.deepEqual([...new Set([...targets, ...admitted])].sort(), [...ports.keys()].sort());
    });

    it("probes the admin listener, patiently; the liveness of the process does not depend on Redis", () => {
      assert.equal(env.get("SVC_ADMIN_ADDR"), `0.0.0.0:${ports.get("admin")}`);
      assert.deepEqual(container.readinessProbe.httpGet, { path: "/readyz", port: "admin" });
      assert.deepEqual(container.livenessProbe.httpGet, { path: "/livez", port: "admin" });
      for (const { timeoutSeconds = 1 } of [container.readinessProbe, container.livenessProbe])
        assert.ok(timeoutSeconds >= 2);
    });

    it("gives a pod the time of preStop and a complete shutdown, and no privileges", () => {
      const { exec, sleep } = container.lifecycle.preStop;
      const seconds = sleep?.seconds ?? Number(exec?.command[1]);
      assert.ok(pod.terminationGracePeriodSeconds >= seconds + shutdownSeconds());
      const rights = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } };
      assert.deepEqual(container.securityContext, rights);
      assert.deepEqual(find("NetworkPolicy").spec.policyTypes, ["Ingress", "Egress"]);
    });

    it("serves TLS with the secret that its first lines create", () => {
      const command = "kubectl create secret tls tool-tls --cert=upstream/tool/cert.pem --key=upstream/tool/key.pem";
      assert.ok(read(path).includes(`#   ${command}\n`));
      assert.equal(pod.volumes.find(({ name }) => name === "tls")?.secret?.secretName, "tool-tls");
      const place = container.volumeMounts.find(({ name }) => name === "tls")?.mountPath;
      const paths = ["CERT", "KEY"].map((name) => env.get(`SVC_TOOL_TLS_${name}_PATH`));
      assert.deepEqual(paths, [`${place}/tls.crt`, `${place}/tls.key`]);
    });

    if (folder === "docs/deploy") {
      it("never runs two servers at a time, because they do not share a replay store", () => {
        const { replicas, strategy } = find("Deployment").spec;
        assert.deepEqual([replicas, strategy], [1, { type: "Recreate" }]);
      });

      it("has the ports, the user and the configuration of the image", () => {
        const image = read("docs/deploy/Containerfile");
        const set = (name: string) => new RegExp(`^.*\\b${name}=(\\S+)`, "m").exec(image)?.[1] ?? assert.fail(name);
        assert.equal(set("BIND_ADDR"), `0.0.0.0:${ports.get("https")}`);
        assert.equal(set("SVC_ADMIN_ADDR"), `127.0.0.1:${ports.get("admin")}`);
        assert.ok(image.includes(`http://127.0.0.1:${ports.get("admin")}/livez`));
        assert.match(
          image,
          new RegExp(`^USER ${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}$`, "m"),
        );
        const [{ mountPath } = assert.fail()] = container.volumeMounts;
        assert.equal(dirname(set("SVC_TOOLKIT_CONFIG_PATH")), mountPath);
        assert.equal(basename(set("SVC_TOOLKIT_CONFIG_PATH")), "config.json");
        const [[key, list] = assert.fail()] = Object.entries(find("ConfigMap", "tool-leaders").data ?? {});
        assert.ok(read(path).includes(`# "allowed_leaders_path": "${mountPath}/${key}"`));
        const config = { signed_http: { allowed_leaders: JSON.parse(list), tools: { "xyz.demo.sum@1": {} } } };
        ToolkitRuntimeConfig.fromJsonStr(JSON.stringify(config));
      });
    } else {
      it("lets the tool reach only Redis, and has the settings of compose, which the server knows", () => {
        const [store] = find("NetworkPolicy").spec.egress ?? [];
        assert.deepEqual(store?.to, [{ podSelector: find("NetworkPolicy", "redis").spec.podSelector }]);
        const [[, first] = assert.fail(), ...others] = toolsOf(folder);
        for (const [, { environment }] of others) assert.deepEqual(environment, first.environment);
        assert.deepEqual([...env.keys()].sort(), Object.keys(first.environment ?? {}).sort());
        const files = ["SVC_TOOLKIT_CONFIG_PATH", "SVC_TOOL_TLS_CERT_PATH", "SVC_TOOL_TLS_KEY_PATH"];
        const known = ["BIND_ADDR", "SVC_ADMIN_ADDR", ...files, ...REDIS_SETTINGS];
        assert.deepEqual(
          [...env.keys()].filter((name) => !known.includes(name)),
          [],
        );
      });
    }
  });
}

describe("docs/deploy/svc-tool@.service", () => {
  const unit = read("docs/deploy/svc-tool@.service");
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? assert.fail(name);

  it("is a valid unit of systemd, with the time of a complete shutdown", (t) => {
    assert.ok(Number(value("TimeoutStopSec")) > shutdownSeconds());
    assert.match(value("Environment"), /BIND_ADDR=127\.0\.0\.1:%i SVC_ADMIN_ADDR=127\.0\.0\.1:1%i$/);
    const { error, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", "docs/deploy/svc-tool@.service"], {
      encoding: "utf8",
    });
    if (error) return t.skip("systemd-analyze is not installed");
    assert.doesNotMatch(stderr, /svc-tool@.*:\d+:/);
  });
});

it("the command in docs/gateway.md makes a configuration for one host, without TLS and with local addresses only", () => {
  const [, command = assert.fail()] = /```sh\n(sed -e [^`]*)>nginx\.conf\n```/.exec(read("docs/gateway.md")) ?? [];
  const { stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  assert.equal(stderr, "");
  assert.doesNotMatch(stdout, /proxy_ssl|https:|10\.89|stdout|stderr/);
  assert.equal(stdout.match(/server 127\.0\.0\.1:808[12] /g)?.length, 6);
});

it("docs/replicas.md has the permissions and the settings of Redis that the files of docs/deploy/replicas have", () => {
  const redis = read("docs/replicas.md");
  const rights = (text: string) => /^ *user svc on .* (~svc:\* -@all .*)$/m.exec(text)?.[1] ?? assert.fail();
  assert.equal(rights(redis), rights(read("docs/deploy/replicas/setup.sh")));
  const conf = read("docs/deploy/replicas/redis/redis.conf").split("\n");
  const settings = redis.match(/^ {4}(?:maxmemory|client|append|min-)[^#\n]*/gm) ?? [];
  assert.deepEqual([settings.length, settings.filter((setting) => !conf.includes(setting.trim()))], [12, []]);
});
