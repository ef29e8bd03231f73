import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { viteSingleFile } from 'vite-plugin-singlefile';

// Two entries from the same components: the app that the server embeds, and (mode `report`) the one
// self-contained file that is handed over.
export default defineConfig(({ mode }) => ({
  plugins: [svelte(), ...(mode === 'report' ? [viteSingleFile()] : [])],
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: mode !== 'report',
    rollupOptions: { input: mode === 'report' ? 'report.html' : 'index.html' },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:7400' } },
  test: { environment: 'happy-dom', include: ['src/**/*.test.ts'] },
}));
