/// <reference types="vitest/config" />
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

const here = dirname(fileURLToPath(import.meta.url));

/** PDFs whose fonts are not embedded need these tables; they are served by the application itself, never from the network. */
function pdfTables(): Plugin {
  return {
    name: "zhiku-pdf-tables",
    buildStart() {
      const from = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
      for (const folder of ["cmaps", "standard_fonts", "wasm"]) {
        const to = join(here, "public/pdfjs", folder);
        if (existsSync(to)) continue;
        mkdirSync(to, { recursive: true });
        cpSync(join(from, folder), to, { recursive: true });
      }
    },
  };
}

export default defineConfig(({ command, mode }) => ({
  root: here,
  base: "./",
  plugins: [svelte(), pdfTables()],
  // The gallery shows a PDF of the fixtures.
  server: { port: 5317, strictPort: true, fs: { allow: [here, join(here, "../fixtures")] } },
  resolve: mode === "test" ? { conditions: ["browser"] } : {},
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    chunkSizeWarningLimit: 1200,
    // The gallery is a page of the development server only.
    rolldownOptions: { input: { main: join(here, "index.html") } },
  },
  define: { __DEVELOPMENT__: JSON.stringify(command === "serve") },
  test: {
    environment: "node",
    include: ["tests/**/*.test.ts"],
  },
}));
