import { defineConfig } from "vite";

export default defineConfig({
  // The lobby may serve the page from any path.
  base: "./",
  build: { target: "es2022", chunkSizeWarningLimit: 800 },
  server: { proxy: { "/api": process.env["LOBBY"] ?? "http://127.0.0.1:8080" } },
});
