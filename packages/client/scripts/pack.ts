import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGE = new URL('..', import.meta.url);
const ROOT = new URL('../..', PACKAGE);
const DIST = new URL('dist/', PACKAGE);

const readManifest = (directory: URL) => JSON.parse(readFileSync(new URL('package.json', directory), 'utf8'));

/** Makes `dist`, which is what is published: the sources as JavaScript and types, and a manifest of its own with the version of the service. */
function build(): void {
  rmSync(DIST, { recursive: true, force: true });
  const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', ROOT));
  execFileSync(process.execPath, [compiler, '-p', fileURLToPath(PACKAGE)], { stdio: 'inherit' });
  for (const file of globSync('*.d.ts', { cwd: DIST })) withJsImports(new URL(file, DIST));
  copyFileSync(new URL('README.md', PACKAGE), new URL('README.md', DIST));
  copyFileSync(new URL('LICENSE', ROOT), new URL('LICENSE', DIST));
  const { private: _, ...manifest } = readManifest(PACKAGE);
  const published = {
    ...manifest,
    version: readManifest(ROOT).version,
    sideEffects: false,
    exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
  };
  writeFileSync(new URL('package.json', DIST), `${JSON.stringify(published, null, 2)}\n`);
}

/** Packs it into a directory, the root of the workspace unless the first argument names another. */
function pack(directory = fileURLToPath(ROOT)): void {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: DIST, stdio: 'inherit' });
}

/** Of types the compiler leaves the imports as they were; older ones than ours do not find them so. */
function withJsImports(file: URL): void {
  const types = readFileSync(file, 'utf8');
  writeFileSync(file, types.replaceAll(/(?<=from '\.\/[\w-]+)\.ts(?=')/g, '.js'));
}

build();
pack(process.argv[2]);
