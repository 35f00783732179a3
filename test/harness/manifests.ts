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

/** What kustomize makes of `deploy/kubernetes`; the schemas say what is in it. */
// biome-ignore lint/suspicious/noExplicitAny: of a dozen kinds, each of which is validated as what it is
export type Manifest = any;

/** Models with the schemas that Kubernetes and the authors of the custom resources publish. */
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

/** @throws {Error} with kustomize's message, or where no kustomize is found. */
export function render(directory: string): Manifest[] {
  const program = findProgram('kubectl');
  if (program === null) throw new Error('no kubectl and no kustomize');
  const command = basename(program) === 'kustomize' ? 'build' : 'kustomize';
  const text = execFileSync(program, [command, directory], { encoding: 'utf8', stdio: 'pipe' });
  return parseAllDocuments(text).map((document) => document.toJS());
}

/**
 * A copy of `deploy/kubernetes` in which an operator fills in the example.
 *
 * @param edit the text of `orders/kustomization.yaml` after the operator's changes.
 * @returns the directory of that kustomization; the caller removes what is two above it.
 */
export function fillIn(edit: (text: string) => string): string {
  const root = mkdtempSync(join(tmpdir(), 'orders-kubernetes-'));
  cpSync(MANIFESTS, root, { recursive: true });
  const directory = join(root, 'example/orders');
  const file = join(directory, 'kustomization.yaml');
  writeFileSync(file, edit(readFileSync(file, 'utf8')));
  return directory;
}

/** The example with every component: what it has commented out is valid, too. */
export const withAllComponents = (text: string): string =>
  text
    .replaceAll(/^( *)# ?((?: *)(?:- |files:|options:|labels:|annotations:))/gm, '$1$2')
    .replace('gateway-api # or ', 'gateway-api\n  - ');

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
