import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { mainOf, startProgram, untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { closeAtEnd } from './close-at-end.ts';
import { MANIFESTS, type Manifest, render } from './manifests.ts';
import { image } from './pods.ts';
import { type Call, type Result, standInPrograms } from './stand-in-programs.ts';

interface Secret {
  data: Record<string, string>;
  metadata: { annotations: Record<string, string> };
}
interface Pod {
  env: Record<string, string>;
  child: Child | null;
  port: number;
}

/**
 * A fake Kubernetes cluster with a fake `kubectl`. It stores Secrets, renders kustomizations with the real kustomize, and runs the apps, the
 * migration and the operator's commands as processes. A pod sees the Secrets as they were when it started. Only the commands of the guide
 * and the scripts are supported.
 */
export interface StandInCluster {
  /** A copy of those files of the repository that the guide needs. */
  directory: string;
  secrets: Map<string, Secret>;
  /** The arguments of each call; for `exec`, only those before `--`. */
  calls: string[];
  /** The URL of intake; it changes with each restart. */
  intakeUrl(): string;
  /** Runs a block in bash. As in an interactive shell, a failed command does not end it. */
  paste(block: string): Promise<Required<Result>>;
  /** Called first for each call; a result that it returns is used as the reply. */
  intercept: ((call: Call) => Promise<Result | undefined>) | null;
  close(): Promise<void>;
}

/** @param own environment variables of every process; they override those of the manifests. */
export async function startStandInCluster(own: Record<string, string>): Promise<StandInCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-stand-in-'));
  await cp(MANIFESTS, join(directory, 'deploy/kubernetes'), { recursive: true });
  const secrets = new Map<string, Secret>();
  const pods = new Map<string, Pod>();
  const applied = new Map<string, Manifest>();
  let migration: Result | null = null;

  const containerOf = (name: string): Manifest => applied.get(name)?.spec.template.spec.containers[0];

  function environment(container: Manifest): Record<string, string> {
    const settings = container.envFrom ? applied.get('settings')?.data : {};
    const entries = (container.env ?? []).flatMap(({ name, value, valueFrom }: Manifest) => {
      const { name: secret, key, optional } = valueFrom?.secretKeyRef ?? {};
      const kept = secret && secrets.get(secret)?.data[key];
      if (secret && kept === undefined && !optional) throw new Error(`no ${key} in the Secret ${secret}`);
      return secret && kept === undefined ? [] : [[name, value ?? Buffer.from(kept ?? '', 'base64').toString()]];
    });
    return {
      ...image,
      ...settings,
      ...Object.fromEntries(entries),
      HOST: '127.0.0.1',
      ADMIN_HOST: '127.0.0.1',
      ...own,
    };
  }

  /** Starts the new pod before it stops the old one. */
  async function startPod(name: string): Promise<void> {
    const [port, adminPort] = [await freePort(), await freePort()];
    const env = { ...environment(containerOf(name)), PORT: String(port), ADMIN_PORT: String(adminPort) };
    const child = name === 'operator' ? null : await startProgram(mainOf(name), env, { output: 'ignore' });
    if (child) await untilReady(adminPort);
    const earlier = pods.get(name)?.child;
    pods.set(name, { env, child, port });
    await earlier?.stop();
  }

  async function apply(manifest: Manifest): Promise<void> {
    const { kind, metadata, spec } = manifest;
    const name = metadata.name.replace(/^settings-\w+$/, 'settings');
    if (!['Deployment', 'Job', 'ConfigMap'].includes(kind)) return;
    const before = applied.get(name);
    const isChanged = JSON.stringify(before?.spec) !== JSON.stringify(spec);
    if (kind === 'Job' && before && isChanged) throw new Error('field is immutable');
    applied.set(name, manifest);
    if (kind === 'Job' && isChanged)
      migration = await programs.run(['orders', 'migrate'], { env: environment(containerOf(name)) });
    if (kind === 'Deployment' && isChanged) await startPod(name);
  }

  const isSelected = ({ metadata }: Manifest, selector: string | undefined): boolean => {
    const [, key = '', operator, value] = /^([^!=]+)(!?=)(.+)$/.exec(selector ?? '') ?? [];
    return selector === undefined || (metadata.labels?.[key] === value) === (operator === '=');
  };

  async function handleCall({ args, stdin, cwd }: Call): Promise<Result> {
    const separatorAt = args.indexOf('--');
    const words = (separatorAt < 0 ? args : args.slice(0, separatorAt)).filter(
      (word, at, all) => !/^(-n|--namespace)$/.test(word) && !/^(-n|--namespace)$/.test(all[at - 1] ?? ''),
    );
    const after = (...names: string[]) => words.find((_, at) => names.includes(words[at - 1] ?? ''));
    const [verb, what = '', name = ''] = words;
    const done: Result = { code: 0 };
    switch (verb) {
      case 'apply': {
        const manifests = render(resolve(cwd, after('-k', '--kustomize') as string));
        const chosen = manifests.filter((manifest) => isSelected(manifest, after('-l', '--selector')));
        // ConfigMaps first, as kubectl does.
        for (const manifest of chosen.toSorted(
          (a, b) => Number(b.kind === 'ConfigMap') - Number(a.kind === 'ConfigMap'),
        ))
          await apply(manifest);
        return done;
      }
      case 'create': {
        const file = words.find((word) => word.startsWith('--from-env-file='))?.split('=')[1] as string;
        const lines = (await readFile(resolve(cwd, file), 'utf8')).trim().split('\n');
        const data = Object.fromEntries(
          lines.map((line) => {
            const [key = '', value = ''] = line.split(/=(.*)/s);
            return [key, Buffer.from(value).toString('base64')];
          }),
        );
        secrets.set(words[3] as string, { data, metadata: { annotations: {} } });
        return done;
      }
      case 'patch': {
        const secret = secrets.get(name) as Secret;
        const patch = JSON.parse(stdin);
        merge(secret.data, patch.data);
        merge(secret.metadata.annotations, patch.metadata?.annotations);
        return done;
      }
      case 'get': {
        if (what === 'pods') return { code: 0, stdout: '' };
        if (what === 'job') return { code: 0, stdout: migration?.code ? 'BackoffLimitExceeded' : '' };
        const secret = secrets.get(name);
        if (!secret) return { code: 1, stderr: `secrets "${name}" not found\n` };
        const output = after('-o', '--output') as string;
        return { code: 0, stdout: output === 'json' ? JSON.stringify(secret) : valueAt(secret, output) };
      }
      case 'rollout':
        if (what === 'restart')
          await Promise.all(words.slice(2).map((target) => startPod(target.replace('deployment/', ''))));
        return done;
      case 'wait':
        return name === 'job/migrate' ? { code: migration?.code ?? 1 } : done;
      case 'delete':
        applied.delete(name);
        return done;
      case 'logs':
        return { code: 0, stdout: migration?.stderr ?? '' };
      case 'exec':
        return programs.run(args.slice(separatorAt + 1), { env: pods.get('operator')?.env ?? {}, stdin });
      default:
        return { code: 1, stderr: `the stand-in does not know kubectl ${verb}\n` };
    }
  }

  const calls: string[] = [];
  const programs = await standInPrograms(join(directory, 'bin'), async (call) => {
    calls.push(call.args.join(' ').replace(/ -- .*/s, ''));
    return (await cluster.intercept?.(call)) ?? handleCall(call);
  });
  const cluster: StandInCluster = {
    directory,
    secrets,
    calls,
    intercept: null,
    intakeUrl: () => `http://127.0.0.1:${pods.get('intake')?.port}`,
    paste: (block) => programs.run(['bash'], { stdin: block, cwd: directory }),
    async close() {
      for (const { child } of pods.values()) await child?.stop();
      await programs.close();
      await rm(directory, { recursive: true });
    },
  };
  return closeAtEnd(cluster);
}

/** Applies a JSON merge patch: null removes a key. */
function merge(target: Record<string, string>, patch: Record<string, string | null> = {}): void {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete target[key];
    else target[key] = value;
  }
}

function valueAt(secret: Secret, jsonpath: string): string {
  const [, ...keys] = /^jsonpath=\{(.*)\}$/.exec(jsonpath)?.[1]?.split('.') ?? [];
  return String(keys.reduce((value: Manifest, key) => value?.[key], secret) ?? '');
}
