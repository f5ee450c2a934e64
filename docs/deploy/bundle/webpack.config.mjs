// webpack: npx webpack; rspack: npx rspack build -c webpack.config.mjs
export default {
  mode: "production",
  target: "node20",
  entry: "./dist/generated/server.js",
  output: {
    path: `${process.cwd()}/out`,
    filename: "server.mjs",
    module: true,
    chunkFormat: "module",
    library: { type: "module" },
  },
  experiments: { outputModule: true },
  // Otherwise import.meta.url is a path of the machine that builds, and libsodium is not found on another one.
  module: { parser: { javascript: { importMeta: false, createRequire: false } } },
};
