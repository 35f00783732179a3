import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { VERSION } from '@orders/runtime/version.ts';
import { BUNDLE_DIRECTORY } from './bundle-apps.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** What the bundled apps read at run time, at the same paths as in the sources; as in the Dockerfile. */
const ASSETS = ['package.json', 'LICENSE', 'docs/senders', 'docs/portal', 'deploy/postgres', 'deploy/systemd'];
const SOURCES = ['apps', 'packages'];
const READ_AT_RUN_TIME = ['.css', '.js', '.sql', '.py', '.php'];
const PAGE = 'apps/portal/page/dist';
const CLIENT = 'packages/client/dist';
/** Commands by the bundled app. */
const COMMANDS = { intake: 'intake', worker: 'worker', notifier: 'notifier', portal: 'portal', orders: 'cli' };

/** Copies what runs without sources into a directory: the bundle, what it reads, Node, and a command for each app. */
export async function assemble(directory: string): Promise<void> {
  for (const built of [BUNDLE_DIRECTORY, join(ROOT, PAGE), join(ROOT, CLIENT)])
    if (!(await stat(built).catch(() => null)))
      throw new Error(`${built} is missing: run npm run build and npm run bundle`);
  for (const path of [...ASSETS, PAGE, CLIENT]) await cp(join(ROOT, path), join(directory, path), { recursive: true });
  for (const path of SOURCES)
    await cp(join(ROOT, path), join(directory, path), {
      recursive: true,
      filter: async (from) => {
        if (['node_modules', 'test', 'page', 'dist'].includes(basename(from))) return false;
        return (await stat(from)).isDirectory() || READ_AT_RUN_TIME.includes(extname(from));
      },
    });
  await cp(BUNDLE_DIRECTORY, join(directory, 'bundle'), { recursive: true });
  const bin = join(directory, 'bin');
  await mkdir(bin);
  await cp(process.execPath, join(bin, 'node'), { dereference: true });
  for (const [command, app] of Object.entries(COMMANDS)) {
    const script = `#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\nexec "$here/node" "$here/../bundle/${app}.js" "$@"\n`;
    await writeFile(join(bin, command), script);
    await chmod(join(bin, command), 0o755);
  }
}

/**
 * Writes the archive for machines without containers, `orders-<version>-<platform>.tar.gz`, with this Node. With SOURCE_DATE_EPOCH, in
 * Unix seconds (reproducible-builds.org), the same sources make the same bytes.
 *
 * @returns its path.
 */
export async function writeArchive(to: string): Promise<string> {
  const name = `orders-${VERSION}-${process.platform}-${process.arch}`;
  const directory = await mkdtemp(join(to, '.archive-'));
  try {
    await mkdir(join(directory, name));
    await assemble(join(directory, name));
    const path = join(to, `${name}.tar.gz`);
    const { SOURCE_DATE_EPOCH: seconds } = process.env;
    const same = [
      '--sort=name',
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      ...(seconds ? [`--mtime=@${seconds}`] : []),
    ];
    await promisify(execFile)('tar', ['-czf', path, ...same, '-C', directory, name]);
    return path;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
