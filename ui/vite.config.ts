import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { viteSingleFile } from 'vite-plugin-singlefile';

// The server refuses requests that come from another page's origin; here they come through this one.
const proxy = {
  '/api': {
    target: process.env.TRIPHAMMER_SERVER ?? 'http://127.0.0.1:7400',
    changeOrigin: true,
    configure: (proxy: { on: (event: 'proxyReq', does: (request: { removeHeader: (name: string) => void }) => void) => void }) =>
      proxy.on('proxyReq', (request) => ['origin', 'sec-fetch-site'].forEach((name) => request.removeHeader(name))),
  },
};

// The server sends what was compressed here: once, and better than it could while somebody waits.
const compressed: Plugin = {
  name: 'compressed',
  writeBundle({ dir = 'dist' }, files) {
    for (const file of Object.values(files)) {
      const content = Buffer.from(file.type === 'chunk' ? file.code : file.source);
      writeFileSync(join(dir, `${file.fileName}.br`), brotliCompressSync(content));
      writeFileSync(join(dir, `${file.fileName}.gz`), gzipSync(content, { level: 9 }));
    }
  },
};

// Two entries from the same components: the app that the server embeds, and (mode `report`) the one
// self-contained file that is handed over.
export default defineConfig(({ mode }) => ({
  plugins: [svelte(), mode === 'report' ? viteSingleFile() : compressed],
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: mode !== 'report',
    rollupOptions: { input: mode === 'report' ? 'report.html' : 'index.html' },
  },
  server: { proxy },
  preview: { proxy },
  test: { environment: 'happy-dom', include: ['src/**/*.test.ts'] },
}));
