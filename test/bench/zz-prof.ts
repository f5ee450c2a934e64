import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { signedConfig } from "./requests.js";
import { toolSet, withServer } from "./tools.js";

const n = Number(process.argv[2] ?? 400);
await withServer(toolSet(n), async (server) => {
  writeFileSync("/tmp/floor/conf.json", JSON.stringify(signedConfig(server.fqns)));
  const env = { ...process.env, BIND_ADDR: "127.0.0.1:0", SVC_TOOLKIT_CONFIG_PATH: "/tmp/floor/conf.json" };
  const r = spawnSync(
    "timeout",
    [
      "-s",
      "TERM",
      "6",
      process.execPath,
      "--cpu-prof",
      "--cpu-prof-dir=/tmp/floor",
      "--cpu-prof-name=p.cpuprofile",
      "--cpu-prof-interval",
      "200",
      server.entrypoint,
    ],
    { env, encoding: "utf8" },
  );
  console.log(r.stdout.slice(0, 300), r.stderr.slice(0, 300));
});
