import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { IMAGES } from '../harness/containers.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(resolve(ROOT, path), 'utf8');
const MANIFESTS = ['package.json', ...globSync('{apps,packages}/{*,portal/page}/package.json', { cwd: ROOT })];

test.each(MANIFESTS)('%s requires exact versions', (path) => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read(path));
  const asked = Object.entries<string>({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const loose = asked.filter(([, version]) => !/^(\d+\.\d+\.\d+(-[\w.]+)?|workspace:\*)$/.test(version));
  expect(loose).toEqual([]);
  // The client has no dependencies; building it has.
  const needed = path === 'packages/client/package.json' ? Object.keys(dependencies ?? {}) : asked;
  expect(needed.length > 0).toBe(path !== 'packages/client/package.json');
});

test('everything is installed with one version of pnpm and the frozen lockfile', () => {
  const texts = ['package.json', 'packages/dev-server/start.sh', 'Dockerfile', 'CONTRIBUTING.md'].map(read).join('\n');
  expect(new Set(texts.match(/pnpm@[\w.-]+/g))).toHaveProperty('size', 1);
  const installs = texts.split('\n').filter((line) => /pnpm@\S+ (install|i|ci)\b/.test(line));
  expect(installs.length).toBeGreaterThanOrEqual(3);
  for (const line of installs) expect(line).toContain('--frozen-lockfile');
});

test('dependencies are checked against the Node version in use', () => {
  const { dependencies } = JSON.parse(read('package.json'));
  expect(read('pnpm-workspace.yaml')).toContain(`\nnodeVersion: ${dependencies.node}\n`);
});

test('tests and Compose use the same images, named by their major version', () => {
  const services = [...read('docker-compose.yml').matchAll(/^ {4}image: (?:"\$\{\w+:-)?(\w+:[^\s}@]+)/gm)].map(
    ([, image]) => image,
  );
  expect(services).toEqual([IMAGES.postgres, IMAGES.redis]);
  for (const image of services) expect(image).toMatch(/:\d+$/);
});

test('workflows use each action by the commit of a version', () => {
  const used = globSync('.github/workflows/*.yml', { cwd: ROOT }).flatMap(
    (path) => read(path).match(/uses: .*/g) ?? [],
  );
  expect(used.length).toBeGreaterThan(5);
  for (const line of used) expect(line).toMatch(/^uses: (\.\/\S+|\S+@[\da-f]{40} # v\d+\.\d+\.\d+)$/);
});

test('the deployed version is that of the root package, and the changelog begins with it', () => {
  const { version } = JSON.parse(read('package.json'));
  expect(read('deploy/kubernetes/example/orders/kustomization.yaml')).toContain(`newTag: ${version}\n`);
  expect(/^## (\S+)$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
});
