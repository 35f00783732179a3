import { cp, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { abortOnSignal, run, say } from '../compose/run.ts';
import { git, newestRelease } from '../upgrade/check-out.ts';
import { readRelease } from './release-facts.ts';

const HELP = `Usage: npm run release -- [options]

Builds a release of the last commit, in a clone of its own, and upgrades a running service of the release before to it, under
load. Writes to release/: the image, the archive for machines without containers, the clients, NOTES.md and SHA256SUMS.
It needs haproxy, a Redis and Docker. Then it tags the commit. Publishing is up to the workflow Release, once you push the tag.

Options:
  --dry-run           does not tag
  --from <revision>   upgrade from this revision (default: the newest tag v*)
  --no-image          without the image; needs no Docker
  --help

Exit codes: 0 built, 1 not, 2 wrong usage.
`;
const ROOT = resolve(import.meta.dirname, '../..');
const TARGET = join(ROOT, 'release');

interface Options {
  dryRun: boolean;
  from: string | undefined;
  hasImage: boolean;
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        'dry-run': { type: 'boolean', default: false },
        from: { type: 'string' },
        'no-image': { type: 'boolean', default: false },
        help: { type: 'boolean' },
      },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit();
    }
    return { dryRun: values['dry-run'], from: values.from, hasImage: !values['no-image'] };
  } catch (error) {
    process.stderr.write(`release: ${(error as Error).message}\n`);
    process.exit(2);
  }
}

const signal = abortOnSignal();

/** Builds all files of the release in a clone, and moves them into a directory. */
async function build(clone: string, to: string, { version, image }: { version: string; image: string | null }) {
  const env = { ...process.env, SOURCE_DATE_EPOCH: await git('log', '-1', '--format=%ct') };
  const inClone = (command: string, ...args: string[]) => run(command, args, { cwd: clone, env, signal, show: true });
  say('installing');
  await inClone('npm', 'run', '--silent', 'setup');
  say('the page, the bundle, the archive and the client');
  await inClone('npm', 'run', '--silent', 'build');
  await inClone('npm', 'run', '--silent', 'bundle', '--', '--archive');
  await inClone('npm', 'run', '--silent', 'pack:client');
  for (const name of await readdir(clone)) {
    if (/^orders-.*\.t(ar\.)?gz$/.test(name)) await rename(join(clone, name), join(to, name));
  }
  for (const path of ['packages/client/python/orders.py', 'packages/client/php/orders.php']) {
    await cp(join(clone, path), join(to, path.slice(path.lastIndexOf('/'))));
  }
  if (!image) return;
  say('the image');
  const revision = await git('rev-parse', 'HEAD');
  await inClone('docker', 'build', '--quiet', '--build-arg', `REVISION=${revision}`, '--tag', image, '.');
  const saved = join(to, `orders-${version}-image.tar`);
  await inClone('docker', 'save', '--output', saved, image);
  await inClone('gzip', '--no-name', saved);
}

async function release({ dryRun, from, hasImage }: Options): Promise<void> {
  if (await git('status', '--porcelain')) throw new Error('there are changes that are not committed');
  const directory = await mkdtemp(join(tmpdir(), 'orders-release-'));
  try {
    const clone = join(directory, 'clone');
    await git('clone', '--quiet', ROOT, clone);
    const { version, notes } = await readRelease(clone);
    const tag = `v${version}`;
    if (!dryRun && (await git('tag', '--list', tag))) throw new Error(`${tag} is tagged already`);
    const before = from ?? (await newestRelease({ except: tag }));
    if (!before) throw new Error('there is no tag to upgrade from: tag a candidate such as v0.3.0-rc.1, or use --from');
    say(`${tag} from ${await git('rev-parse', '--short', 'HEAD')}`);
    const built = join(directory, 'release');
    await mkdir(built);
    await build(clone, built, { version, image: hasImage ? `order-ingestion:${version}` : null });
    const sums = await run('sha256sum', (await readdir(built)).sort(), { cwd: built, signal });
    await writeFile(join(built, 'SHA256SUMS'), sums);
    await writeFile(join(built, 'NOTES.md'), `${notes}\n`);
    say(`upgrade from ${before}`);
    await run('node', ['verification/upgrade/main.ts', before], { cwd: clone, signal, show: true });
    await rm(TARGET, { recursive: true, force: true });
    await cp(built, TARGET, { recursive: true });
    if (!dryRun) await git('tag', tag);
    const sizes = await Promise.all(
      (await readdir(TARGET)).map(async (name) => {
        const { size } = await stat(join(TARGET, name));
        return `${(size / 2 ** 20).toFixed(1).padStart(7)} MiB  release/${name}\n`;
      }),
    );
    process.stdout.write(sizes.join(''));
    say(dryRun ? 'nothing was tagged' : `tagged ${tag}; publish it with: git push origin ${tag}`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const options = readOptions();
await release(options).catch((error: Error) => {
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
});
