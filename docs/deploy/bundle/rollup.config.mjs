// npm install --save-dev rollup @rollup/plugin-commonjs @rollup/plugin-json @rollup/plugin-node-resolve; npx rollup -c
import commonjs from "@rollup/plugin-commonjs";
import json from "@rollup/plugin-json";
import resolve from "@rollup/plugin-node-resolve";

export default {
  input: "dist/generated/server.js",
  output: {
    file: "out/server.mjs",
    inlineDynamicImports: true,
    // Packages in CommonJS use require.cache.
    banner: "const require = (await import('node:module')).createRequire(import.meta.url);",
  },
  plugins: [
    resolve({ preferBuiltins: true, exportConditions: ["node"] }),
    commonjs({ ignoreDynamicRequires: true }),
    json(),
  ],
};
