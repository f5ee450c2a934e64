// npx vite build
export default {
  ssr: { noExternal: true, target: "node" },
  build: {
    ssr: "dist/generated/server.js",
    outDir: "out",
    target: "node20",
    rollupOptions: { output: { entryFileNames: "server.mjs" } },
  },
};
