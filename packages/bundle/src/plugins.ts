import { dirname, relative, resolve } from 'node:path';
import type { Plugin } from 'rolldown';

/**
 * Gives `import.meta.dirname` and `import.meta.url` of our sources the values that they have without the bundle. A thread that is named by
 * `new URL('./x.ts', import.meta.url)` becomes a file of the bundle.
 */
export function preserveImportMeta(root: string, bundle: string): Plugin {
  const OWN_SOURCES = /^(apps|packages)\/[\w-]+\/src\//;
  return {
    name: 'preserve-import-meta',
    transform: {
      filter: { code: /import\.meta\./ },
      handler(code, id) {
        if (!OWN_SOURCES.test(relative(root, id))) return null;
        const path = relative(bundle, id);
        return code
          .replaceAll(/new URL\('(\.\/[\w-]+\.ts)', import\.meta\.url\)/g, (_, file: string) => {
            const entry = this.emitFile({ type: 'chunk', id: resolve(dirname(id), file) });
            return `new URL(import.meta.ROLLUP_FILE_URL_${entry})`;
          })
          .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${dirname(path)}')`)
          .replaceAll('import.meta.url', `new URL('${path}', import.meta.url).href`);
      },
    },
  };
}

/**
 * V8 stores a file with any character outside Latin-1 at two bytes per character: 8 MB more in intake. Not safe for `String.raw`, which
 * would return the escapes.
 */
export function escapeNonLatin1(): Plugin {
  return {
    name: 'escape-non-latin1',
    generateBundle(_options, files) {
      for (const file of Object.values(files))
        if (file.type === 'chunk') file.code = file.code.replaceAll(/[\u0100-\uffff]/g, escapeUnit);
    },
  };
}

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
