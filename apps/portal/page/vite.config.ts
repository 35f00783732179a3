import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig({
  plugins: [compressAssets()],
  resolve: {
    // Preact has the interface of React at a tenth of its size; libraries that import React get it too.
    alias: {
      'react/jsx-runtime': 'preact/jsx-runtime',
      'react-dom/client': 'preact/compat/client',
      'react-dom': 'preact/compat',
      react: 'preact/compat',
      // The tables of files are read by a worker, which has no streams of Node.
      'csv-parse': 'csv-parse/browser/esm',
    },
  },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    // The Content-Security-Policy allows only files of this service.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries mark files with "use client", which has no effect here.
      checks: { moduleLevelDirective: false },
      output: {
        // What every page needs and deploys rarely change, so that browsers keep it.
        codeSplitting: {
          groups: [
            {
              name: 'vendor',
              test: /node_modules\/(preact|i18next|react-i18next|wouter|regexparam|use-sync-external-store|@tanstack\/(query-core|react-query))\//,
            },
          ],
        },
      },
    },
  },
});

/** Compresses scripts and styles once, at the best quality, which would take too long for each request. */
function compressAssets(): Plugin {
  const compress = promisify(brotliCompress);
  return {
    name: 'compress-assets',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const assets = join(dir, 'assets');
      const names = (await readdir(assets)).filter((name) => /\.(js|css)$/.test(name));
      await Promise.all(
        names.map(async (name) =>
          writeFile(join(assets, `${name}.br`), await compress(await readFile(join(assets, name)))),
        ),
      );
    },
  };
}
