/** docs/deploy: the compose files and the Kubernetes manifest by the schemas of their programs, and against what they refer to. */

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
import { type RedisReplayOptions, RedisReplayStore } from "#runtime/redis/index.js";
import { CLOSE_LIMIT_MS } from "#runtime/server/call/run/class-hooks.js";
import { GRACE_MS, LINGER_MS } from "#runtime/server/http/shutdown.js";

const read = (path: string) => readFileSync(path, "utf8");
const schema = (name: string) => JSON.parse(read(`test/e2e/schemas/${name}.json`)) as object;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
const faults = (validate: ReturnType<typeof ajv.compile>, data: unknown) =>
  validate(data) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

describe("compose files", () => {
  const validate = ajv.compile(schema("compose"));
  for (const path of [
    "docs/deploy/compose.yaml",
    "docs/deploy/replicas/compose.yaml",
    "docs/deploy/monitoring/compose.yaml",
    "docs/deploy/monitoring/compose-replicas.yaml",
  ]) {
    it(`${path} is valid by the schema of compose`, () => {
      const document = parseDocument(read(path), { merge: true });
      assert.deepEqual([document.errors, document.warnings], [[], []]);
      assert.deepEqual(faults(validate, document.toJS()), []);
    });
  }

  it("have a stop_grace_period that is longer than a shutdown of the server", () => {
    for (const path of ["docs/deploy/compose.yaml", "docs/deploy/replicas/compose.yaml"]) {
      const { services } = parse(read(path), { merge: true }) as {
        services: Record<string, { stop_grace_period?: string }>;
      };
      for (const [name, { stop_grace_period: grace = "10s" }] of Object.entries(services))
        if (name.startsWith("tool"))
          assert.ok(Number.parseInt(grace, 10) > shutdownSeconds(), `${path} ${name}: ${grace}`);
    }
  });

  it("run the tool as the owner of the configuration, which the command in their first lines sets", () => {
    for (const path of ["docs/deploy/compose.yaml", "docs/deploy/replicas/compose.yaml"]) {
      const [, command = assert.fail(path)] = /^# {3}(echo .*) >\.env$/m.exec(read(path)) ?? [];
      const { stdout } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
      assert.equal(stdout, `TOOL_USER=${process.getuid?.()}:${process.getgid?.()}\n`);
      const { services } = parse(read(path), { merge: true }) as { services: Record<string, { user?: string }> };
      for (const [name, { user = "" }] of Object.entries(services))
        if (name.startsWith("tool")) assert.match(user, /^\$\{TOOL_USER:\?.*\}$/, `${path} ${name}`);
    }
  });

  it("docs/shutdown.md has the duration of a shutdown, and longer grace periods", () => {
    const section = read("docs/shutdown.md");
    assert.ok(section.includes(`${shutdownSeconds()} s by default`));
    const graces = section.match(/(?<=--stop-timeout |stop_grace_period: )\d+/g) ?? [];
    assert.equal(graces.length, 2);
    for (const grace of graces) assert.ok(Number(grace) > shutdownSeconds(), grace);
  });
});

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas?: number;
    readonly strategy?: object;
    readonly minAvailable?: number;
    readonly policyTypes?: readonly string[];
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template?: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
    readonly ports?: readonly { readonly targetPort?: string }[];
    readonly unhealthyPodEvictionPolicy?: string;
    readonly ingress?: readonly { readonly ports: readonly { readonly port: string }[] }[];
    readonly egress?: readonly { readonly to?: unknown; readonly ports: readonly { readonly port: number }[] }[];
  };
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: {
    readonly runAsNonRoot: boolean;
    readonly runAsUser: number;
    readonly runAsGroup: number;
    readonly fsGroup: number;
    readonly seccompProfile: object;
  };
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}
interface Container {
  readonly name: string;
  readonly securityContext: object;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle?: {
    readonly preStop: {
      readonly exec?: { readonly command: readonly string[] };
      readonly sleep?: { readonly seconds: number };
    };
  };
  readonly startupProbe?: { readonly httpGet: object };
  readonly readinessProbe: Patience & {
    readonly httpGet?: { readonly path: string; readonly port: string };
    readonly exec?: { readonly command: readonly string[] };
  };
  readonly livenessProbe?: Patience & { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string }[];
}
/** When a probe has failed; Kubernetes' defaults are 1 s and 3 times. */
interface Patience {
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}
interface Volume {
  readonly name: string;
  readonly secret?: object;
  readonly projected?: {
    readonly sources: readonly {
      readonly secret?: { readonly name: string };
      readonly configMap?: { readonly name: string };
    }[];
  };
}

ajv.addSchema(schema("kubernetes"), "kubernetes");

/** Faults of a resource by the strict schema of its kind. */
function resourceFaults(resource: unknown): string[] {
  const { kind } = resource as Resource;
  return faults(ajv.getSchema(`kubernetes#/$defs/${kind}`) ?? assert.fail(kind), resource);
}

/** The resources of a manifest, all of them without faults. */
function readManifest(path: string): Resource[] {
  return parseAllDocuments(read(path)).map((document) => {
    assert.deepEqual([document.errors, document.warnings], [[], []]);
    const resource = document.toJS() as Resource;
    assert.deepEqual(resourceFaults(resource), [], `${resource.kind} ${resource.metadata.name}`);
    return resource;
  });
}

const titles = (resources: readonly Resource[]) => resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

/** Selectors of services, budgets and policies that find no pod of the manifest. */
function blindSelectors(resources: readonly Resource[]): string[] {
  const pods = resources.flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template.metadata.labels]));
  const blind = resources.filter(({ spec }) => {
    const labels = spec?.podSelector?.matchLabels ?? spec?.selector?.matchLabels ?? spec?.selector;
    return labels !== undefined && !pods.some((pod) => isDeepStrictEqual(pod, labels));
  });
  return titles(blind);
}

/** Seconds from SIGTERM to the end of a server with the default times: docs/shutdown.md. */
function shutdownSeconds(): number {
  const [, drain] = /^const DEFAULT_DRAIN_MS = ([\d_]+);$/m.exec(read("runtime/server/http/shutdown.ts")) ?? [];
  return (
    (Number((drain ?? assert.fail("no drain limit")).replaceAll("_", "")) + GRACE_MS + LINGER_MS + CLOSE_LIMIT_MS) /
    1_000
  );
}

describe("docs/deploy/replicas/kubernetes.yaml", () => {
  const text = read("docs/deploy/replicas/kubernetes.yaml");
  const resources = readManifest("docs/deploy/replicas/kubernetes.yaml");
  const find = (kind: string, name: string) =>
    resources.find((resource) => resource.kind === kind && resource.metadata.name === name) ?? assert.fail(kind);
  const tool = find("Deployment", "tool").spec.template?.spec ?? assert.fail();
  const [container] = tool.containers as readonly [Container];

  it("has a disruption budget and a rolling update for three replicas, by the strict schemas of Kubernetes", () => {
    assert.deepEqual(titles(resources), [
      "Deployment tool",
      "Service tool",
      "PodDisruptionBudget tool",
      "NetworkPolicy tool",
      "Service redis",
      "StatefulSet redis",
      "PodDisruptionBudget redis",
      "NetworkPolicy redis",
    ]);
  });

  it("the schemas find misspelt members, wrong types and missing members at any depth", () => {
    for (const [from, to] of [
      ["readinessProbe:", "readynessProbe:"],
      ["minAvailable: 2", "minAvailabel: 2"],
      ["failureThreshold: 3", 'failureThreshold: "3"'],
      ["containerPort: 8080", "hostPort: 8080"],
    ] as const) {
      assert.ok(text.includes(from), from);
      const found = parseAllDocuments(text.replace(from, to)).flatMap((document) => resourceFaults(document.toJS()));
      assert.ok(found.length > 0, to);
    }
  });

  it("every selector finds pods", () => {
    assert.deepEqual(blindSelectors(resources), []);
  });

  it("a pod that is not ready does not delay a drain, and a Redis pod is ready when it has a copy of the data", () => {
    for (const name of ["tool", "redis"])
      assert.equal(find("PodDisruptionBudget", name).spec.unhealthyPodEvictionPolicy, "AlwaysAllow", name);
    const { containers } = find("StatefulSet", "redis").spec.template?.spec ?? assert.fail();
    const [redis] = containers as readonly [Container];
    assert.deepEqual(redis.readinessProbe.exec?.command, ["sh", "/etc/redis/ready.sh"]);
  });

  it("network policies allow only the gateway and Prometheus to reach the tool, and the tool to reach only Redis", () => {
    const { ingress = [], egress = [], policyTypes } = find("NetworkPolicy", "tool").spec;
    assert.deepEqual(policyTypes, ["Ingress", "Egress"]);
    assert.deepEqual(find("NetworkPolicy", "redis").spec.policyTypes, ["Ingress", "Egress"]);
    assert.deepEqual(
      ingress.flatMap(({ ports }) => ports.map(({ port }) => port)),
      container.ports.map(({ name }) => name),
    );
    const [store, names] = egress.map(({ ports }) => ports.map(({ port }) => port));
    assert.deepEqual(
      [store, names],
      [
        [6379, 26379],
        [53, 53],
      ],
    );
    assert.deepEqual(egress[0]?.to, [{ podSelector: find("NetworkPolicy", "redis").spec.podSelector }]);
  });

  it("probes use the admin listener, and the liveness probe does not depend on Redis", () => {
    const admin = container.env?.find(({ name }) => name === "SVC_ADMIN_ADDR")?.value;
    const port = container.ports.find(({ name }) => name === "admin")?.containerPort;
    assert.equal(admin, `0.0.0.0:${port}`);
    assert.deepEqual(container.readinessProbe.httpGet, { path: "/readyz", port: "admin" });
    assert.equal(container.livenessProbe?.httpGet.path, "/livez");
  });

  it("the grace period of the pod is longer than preStop and a complete shutdown", () => {
    const [, seconds] = container.lifecycle?.preStop.exec?.command ?? [];
    assert.ok(tool.terminationGracePeriodSeconds >= Number(seconds) + shutdownSeconds());
  });
});

describe("docs/deploy/kubernetes.yaml", () => {
  const path = "docs/deploy/kubernetes.yaml";
  const text = read(path);
  const image = read("docs/deploy/Containerfile");
  const resources = readManifest(path);
  const find = (kind: string) => resources.find((resource) => resource.kind === kind) ?? assert.fail(kind);
  const pod = find("Deployment").spec.template?.spec ?? assert.fail();
  const [container] = pod.containers as readonly [Container];
  const ports = new Map(container.ports.map(({ name, containerPort }) => [name, containerPort]));
  const environment = (name: string) => new RegExp(`^.*\\b${name}=(\\S+)`, "m").exec(image)?.[1] ?? assert.fail(name);

  it("has the resources of one server, by the strict schemas of Kubernetes", () => {
    const kinds = [
      "ConfigMap tool-leaders",
      "Deployment tool",
      "Service tool",
      "PodDisruptionBudget tool",
      "NetworkPolicy tool",
    ];
    assert.deepEqual(titles(resources), kinds);
  });

  it("never runs two servers at a time, because they do not share a replay store", () => {
    const { replicas, strategy } = find("Deployment").spec;
    assert.deepEqual([replicas, strategy], [1, { type: "Recreate" }]);
    assert.equal(find("PodDisruptionBudget").spec.minAvailable, 1);
  });

  it("gives pod and container no privileges, by the restricted standard of Kubernetes", () => {
    assert.equal(pod.automountServiceAccountToken, false);
    const { fsGroup, runAsGroup, runAsNonRoot, seccompProfile } = pod.securityContext;
    assert.deepEqual([runAsNonRoot, fsGroup, seccompProfile], [true, runAsGroup, { type: "RuntimeDefault" }]);
    const rights = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } };
    assert.deepEqual(container.securityContext, rights);
    assert.deepEqual(find("NetworkPolicy").spec.policyTypes, ["Ingress", "Egress"]);
  });

  it("every selector finds the pod, and every port name exists in the container", () => {
    assert.deepEqual(blindSelectors(resources), []);
    const { spec: policy } = find("NetworkPolicy");
    const named = [
      ...(find("Service").spec.ports ?? []).map(({ targetPort }) => targetPort),
      ...(policy.ingress ?? []).flatMap((rule) => rule.ports.map(({ port }) => port)),
      container.readinessProbe.httpGet?.port,
      container.livenessProbe?.httpGet.port,
    ];
    assert.deepEqual([...new Set(named)].sort(), [...ports.keys()].sort());
  });

  it("has the ports, the user and the folder of the image", () => {
    assert.equal(environment("BIND_ADDR"), `0.0.0.0:${ports.get("https")}`);
    assert.match(image, new RegExp(`^EXPOSE ${ports.get("https")}$`, "m"));
    const { runAsUser, runAsGroup } = pod.securityContext;
    assert.match(image, new RegExp(`^USER ${runAsUser}:${runAsGroup}$`, "m"));
    const [mount] = container.volumeMounts;
    assert.equal(dirname(environment("SVC_TOOLKIT_CONFIG_PATH")), mount?.mountPath);
    assert.equal(mount?.subPath, undefined);
    assert.deepEqual(
      container.env?.filter(({ name }) => !name.startsWith("SVC_TOOL_TLS_")),
      [{ name: "SVC_ADMIN_ADDR", value: `0.0.0.0:${ports.get("admin")}` }],
    );
    // The same port in the image's own health check, on the loopback address.
    assert.equal(environment("SVC_ADMIN_ADDR"), `127.0.0.1:${ports.get("admin")}`);
    assert.ok(image.includes(`http://127.0.0.1:${ports.get("admin")}/livez`));
  });

  it("the liveness probe checks the process, the startup and readiness probes check the server", () => {
    assert.deepEqual(container.startupProbe?.httpGet, { path: "/readyz", port: "admin" });
    assert.deepEqual(container.readinessProbe.httpGet, { path: "/readyz", port: "admin" });
    assert.deepEqual(container.livenessProbe?.httpGet, { path: "/livez", port: "admin" });
  });

  it("the configuration is one folder of the Secret and the ConfigMap, with the names that the server reads", () => {
    const [{ mountPath } = assert.fail()] = container.volumeMounts;
    const sources = pod.volumes[0]?.projected?.sources;
    assert.deepEqual(sources, [{ secret: { name: "tool" } }, { configMap: { name: find("ConfigMap").metadata.name } }]);
    const [[key, list] = assert.fail()] = Object.entries(find("ConfigMap").data ?? {});
    assert.ok(text.includes(`# "allowed_leaders_path": "${mountPath}/${key}"`));
    assert.match(text, /kubectl create secret generic tool --from-file=config\.json$/m);
    assert.equal(basename(environment("SVC_TOOLKIT_CONFIG_PATH")), "config.json");
    const config = { signed_http: { allowed_leaders: JSON.parse(list), tools: { "xyz.demo.sum@1": {} } } };
    ToolkitRuntimeConfig.fromJsonStr(JSON.stringify(config));
  });

  it("the grace period of the pod is longer than preStop and a complete shutdown", () => {
    const seconds = container.lifecycle?.preStop.sleep?.seconds ?? assert.fail("no preStop");
    assert.ok(pod.terminationGracePeriodSeconds >= seconds + shutdownSeconds());
  });
});

describe("probes of an overloaded server", () => {
  for (const folder of ["docs/deploy", "docs/deploy/replicas"]) {
    it(`${folder}: have a timeout of at least 2 s and at least three attempts`, () => {
      const { spec } =
        readManifest(`${folder}/kubernetes.yaml`).find(({ kind }) => kind === "Deployment") ?? assert.fail();
      const { containers } = spec.template?.spec ?? assert.fail();
      const [{ readinessProbe, livenessProbe = assert.fail() }] = containers as readonly [Container];
      for (const { timeoutSeconds = 1, failureThreshold = 3 } of [readinessProbe, livenessProbe])
        assert.ok(timeoutSeconds >= 2 && failureThreshold >= 3, `${timeoutSeconds} s, ${failureThreshold} times`);
    });
  }
  for (const file of ["docs/deploy/Containerfile", "templates/project/Dockerfile.hbs"]) {
    it(`${file}: has a timeout of at least 2 s, and the default of three attempts`, () => {
      const [, options = ""] = /^HEALTHCHECK (.*)\\$/m.exec(read(file)) ?? assert.fail("no health check");
      assert.ok(Number(/--timeout=(\d+)s/.exec(options)?.[1]) >= 2);
      assert.doesNotMatch(options, /--retries/);
    });
  }
});

describe("docs/deploy/svc-tool@.service", () => {
  const unit = read("docs/deploy/svc-tool@.service");
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? assert.fail(name);

  it("has a stop timeout that is longer than a shutdown of the server", () => {
    assert.ok(Number(value("TimeoutStopSec")) > shutdownSeconds());
  });

  it("is a valid unit of systemd", (t) => {
    const { error, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", "docs/deploy/svc-tool@.service"], {
      encoding: "utf8",
    });
    if (error) return t.skip("systemd-analyze is not installed");
    assert.doesNotMatch(stderr, /svc-tool@.*:\d+:/);
  });

  it("starts the built server on addresses that only this host can reach", () => {
    assert.match(value("ExecStart"), /node dist\/generated\/server\.js$/);
    assert.match(value("Environment"), /BIND_ADDR=127\.0\.0\.1:%i SVC_ADMIN_ADDR=127\.0\.0\.1:1%i$/);
  });
});

describe("connections from the gateway to the servers", () => {
  it("the command in docs/gateway.md makes a configuration for one host, without TLS and with local addresses only", () => {
    const [, command = assert.fail()] = /```sh\n(sed -e [^`]*)>nginx\.conf\n```/.exec(read("docs/gateway.md")) ?? [];
    const { stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
    assert.equal(stderr, "");
    assert.doesNotMatch(stdout, /proxy_ssl|https:|10\.89|stdout|stderr/);
    assert.equal(stdout.match(/server 127\.0\.0\.1:808[12] /g)?.length, 6);
    assert.match(stdout, /proxy_next_upstream_tries 3;/);
  });

  for (const folder of ["docs/deploy", "docs/deploy/replicas"]) {
    it(`${folder}: nginx verifies the certificate of the server, which serves TLS with the files of its volume`, () => {
      const conf = read(`${folder}/nginx.conf`);
      assert.doesNotMatch(conf, /proxy_pass http:/);
      for (const line of ["proxy_pass https://", "proxy_ssl_verify on;", "proxy_ssl_name tool;"])
        assert.ok(conf.includes(line), line);
      const trusted = /proxy_ssl_trusted_certificate (.*)\/tool\.pem;/.exec(conf)?.[1];
      const { services } = parse(read(`${folder}/compose.yaml`), { merge: true }) as {
        services: Record<string, { volumes: string[]; environment?: Record<string, string> }>;
      };
      assert.ok(services.gateway?.volumes.includes(`./upstream/gateway:${trusted}:ro`));
      const tools = Object.entries(services).filter(([name]) => name.startsWith("tool"));
      assert.ok(tools.length > 0);
      for (const [name, { volumes, environment = {} }] of tools) {
        assert.ok(volumes.includes("./upstream/tool:/etc/tool-tls:ro"), name);
        assert.equal(environment.SVC_TOOL_TLS_CERT_PATH, "/etc/tool-tls/cert.pem", name);
        assert.equal(environment.SVC_TOOL_TLS_KEY_PATH, "/etc/tool-tls/key.pem", name);
      }
    });

    it(`${folder}: the pods serve TLS with the secret that the first lines of the manifest create`, () => {
      const manifest = read(`${folder}/kubernetes.yaml`);
      assert.match(
        manifest,
        /^# {3}kubectl create secret tls tool-tls --cert=upstream\/tool\/cert\.pem --key=upstream\/tool\/key\.pem$/m,
      );
      const { spec } =
        readManifest(`${folder}/kubernetes.yaml`).find(({ kind }) => kind === "Deployment") ?? assert.fail();
      const { volumes, containers } = spec.template?.spec ?? assert.fail();
      const [{ env = [], volumeMounts }] = containers as readonly [Container];
      assert.deepEqual(volumes.find(({ name }) => name === "tls")?.secret, {
        secretName: "tool-tls",
        defaultMode: 0o440,
      });
      const place = volumeMounts.find(({ name }) => name === "tls")?.mountPath;
      const paths = env.filter(({ name }) => name.startsWith("SVC_TOOL_TLS_")).map(({ value }) => value);
      assert.deepEqual(paths, [`${place}/tls.crt`, `${place}/tls.key`]);
    });
  }
});

describe("time limits of the gateways", () => {
  const seconds = (conf: string, name: string) =>
    Number(new RegExp(`^ *${name} (\\d+)s;$`, "m").exec(conf)?.[1] ?? assert.fail(name));
  for (const path of ["docs/deploy/nginx.conf", "docs/deploy/replicas/nginx.conf"]) {
    it(`${path}: nginx waits for the 504 of a server, but not until a client gives up`, () => {
      const waits = seconds(read(path), "proxy_read_timeout") * 1_000;
      assert.ok(waits > DEFAULT_TIMEOUT_MS);
      assert.ok(waits < DEFAULT_TIMEOUT_MS + TIMEOUT_MARGIN_MS);
      assert.ok(seconds(read(path), "proxy_connect_timeout") <= 5);
    });
  }

  it("replicas: nginx tries another one after a read timeout, each at most once, and all of them when all have failed", () => {
    const conf = read("docs/deploy/replicas/nginx.conf");
    assert.ok(seconds(conf, "proxy_next_upstream_timeout") > seconds(conf, "proxy_read_timeout"));
    const servers = [...conf.matchAll(/^ *server (\S+) (.*);$/gm)].map(([, address, options]) => ({
      address,
      options,
    }));
    const [passed, asked, elsewhere] = [servers.slice(0, 3), servers.slice(3, 6), servers.slice(6)];
    const all = { passed: "max_fails=2 fail_timeout=10s", asked: "max_fails=0 backup", elsewhere: "max_fails=0" };
    for (const [name, group] of Object.entries({ passed, asked, elsewhere })) {
      const wanted = passed.map(({ address }) => ({ address, options: all[name as keyof typeof all] }));
      assert.deepEqual(group, wanted, name);
    }
    assert.match(conf, /^ *zone replicas /m);
    assert.match(conf, /^ *proxy_next_upstream_tries 3;$/m);
  });

  it("one server without a shared replay store: nginx sends no call again", () => {
    assert.match(read("docs/deploy/nginx.conf"), /^ *proxy_next_upstream off;$/m);
  });
});

describe("settings of the replicas", () => {
  it("are the same in compose and Kubernetes, and the server knows all of them", () => {
    const compose = parse(read("docs/deploy/replicas/compose.yaml"), { merge: true });
    const manifest = parseAllDocuments(read("docs/deploy/replicas/kubernetes.yaml"))[0]?.toJS();
    const env = manifest.spec.template.spec.containers[0].env as { name: string }[];
    const names = Object.keys(compose.services["tool-1"].environment).sort();
    assert.deepEqual(env.map(({ name }) => name).sort(), names);
    const tls = ["SVC_TOOL_TLS_CERT_PATH", "SVC_TOOL_TLS_KEY_PATH"];
    const ours = ["BIND_ADDR", "SVC_ADMIN_ADDR", "SVC_TOOLKIT_CONFIG_PATH", ...tls, ...REDIS_SETTINGS];
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

describe("docs/guide/settings.md and docs/redis.md", () => {
  const [, section = ""] = read("docs/guide/settings.md").split("\n## Shared replay store\n");
  const [page = ""] = section.split(/\n## /);
  const redis = read("docs/redis.md");
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

  it("list the permissions and the settings of Redis that the files of docs/deploy/replicas have", () => {
    const rights = (text: string) => /^ *user svc on .* (~svc:\* -@all .*)$/m.exec(text)?.[1];
    assert.ok(rights(redis) !== undefined);
    assert.equal(rights(redis), rights(read("docs/deploy/replicas/setup.sh")));
    const conf = read("docs/deploy/replicas/redis/redis.conf").split("\n");
    const settings = redis.match(/^ {4}(?:maxmemory|append|min-)[^#\n]*/gm) ?? [];
    assert.equal(settings.length, 10);
    for (const setting of settings) assert.ok(conf.includes(setting.trim()), setting);
  });
});
