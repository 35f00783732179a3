/** `npm run pin:images`: pins base images by digest, or with `--check` reports those that are not. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const FILES = ['Dockerfile', 'docker-compose.yml', 'deploy/compose/tls.yml', '.github/workflows/ci.yml'];
/** An image of a registry in a `FROM` or `image:` line, or as the default of a variable there. */
const IMAGE =
  /(?<=^FROM |^\s*image: (?:"\$\{\w+:-)?)(?<image>[a-z\d][\w./-]*(?::\d+\/[\w./-]+)?:[\w.-]+)(?<digest>@sha256:[\da-f]{64})?/gm;
/** Indexes of several platforms first, so that the digest serves each of them. */
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const TIMEOUT_MS = 20_000;

const USAGE = `Usage: npm run pin:images -- [--check] [--root <directory>]

Writes the digest that each base image has now in its registry into
${FILES.join(', ')}.

  --check   changes nothing; exit code 1 if an image has no digest
  --root    the directory of these files (default: this repository)`;

/** @returns the digest of an image reference such as `redis:8`. @throws {Error} if its registry does not answer with one. */
async function digestOf(image: string): Promise<string> {
  const { registry, name, tag } = parse(image);
  const url = `${registry}/v2/${name}/manifests/${tag}`;
  const ask = (headers: Record<string, string>) =>
    fetch(url, { method: 'HEAD', headers: { Accept: MANIFESTS, ...headers }, signal: AbortSignal.timeout(TIMEOUT_MS) });
  let reply = await ask({});
  if (reply.status === 401) reply = await ask({ Authorization: `Bearer ${await requestToken(reply, name)}` });
  const digest = reply.headers.get('Docker-Content-Digest');
  if (!reply.ok || !/^sha256:[\da-f]{64}$/.test(digest ?? '')) throw new Error(`${url} answers ${reply.status}`);
  return digest as string;
}

function parse(image: string): { registry: string; name: string; tag: string } {
  const [, host, path = '', tag = ''] = /^(?:([^/]*[.:][^/]*|localhost)\/)?(.+):([^:]+)$/.exec(image) ?? [];
  if (host === undefined)
    return { registry: 'https://registry-1.docker.io', name: path.includes('/') ? path : `library/${path}`, tag };
  const isLocal = /^(localhost|127\.0\.0\.1)(:|$)/.test(host);
  return { registry: `${isLocal ? 'http' : 'https'}://${host}`, name: path, tag };
}

/** A token for reading, by the token authentication of the OCI distribution specification. */
async function requestToken({ headers }: Response, name: string): Promise<string> {
  const fields = new Map<string, string>();
  for (const [, key = '', value = ''] of (headers.get('WWW-Authenticate') ?? '').matchAll(/(\w+)="([^"]*)"/g))
    fields.set(key, value);
  const url = new URL(fields.get('realm') ?? '');
  url.searchParams.set('service', fields.get('service') ?? '');
  url.searchParams.set('scope', `repository:${name}:pull`);
  const reply = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!reply.ok) throw new Error(`${url.origin} answers ${reply.status}`);
  const { token } = (await reply.json()) as { token: string };
  return token;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { check: { type: 'boolean' }, root: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return console.log(USAGE);
  const root = values.root ?? resolve(import.meta.dirname, '../..');
  const texts = new Map(FILES.map((file) => [file, readFileSync(resolve(root, file), 'utf8')]));
  const found = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(IMAGE)].map(({ groups }) => ({ file, image: groups?.image ?? '', digest: groups?.digest })),
  );
  if (values.check) {
    const loose = found.filter(({ digest }) => digest === undefined);
    for (const { file, image } of loose) console.error(`${file}: ${image} has no digest; run npm run pin:images`);
    process.exitCode = loose.length > 0 ? 1 : 0;
    return;
  }
  const digests = new Map<string, string>();
  for (const image of new Set(found.map(({ image }) => image))) {
    digests.set(image, await digestOf(image));
    console.log(`${image}@${digests.get(image)}`);
  }
  for (const [file, text] of texts)
    writeFileSync(
      resolve(root, file),
      text.replaceAll(IMAGE, (_all, image) => `${image}@${digests.get(image)}`),
    );
}

try {
  await main();
} catch (error) {
  console.error(`pin:images: ${(error as Error).message}`);
  process.exitCode = 2;
}
