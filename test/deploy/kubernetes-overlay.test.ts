import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { closeAfterTest } from '../harness/close-at-end.ts';
import { fillIn, MANIFESTS, type Manifest, render, withAllComponents } from '../harness/manifests.ts';
import { guide } from '../harness/pods.ts';
import { describeWith } from '../harness/programs.ts';

/** The rendered manifests after an edit of the example. */
function installed(edit: (text: string) => string, files: Record<string, string> = {}): Manifest[] {
  const directory = fillIn(edit);
  closeAfterTest({ close: async () => rmSync(join(directory, '../..'), { recursive: true }) });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return render(directory);
}
const ofKind = (manifests: Manifest[], kind: string): Manifest[] => manifests.filter((one) => one.kind === kind);
const podsOf = (manifests: Manifest[]): Manifest[] =>
  [...ofKind(manifests, 'Deployment'), ...ofKind(manifests, 'Job')].map(({ spec }) => spec.template);
const kinds = (manifests: Manifest[]) => new Set(manifests.map(({ kind }) => kind));

describeWith('kubectl')('the example, filled in', () => {
  test('has no trace of the first namespace if another one is set, also in the query for scaling', () => {
    const manifests = installed((text) => text.replace('namespace: orders', 'namespace: orders-2'));
    expect(ofKind(manifests, 'Namespace')[0].metadata.name).toBe('orders-2');
    for (const { kind, metadata } of manifests) {
      if (kind !== 'Namespace') expect([kind, metadata.namespace]).toEqual([kind, 'orders-2']);
    }
    const triggers = ofKind(manifests, 'ScaledObject').flatMap(({ spec }) => spec.triggers);
    expect(triggers).toHaveLength(4);
    for (const { metadata } of triggers) expect(metadata.query).toMatch(/\{namespace="orders-2"[,}]/);
  });

  test('takes the host names of its routes from the settings', () => {
    const settings = 'INTAKE_URL=https://in.example.net\nPORTAL_URL=https://people.example.net/\n';
    const both = installed((text) => text.replace('gateway-api # or ', 'gateway-api\n  - '), {
      'settings.env': settings,
    });
    expect(ofKind(both, 'HTTPRoute').map(({ spec }) => spec.hostnames)).toEqual([
      ['in.example.net'],
      ['people.example.net'],
    ]);
    const [{ spec }] = ofKind(both, 'Ingress');
    expect([spec.rules[0].host, spec.tls[0].hosts[0]]).toEqual(['in.example.net', 'in.example.net']);
    const [{ data }] = ofKind(both, 'ConfigMap');
    expect(data).toMatchObject({ INTAKE_URL: 'https://in.example.net', RATE_LIMIT: '200/1s' });
  });

  test('uses only built-in resources of Kubernetes without components', () => {
    const manifests = installed((text) => text.replaceAll(/^ +- \.\.\/\.\.\/components.*\n/gm, ''));
    const groups = new Set(manifests.map(({ apiVersion }) => apiVersion.replace(/\/?v\d+$/, '')));
    expect(groups).toEqual(new Set(['', 'apps', 'autoscaling', 'batch', 'networking.k8s.io', 'policy']));
    expect(kinds(manifests)).not.toContain('Ingress');
  });

  test('has a pull secret and a private CA in every pod only if they are enabled', () => {
    const plain = installed((text) => text);
    expect(ofKind(plain, 'ServiceAccount')[0]).not.toHaveProperty('imagePullSecrets');
    for (const { spec } of podsOf(plain)) expect(spec).not.toHaveProperty('volumes');

    const all = installed(withAllComponents, { 'ca.crt': 'a certificate' });
    expect(ofKind(all, 'ServiceAccount').map((one) => one.imagePullSecrets)).toEqual([[{ name: 'registry' }]]);
    const ca = ofKind(all, 'ConfigMap').find(({ data }) => data['ca.crt'] === 'a certificate');
    expect(podsOf(all)).toHaveLength(6);
    for (const { spec } of podsOf(all)) {
      const [container] = spec.containers;
      expect(spec.serviceAccountName).toBe('orders');
      expect(spec.volumes).toEqual([{ name: 'private-ca', configMap: { name: ca.metadata.name } }]);
      expect(container.volumeMounts).toEqual([{ name: 'private-ca', mountPath: '/etc/private-ca', readOnly: true }]);
      const { value } = container.env.find(({ name }: Manifest) => name === 'NODE_EXTRA_CA_CERTS');
      expect(value).toBe('/etc/private-ca/ca.crt');
    }
  });

  test('sets the cluster label on every pod and in no selector, so that it can be added later', () => {
    const manifests = installed((text) => text.replace('cluster: production', 'cluster: north'));
    for (const { metadata } of podsOf(manifests)) expect(metadata.labels.cluster).toBe('north');
    for (const { spec } of manifests.filter(({ kind }) => /Deployment|Service$|PodDisruption|NetworkPolicy/.test(kind)))
      expect(JSON.stringify([spec.selector, spec.podSelector])).not.toContain('north');
  });

  test('makes a Postgres whose certificate has the name in the guide, and lets only those in whom it names', () => {
    const manifests = render(join(MANIFESTS, 'example/postgres'));
    for (const { kind, metadata } of manifests)
      expect([kind, kind === 'Namespace' ? metadata.name : metadata.namespace]).toEqual([kind, 'orders-postgres']);
    const [cluster] = ofKind(manifests, 'Cluster');
    const [, server] = ofKind(manifests, 'Certificate');
    const [, host] =
      /^postgres='([^:]+):\S+sslmode=verify-full'/m.exec(guide.split('## Postgres by CloudNativePG')[1] ?? '') ?? [];
    expect(server.spec.dnsNames).toContain(host);
    expect(host).toBe(`${cluster.metadata.name}-rw.${cluster.metadata.namespace}.svc`);
    expect(cluster.spec.certificates.serverTLSSecret).toBe(server.spec.secretName);
    const { synchronous, parameters } = cluster.spec.postgresql;
    expect(synchronous).toMatchObject({ number: 1, dataDurability: 'required', failoverQuorum: true });
    expect(guide).toContain(`\`max_connections\` of ${parameters.max_connections} or more`);
    const [{ spec }] = ofKind(manifests, 'NetworkPolicy');
    expect(spec.podSelector.matchLabels).toEqual({ 'cnpg.io/cluster': cluster.metadata.name });
    const [apps] = spec.ingress;
    expect(apps.from[0].namespaceSelector.matchExpressions[0].values).toEqual(['orders']);
    expect(apps.ports).toEqual([{ port: 5432 }]);
  });
});
