import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { bundleSenderCommands } from './bundle-sender-commands.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PACKAGE = join(ROOT, 'packages/client');
const COMPILER = resolve(import.meta.dirname, '../node_modules/typescript/bin/tsc');

const readManifest = (directory: string) => JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));

const COMMON_JS = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false'];

/**
 * Builds the published files: CommonJS, an ES module that re-exports it, declarations, the command `orders` with all that
 * it uses, and a manifest with the version of the service. There is one copy of the code, so that `instanceof` works across modules of both kinds.
 */
async function build(directory: string): Promise<void> {
  const options = ['-p', PACKAGE, '--noEmit', 'false', ...COMMON_JS, '--outDir', directory];
  execFileSync(process.execPath, [COMPILER, ...options], { stdio: 'inherit' });
  for (const file of globSync('*.d.ts', { cwd: directory })) withJsImports(join(directory, file));
  copyFileSync(join(PACKAGE, 'README.md'), join(directory, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(directory, 'LICENSE'));
  await bundleSenderCommands(join(directory, 'bin'));
  const { private: _, devDependencies: __, ...manifest } = readManifest(PACKAGE);
  const published = {
    ...manifest,
    version: readManifest(ROOT).version,
    type: 'commonjs',
    sideEffects: false,
    main: './index.js',
    types: './index.d.ts',
    bin: { orders: 'bin/orders.mjs' },
    exports: {
      '.': {
        import: { types: './index.d.mts', default: './index.mjs' },
        default: { types: './index.d.ts', default: './index.js' },
      },
      './package.json': './package.json',
    },
  };
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  const names = Object.keys(createRequire(import.meta.url)(join(directory, 'index.js')));
  writeFileSync(join(directory, 'index.mjs'), `export { ${names.join(', ')} } from './index.js';\n`);
  writeFileSync(join(directory, 'index.d.mts'), "export * from './index.js';\n");
}

/** The compiler keeps `.ts` imports in declarations, which older compilers cannot resolve. */
function withJsImports(file: string): void {
  const types = readFileSync(file, 'utf8');
  writeFileSync(file, types.replaceAll(/(?<=from '\.\/[\w-]+)\.ts(?=')/g, '.js'));
}

/** Packs the client for publishing into a directory. Each run uses its own temporary directory, so that runs do not collide. */
async function packClient(destination: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'orders-client-'));
  try {
    await build(directory);
    execFileSync('npm', ['pack', '--silent', '--pack-destination', destination], { cwd: directory, stdio: 'inherit' });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What intake serves. */
const SERVED = join(PACKAGE, 'dist/orders-client.tgz');
const SOURCES = [
  ...['packages/client/src/*', 'packages/client/*.*', 'packages/bundle/src/*', 'package.json'],
  ...['apps/cli', 'packages/domain', 'packages/order-files', 'packages/runtime'].map(
    (folder) => `${folder}/src/**/*.ts`,
  ),
];

/** Whether the client that intake serves was packed after the last change of its sources. */
export function isServedClientPacked(): boolean {
  const packedAt = statSync(SERVED, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return globSync(SOURCES, { cwd: ROOT }).every((path) => statSync(join(ROOT, path)).mtimeMs <= packedAt);
}

/** Packs the client for intake to serve. */
export async function packServedClient(): Promise<void> {
  mkdirSync(dirname(SERVED), { recursive: true });
  const directory = mkdtempSync(join(dirname(SERVED), 'packing-'));
  try {
    // Not this process, which may have an app to start meanwhile.
    await promisify(execFile)(process.execPath, [import.meta.filename, directory]);
    const [packed = ''] = globSync('*.tgz', { cwd: directory });
    // At once, as another run may read it.
    renameSync(join(directory, packed), SERVED);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) await packClient(resolve(process.argv[2] ?? ROOT));
