import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { parse, parseAllDocuments } from 'yaml';

export const MANIFESTS = resolve(import.meta.dirname, '../../deploy/kubernetes');

/** What a file of `deploy/kubernetes` holds; the schemas say what is in it. */
// biome-ignore lint/suspicious/noExplicitAny: of a dozen kinds, each of which is validated as what it is
export type Manifest = any;

/** Models with the published schemas of Kubernetes' OpenAPI document, KEDA's and the Prometheus operator's resources. */
const MODELS = [
  Namespace,
  Deployment,
  Service,
  Job,
  PodDisruptionBudget,
  HorizontalPodAutoscaler,
  NetworkPolicy,
  Ingress,
  ScaledObject,
  PodMonitor,
  PrometheusRule,
];

export const kustomization: Manifest = parse(readFileSync(join(MANIFESTS, 'kustomization.yaml'), 'utf8'));

/** Every manifest of every file that is no setting and no kustomization, with where it stands. */
export function readManifests(): { name: string; manifest: Manifest }[] {
  return readdirSync(MANIFESTS)
    .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
    .flatMap((file) =>
      parseAllDocuments(readFileSync(join(MANIFESTS, file), 'utf8'), { merge: true }).map((document) => {
        if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]}`);
        const manifest = document.toJS();
        return { name: `${file}: ${manifest.kind} ${manifest.metadata.name}`, manifest };
      }),
    );
}

/** `KEY=value` lines, as kustomize reads them. */
export function readSettings(file: string): Record<string, string> {
  const lines = readFileSync(join(MANIFESTS, file), 'utf8').split('\n');
  return Object.fromEntries(
    lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
}

/**
 * Validates a manifest against the schema of its kind.
 *
 * @returns the paths of members that the schema does not know: Kubernetes' schemas let these pass, and the cluster drops them.
 * @throws {Error} when it breaks the schema, or when there is none for it.
 */
export function validateManifest(manifest: Manifest): string[] {
  const model = MODELS.find((one) => one.is(manifest));
  if (!model) throw new Error(`no schema for ${manifest.apiVersion} ${manifest.kind}`);
  const read = new Set<string>();
  Reflect.apply(model.prototype.validate, watched(manifest, '', read), []);
  return pathsOf(manifest, '').filter((path) => !read.has(path));
}

/** A validator reads each member that its schema knows, so what it never read, it does not know. */
function watched(value: object, path: string, read: Set<string>): object {
  return new Proxy(value, {
    get(target, key, receiver) {
      const member = Reflect.get(target, key, receiver);
      if (typeof key === 'symbol' || !Object.hasOwn(target, key)) return member;
      read.add(`${path}/${key}`);
      return typeof member === 'object' && member !== null ? watched(member, `${path}/${key}`, read) : member;
    },
  });
}

function pathsOf(value: object, path: string): string[] {
  return Object.entries(value).flatMap(([key, member]) => [
    `${path}/${key}`,
    ...(typeof member === 'object' && member !== null ? pathsOf(member, `${path}/${key}`) : []),
  ]);
}
