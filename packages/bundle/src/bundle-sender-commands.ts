import { join, resolve } from 'node:path';
import { VERSION } from '@orders/runtime/version.ts';
import { rolldown } from 'rolldown';
import { copyLicences } from './copy-files.ts';

const MAIN = resolve(import.meta.dirname, '../../../apps/cli/src/sender-main.ts');
/** Loaded on demand, by no command of senders. */
const OF_OPERATORS = /with-database\.ts$|^@orders\/database\//;

/**
 * Writes the senders' commands to `orders.mjs` of a directory, with all packages that they use, for Node 20 and newer.
 *
 * @throws {Error} if an import cannot be resolved.
 */
export async function bundleSenderCommands(directory: string): Promise<void> {
  const build = await rolldown({
    input: { orders: MAIN },
    platform: 'node',
    tsconfig: false,
    transform: { target: 'node20' },
    external: OF_OPERATORS,
    plugins: [
      {
        name: 'version',
        // The manifest of the service is not there.
        load: {
          filter: { id: /packages\/runtime\/src\/version\.ts$/ },
          handler: () => `export const VERSION = '${VERSION}';`,
        },
      },
    ],
    onLog: (_level, log, handle) => handle('error', log),
  });
  const names = { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' };
  const { output } = await build.write({ dir: directory, ...names, comments: false });
  await build.close();
  await copyLicences(output, join(directory, 'licences'));
}
