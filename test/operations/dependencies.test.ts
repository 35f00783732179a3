import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { IMAGES } from '../harness/containers.ts';
import { makeDirectory } from '../harness/directory.ts';
import { listen } from '../harness/listen.ts';

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

// The root has packages for tests; an installation of what running needs has only these. `npm start` and `npm run test:upgrade` use one.
test.each(globSync('{apps,packages}/*/package.json', { cwd: ROOT }))(
  '%s names each package that its code imports',
  (path) => {
    const { name, dependencies = {}, devDependencies = {} } = JSON.parse(read(path));
    const files = globSync(join(dirname(path), 'src/**/*.ts'), { cwd: ROOT });
    const imported = files.flatMap((file) =>
      [
        ...read(file).matchAll(
          /^(?:import|export|\}) (?!type )(?:[^'\n]* )?from '(@[\w-]+\/[\w.-]+|[\w][\w.-]*)(?:\/[^']*)?';$/gm,
        ),
      ].map(([, module = '']) => module),
    );
    const named = new Set([name, ...Object.keys({ ...dependencies, ...devDependencies })]);
    expect([...new Set(imported)].filter((module) => !named.has(module))).toEqual([]);
  },
);

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

const FILES = ['Dockerfile', 'docker-compose.yml', 'deploy/compose/tls.yml', '.github/workflows/ci.yml'];
const DIGEST = `sha256:${'ab'.repeat(32)}`;

const directory = makeDirectory();
let host: string;

beforeAll(async () => {
  // Answers as a registry with token authentication does, by the OCI distribution specification.
  const registry = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', `http://${host}`);
    if (pathname === '/token') return response.end(JSON.stringify({ token: searchParams.get('scope') }));
    const [, name, tag] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(pathname) ?? [];
    if (request.headers.authorization !== `Bearer repository:${name}:pull`)
      return response.writeHead(401, { 'WWW-Authenticate': `Bearer realm="http://${host}/token",service="r"` }).end();
    const isIndex = request.headers.accept?.startsWith('application/vnd.oci.image.index.v1+json');
    if (tag === 'absent' || !isIndex) return response.writeHead(404).end();
    response.setHeader('Docker-Content-Digest', DIGEST).end();
  });
  host = `127.0.0.1:${(await listen(registry)).port}`;
});

/** The files of this repository, with images of the registry of this test. */
async function copyFiles(rename: (text: string) => string = (text) => text): Promise<void> {
  for (const file of FILES) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await cp(join(ROOT, file), join(directory, file));
    const text = (await readFile(join(directory, file), 'utf8')).replaceAll(/@sha256:[\da-f]{64}/g, '');
    const named = text.replaceAll(/^(FROM |\s*image: (?:"\$\{\w+:-)?)(?=[\w/-]+:\w)/gm, `$1${host}/`);
    await writeFile(join(directory, file), rename(named));
  }
}

function pin(...options: string[]): Promise<{ code: number; output: string; errors: string }> {
  const script = join(ROOT, 'deploy/images/pin-images.ts');
  return new Promise((done) => {
    execFile(process.execPath, [script, '--root', directory, ...options], (error, output, errors) =>
      done({ code: Number(error?.code ?? 0), output, errors }),
    );
  });
}

test('each base image gets the digest that its registry has, once and again', async () => {
  await copyFiles();
  const before = await pin('--check');
  expect(before.code).toBe(1);
  expect(before.errors).toContain(`docker-compose.yml: ${host}/postgres:18 has no digest; run npm run pin:images\n`);
  for (const round of [1, 2]) {
    expect(await pin()).toMatchObject({ code: 0, errors: '' });
    expect([round, await pin('--check')]).toEqual([round, { code: 0, output: '', errors: '' }]);
  }
  const compose = await readFile(join(directory, 'docker-compose.yml'), 'utf8');
  expect(compose).toContain(`image: "\${POSTGRES_IMAGE:-${host}/postgres:18@${DIGEST}}"\n`);
  expect(compose).toContain(`image: ${host}/redis:8@${DIGEST}\n`);
  // Built here, not pulled.
  expect(compose).toContain(`image: "\${ORDERS_IMAGE:-order-ingestion}"\n`);
  const dockerfile = await readFile(join(directory, 'Dockerfile'), 'utf8');
  expect(dockerfile.match(/^FROM .*/gm)).toContain(`FROM ${host}/node:24-bookworm-slim@${DIGEST} AS manifests`);
});

test('an image that the registry does not have changes no file, and is named', async () => {
  await copyFiles((text) => text.replace('/redis:8', '/redis:absent'));
  const before = await readFile(join(directory, 'docker-compose.yml'), 'utf8');
  expect(await pin()).toMatchObject({
    code: 2,
    errors: `pin:images: http://${host}/v2/redis/manifests/absent answers 404\n`,
  });
  expect(await readFile(join(directory, 'docker-compose.yml'), 'utf8')).toBe(before);
});
