import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { readConfig as readIntakeConfig } from '@orders/intake/config.ts';
import { readConfig as readNotifierConfig } from '@orders/notifier/config.ts';
import { readConfig as readPortalConfig } from '@orders/portal/config.ts';
import { readConfig as readWorkerConfig } from '@orders/worker/config.ts';
import { readConfig as readCliConfig } from '../../apps/cli/src/config.ts';
import { fillIn, MANIFESTS, type Manifest, render, withAllComponents } from './manifests.ts';
import { describeWith, findProgram } from './programs.ts';

/** The manifests of the example with every component. Empty without kustomize; the tests are then skipped. */
const manifests: Manifest[] = findProgram('kubectl') ? renderAll() : [];
/** All manifests with their names. */
export const named = manifests.map((manifest) => ({ name: `${manifest.kind} ${manifest.metadata.name}`, manifest }));
/** The manifests of a kind. */
export const ofKind = (kind: string): Manifest[] => manifests.filter((manifest) => manifest.kind === kind);
/** The manifest with this kind and name. */
export const theOne = (kind: string, name: string): Manifest => {
  const found = ofKind(kind).filter(({ metadata }) => metadata.name === name);
  expect(found).toHaveLength(1);
  return found[0];
};

function renderAll(): Manifest[] {
  const directory = fillIn(withAllComponents);
  try {
    writeFileSync(join(directory, 'ca.crt'), 'a certificate');
    return [...render(directory), ...render(join(directory, '../gateway'))];
  } finally {
    rmSync(join(directory, '../..'), { recursive: true });
  }
}

/** `describe`, skipped without kustomize, as the tests are named after the manifests. */
export function describeManifests(title: string, tests: () => void): void {
  describeWith('kubectl')(title, named.length > 0 ? tests : () => test('needs kubectl or kustomize', () => {}));
}

/** Environment variables of all apps. */
export const settings: Record<string, string> =
  ofKind('ConfigMap').find(({ metadata }) => metadata.name.startsWith('settings-'))?.data ?? {};
/** The guide for operators. */
export const guide = readFileSync(join(MANIFESTS, 'README.md'), 'utf8');
/** The Dockerfile, with each instruction on one line. */
export const dockerfile = readFileSync(resolve(import.meta.dirname, '../../Dockerfile'), 'utf8').replaceAll(
  / \\\n */g,
  ' ',
);
/** Environment variables of the image. */
export const image: Record<string, string> = Object.fromEntries(
  [...dockerfile.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = '']) => line.split(' ').map((pair) => pair.split('='))),
);

/** Values of the secrets that the guide tells the operator to create, by key. */
export const SECRET: Record<string, string> = {
  DATABASE_URL: 'postgres://orders:secret@postgres.example.com:5432/orders',
  QUEUE_URL: 'rediss://default:secret@redis.example.com:6379',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  SECRETS_KEY_PREVIOUS: Buffer.alloc(32, 8).toString('base64'),
  SMTP_PASSWORD: 'of-the-mail-server',
  INTAKE_DB_PASSWORD: 'of-the-role-of-intake',
  WORKER_DB_PASSWORD: 'of-the-role-of-worker',
  PORTAL_DB_PASSWORD: 'of-the-role-of-portal',
  NOTIFIER_DB_PASSWORD: 'of-the-role-of-notifier',
};

/** The functions by which the apps read their environment. */
export const READERS: Partial<Record<string, (env: Record<string, string>) => object | Promise<object>>> = {
  intake: readIntakeConfig,
  worker: readWorkerConfig,
  notifier: readNotifierConfig,
  portal: readPortalConfig,
  migrate: readCliConfig,
  operator: readCliConfig,
};

/** The pods of all Deployments and Jobs. */
export const pods = [...ofKind('Deployment'), ...ofKind('Job')].map(({ metadata, spec }) => ({
  name: metadata.name as string,
  spec: spec.template.spec,
  labels: spec.template.metadata.labels as Record<string, string>,
  container: spec.template.spec.containers[0],
}));
/** The pods that serve requests, process orders or deliver events. */
export const apps = pods.filter(({ name }) => name !== 'migrate' && name !== 'operator');

/** The environment of a container: the image's variables, the settings and its own variables; later ones override earlier ones. */
export function environmentOf({ envFrom = [], env }: Manifest): Record<string, string> {
  const own = env.map(({ name, value, valueFrom }: Manifest) => [name, value ?? SECRET[valueFrom.secretKeyRef.key]]);
  return { ...image, ...(envFrom.length > 0 && settings), ...Object.fromEntries(own) };
}
