import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Certificate } from '@kubernetes-models/cert-manager/cert-manager.io/v1/Certificate';
import { Gateway } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/Gateway';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { parseAllDocuments } from 'yaml';
import { findProgram } from './programs.ts';

export const MANIFESTS = resolve(import.meta.dirname, '../../deploy/kubernetes');

/** A manifest that kustomize renders from `deploy/kubernetes`. */
// biome-ignore lint/suspicious/noExplicitAny: a dozen kinds, each validated against its schema
export type Manifest = any;

/** Models generated from the published schemas of Kubernetes and the custom resources. */
const MODELS = [
  Namespace,
  ServiceAccount,
  ConfigMap,
  Deployment,
  Service,
  Job,
  PodDisruptionBudget,
  HorizontalPodAutoscaler,
  NetworkPolicy,
  Ingress,
  Gateway,
  HTTPRoute,
  Certificate,
  ScaledObject,
  PodMonitor,
  PrometheusRule,
];

/** @throws {Error} with kustomize's message, or if kustomize is not installed. */
export function render(directory: string): Manifest[] {
  const program = findProgram('kubectl');
  if (program === null) throw new Error('no kubectl and no kustomize');
  const command = basename(program) === 'kustomize' ? 'build' : 'kustomize';
  const text = execFileSync(program, [command, directory], { encoding: 'utf8', stdio: 'pipe' });
  return parseAllDocuments(text).map((document) => document.toJS());
}

/**
 * Copies `deploy/kubernetes` and edits the example, as an operator does.
 *
 * @param edit changes the text of `orders/kustomization.yaml`.
 * @returns the directory of that kustomization; the caller removes the directory two levels above it.
 */
export function fillIn(edit: (text: string) => string): string {
  const root = mkdtempSync(join(tmpdir(), 'orders-kubernetes-'));
  cpSync(MANIFESTS, root, { recursive: true });
  const directory = join(root, 'example/orders');
  const file = join(directory, 'kustomization.yaml');
  writeFileSync(file, edit(readFileSync(file, 'utf8')));
  return directory;
}

/** Enables every component that is commented out in the example. */
export const withAllComponents = (text: string): string =>
  text
    .replaceAll(/^( *)# ?((?: *)(?:- |files:|options:|labels:|annotations:))/gm, '$1$2')
    .replace('gateway-api # or ', 'gateway-api\n  - ');

/**
 * Validates a manifest against the schema of its kind.
 *
 * @returns the paths of members that are not in the schema: the schemas of Kubernetes allow them, but a cluster drops them.
 * @throws {Error} if the manifest violates its schema, or if there is no schema for it.
 */
export function validateManifest(manifest: Manifest): string[] {
  const model = MODELS.find((one) => one.is(manifest));
  if (!model) throw new Error(`no schema for ${manifest.apiVersion} ${manifest.kind}`);
  const read = new Set<string>();
  Reflect.apply(model.prototype.validate, recordReads(manifest, '', read), []);
  return pathsOf(manifest, '').filter((path) => !read.has(path));
}

/** Records which members a validator reads. It reads each member of its schema, so a member that it never reads is not in the schema. */
function recordReads(value: object, path: string, read: Set<string>): object {
  return new Proxy(value, {
    get(target, key, receiver) {
      const member = Reflect.get(target, key, receiver);
      if (typeof key === 'symbol' || !Object.hasOwn(target, key)) return member;
      read.add(`${path}/${key}`);
      return typeof member === 'object' && member !== null ? recordReads(member, `${path}/${key}`, read) : member;
    },
  });
}

function pathsOf(value: object, path: string): string[] {
  return Object.entries(value).flatMap(([key, member]) => [
    `${path}/${key}`,
    ...(typeof member === 'object' && member !== null ? pathsOf(member, `${path}/${key}`) : []),
  ]);
}
