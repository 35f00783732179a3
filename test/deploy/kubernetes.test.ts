import { expect, test } from '@jest/globals';
import type { Manifest } from '../harness/manifests.ts';
import {
  apps,
  describeManifests,
  dockerfile,
  environmentOf,
  guide,
  named,
  ofKind,
  pods,
  READERS,
  SECRET,
  settings,
  theOne,
} from '../harness/pods.ts';

/** Whether a selector (by labels or expressions) matches these labels. */
function selects({ matchLabels = {}, matchExpressions = [] }: Manifest, labels: Record<string, string>): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }: Manifest) => operator === 'In' && values.includes(labels[key]))
  );
}
const isServer = (name: string) => ['intake', 'portal'].includes(name);
const chosenBy = (selector: Manifest) => pods.filter(({ labels }) => selects(selector, labels)).map(({ name }) => name);

describeManifests('the manifests', () => {
  test('take the image of every pod from a single place', () => {
    const images = new Set(pods.map(({ container }) => container.image));
    expect([...images]).toEqual([expect.stringMatching(/^registry\.example\.com\/order-ingestion:\d+\.\d+\.\d+$/)]);
  });

  test('are in the namespace of the installation, except those of the Gateway', () => {
    const isOutside = ({ manifest }: { manifest: Manifest }) => manifest.metadata.namespace !== 'orders';
    expect(named.filter(isOutside).map(({ name }) => name)).toEqual([
      'Namespace orders',
      'Namespace orders-gateway',
      'Certificate orders-tls',
      'Gateway orders',
    ]);
  });

  test('contain everything that the migration needs in the setup step, and no app', () => {
    const setup = named.filter(({ manifest }) => manifest.metadata.labels?.['app.kubernetes.io/component'] === 'setup');
    expect(new Set(setup.map(({ name }) => name.replace(/-\w{10}$/, '')))).toEqual(
      new Set([
        'ConfigMap private-ca',
        'Job migrate',
        'NetworkPolicy admin',
        'NetworkPolicy default-deny',
        'NetworkPolicy endpoints',
        'NetworkPolicy http',
        'NetworkPolicy stores',
        'ServiceAccount orders',
      ]),
    );
  });

  test('run only commands that exist in the image', () => {
    const commands = [...(/for command in (.*); do/.exec(dockerfile)?.[1] ?? '').matchAll(/(\w+):/g)].map(
      ([, name]) => name,
    );
    expect(commands).toContain('orders');
    // `sleep` comes from Debian.
    for (const { container } of pods) expect([...commands, 'sleep']).toContain(container.args[0]);
  });
});

describeManifests('the environment of a pod', () => {
  test.each(pods)('of $name is complete and has only variables that the app reads', async ({ name, container }) => {
    expect((container.envFrom ?? []).map(({ configMapRef }: Manifest) => configMapRef.name)).toEqual(
      name === 'migrate' ? [] : [expect.stringMatching(/^settings-\w+$/)],
    );
    const config = await READERS[name]?.(environmentOf(container));
    // Node itself reads NODE_EXTRA_CA_CERTS.
    for (const { name: variable } of container.env)
      if (variable !== 'NODE_EXTRA_CA_CERTS') expect(config).toHaveProperty(variable);
  });

  test.each(pods)('of $name has either both secrets keys or none', ({ container }) => {
    const keys = container.env.map(({ name }: Manifest) => name).filter((name: string) => /^SECRETS_KEY/.test(name));
    expect([[], ['SECRETS_KEY', 'SECRETS_KEY_PREVIOUS']]).toContainEqual(keys);
  });

  test('has no setting that no app reads', async () => {
    const read = await Promise.all(apps.map(async ({ name, container }) => READERS[name]?.(environmentOf(container))));
    const known = read.flatMap((config) => Object.keys(config ?? {}));
    expect(Object.keys(settings).filter((name) => !known.includes(name))).toEqual([]);
  });

  test('takes secrets only from the ones that the guide creates for it', () => {
    const made = [...guide.matchAll(/^cat > (\w+)\.env <<END\n([\s\S]*?)^END$/gm)].map(([, name = '', lines = '']) => ({
      name,
      keys: [...lines.matchAll(/^([A-Z_]+)=/gm)].map(([, key]) => key),
    }));
    expect(made.map(({ name }) => name)).toEqual(['operator', 'intake', 'worker', 'portal', 'notifier']);
    expect(guide).toContain('create secret generic $app --from-env-file=$app.env');
    for (const { name, container } of pods) {
      const owner = name === 'migrate' ? 'operator' : name;
      const references: Manifest[] = container.env.flatMap(({ valueFrom }: Manifest) => valueFrom?.secretKeyRef ?? []);
      expect([name, new Set(references.map((reference) => reference.name))]).toEqual([name, new Set([owner])]);
      const keys = made.find((secret) => secret.name === owner)?.keys ?? [];
      for (const { key, optional = false } of references)
        expect([name, key, optional || keys.includes(key)]).toEqual([name, key, true]);
    }
    // Every created secret is used.
    const used = pods.flatMap(({ container }) => container.env.map(({ name }: Manifest) => name));
    for (const { keys } of made) expect(used).toEqual(expect.arrayContaining(keys));
    expect(ofKind('Secret')).toEqual([]);
    for (const name of Object.keys(settings)) expect(Object.keys(SECRET)).not.toContain(name);
  });

  test('contains the database owner only for the migration and the commands', () => {
    const [, ...owners] =
      /operator\.env([\s\S]*?)intake\.env([\s\S]*?)worker\.env([\s\S]*?)portal\.env([\s\S]*?)notifier\.env([\s\S]*?)^\)$/m
        .exec(guide)
        ?.map((part) => /DATABASE_URL=postgres:\/\/(\$?\w+)[:@]/.exec(part)?.[1]) ?? [];
    expect(owners).toEqual(['$owner', 'orders_intake', 'orders_worker', 'orders_portal', 'orders_notifier']);
  });

  test('limits the rate of each account without its own limit', async () => {
    const config: Manifest = await READERS.intake?.(
      environmentOf(theOne('Deployment', 'intake').spec.template.spec.containers[0]),
    );
    expect(config.RATE_LIMIT).toEqual({ requests: 200, seconds: 1 });
  });
});

describeManifests('a pod', () => {
  test.each(pods)('of $name meets the restricted profile', ({ spec, container }) => {
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(spec.containers).toHaveLength(1);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(['hostNetwork', 'hostPID', 'hostIPC'].filter((member) => member in spec)).toEqual([]);
    expect(spec.volumes).toEqual([
      { name: 'private-ca', configMap: { name: expect.stringMatching(/^private-ca-\w+$/) } },
    ]);
    expect(container.resources).toEqual({
      requests: { cpu: expect.any(String), memory: expect.any(String) },
      limits: { memory: expect.any(String) },
    });
    expect(bytes(container.resources.limits.memory)).toBeGreaterThan(bytes(container.resources.requests.memory));
  });

  test.each(apps)('of $name has a longer grace period than its drain takes', async ({ name, spec, container }) => {
    const config: Manifest = await READERS[name]?.(environmentOf(container));
    // Workers and notifiers have no DRAIN_DELAY because they receive no requests.
    const { DRAIN_DELAY = 0, DRAIN_TIMEOUT } = config;
    expect(spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(DRAIN_DELAY + DRAIN_TIMEOUT);
    expect(DRAIN_DELAY > 0).toBe(isServer(name));
  });

  test.each(apps)('of $name is probed at ports on which its app listens', ({ name, container }) => {
    const config = environmentOf(container);
    const ports = Object.fromEntries(
      container.ports.map(({ name: port, containerPort }: Manifest) => [port, String(containerPort)]),
    );
    expect(ports).toEqual({ admin: config.ADMIN_PORT, ...(isServer(name) && { http: config.PORT }) });
    expect([config.HOST, config.ADMIN_HOST]).toEqual(['0.0.0.0', '0.0.0.0']);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const path = probe === 'readinessProbe' ? '/health/ready' : '/health/live';
      expect(container[probe].httpGet).toEqual({ port: 'admin', path });
    }
  });
});

describeManifests('references', () => {
  test('between resources resolve: services, budgets, spreads, autoscalers and the ingress', () => {
    for (const { metadata, spec } of ofKind('Deployment')) {
      expect(chosenBy(spec.selector)).toEqual([metadata.name]);
      if (metadata.name === 'operator') continue;
      for (const { labelSelector } of spec.template.spec.topologySpreadConstraints)
        expect(chosenBy(labelSelector)).toEqual([metadata.name]);
      expect(chosenBy(theOne('PodDisruptionBudget', metadata.name).spec.selector)).toEqual([metadata.name]);
    }
    for (const { metadata, spec } of ofKind('Service')) {
      expect(chosenBy({ matchLabels: spec.selector })).toEqual([metadata.name]);
      expect(spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    }
    for (const scaler of [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')]) {
      expect(theOne('Deployment', scaler.spec.scaleTargetRef.name).spec).not.toHaveProperty('replicas');
    }
    const { rules, tls } = theOne('Ingress', 'orders').spec;
    for (const { http } of rules) {
      const { name, port } = http.paths[0].backend.service;
      expect(theOne('Service', name).spec.ports[0].name).toBe(port.name);
    }
    const hosts = ['INTAKE_URL', 'PORTAL_URL'].map((name) => new URL(settings[name] ?? '').host);
    expect(rules.map(({ host }: Manifest) => host)).toEqual(hosts);
    expect(tls[0].hosts).toEqual(hosts);
    expect(theOne('Certificate', 'orders-tls').spec).toMatchObject({
      secretName: tls[0].secretName,
      dnsNames: hosts,
    });
  });

  test('of routes lead from the Gateway to the two services, with timeouts for the longest reply', () => {
    const { metadata, spec } = theOne('Gateway', 'orders');
    const [{ name: sectionName, allowedRoutes, tls }] = spec.listeners;
    expect(tls.certificateRefs).toEqual([{ name: theOne('Certificate', 'orders-tls').spec.secretName }]);
    expect(selects(allowedRoutes.namespaces.selector, { 'kubernetes.io/metadata.name': 'orders' })).toBe(true);
    for (const route of ofKind('HTTPRoute')) {
      const { name } = route.metadata;
      const host = new URL(settings[`${name.toUpperCase()}_URL`] ?? '').host;
      const [{ backendRefs, timeouts }] = route.spec.rules;
      expect(route.spec.parentRefs).toEqual([{ name: metadata.name, namespace: metadata.namespace, sectionName }]);
      expect(route.spec.hostnames).toEqual([host]);
      expect(backendRefs).toEqual([{ name, port: theOne('Service', name).spec.ports[0].port }]);
      expect(Number.parseInt(timeouts.request, 10)).toBeGreaterThan(30);
    }
    expect(ofKind('HTTPRoute').map((route) => route.metadata.name)).toEqual(['intake', 'portal']);
  });

  test('of the ingress allow the largest batch, limit each address and do not retry', async () => {
    const { annotations } = theOne('Ingress', 'orders').metadata;
    const of = (name: string) => annotations[`nginx.ingress.kubernetes.io/${name}`];
    const config: Manifest = await READERS.intake?.(
      environmentOf(theOne('Deployment', 'intake').spec.template.spec.containers[0]),
    );
    expect(of('proxy-body-size')).toBe(`${config.MAX_BATCH_BYTES / 1024 ** 2}m`);
    expect([of('proxy-request-buffering'), of('proxy-next-upstream')]).toEqual(['on', 'off']);
    expect(Number(of('limit-connections'))).toBeGreaterThan(0);
    expect(Number(of('limit-rps'))).toBeGreaterThan(config.RATE_LIMIT.requests);
    expect(Number(of('proxy-read-timeout'))).toBeGreaterThan(30);
  });

  test('of disruption budgets allow the eviction of one pod', () => {
    for (const { spec } of ofKind('PodDisruptionBudget')) expect(spec).toMatchObject({ maxUnavailable: 1 });
  });

  test('of network policies let only the notifier reach the internet, and no private address', () => {
    const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10'];
    const ways = ofKind('NetworkPolicy').filter(({ spec }) => spec.egress);
    expect(ways.map(({ metadata, spec }) => [metadata.name, chosenBy(spec.podSelector)])).toEqual([
      ['endpoints', ['notifier']],
      ['stores', pods.map(({ name }) => name)],
    ]);
    const [endpoints, stores] = ways.map(({ spec }) => spec.egress);
    expect(endpoints).toEqual([
      {
        to: [
          { ipBlock: { cidr: '0.0.0.0/0', except: [...PRIVATE, '168.63.129.16/32'] } },
          { ipBlock: { cidr: '::/0', except: ['fc00::/7', 'fe80::/10'] } },
        ],
        ports: [{ port: 443 }, { port: 1024, endPort: 65_535 }],
      },
    ]);
    const ports = stores.flatMap(({ ports }: Manifest) => ports.map(({ port }: Manifest) => port));
    expect(new Set(ports)).toEqual(new Set([5432, 6432, 6379, 53]));
  });

  test('of network policies open the admin port only to Prometheus', () => {
    const policies = ofKind('NetworkPolicy');
    const doors = policies.flatMap(({ metadata, spec }) =>
      (spec.ingress ?? []).map(({ from, ports }: Manifest) => ({ name: metadata.name, from, ports })),
    );
    expect(theOne('NetworkPolicy', 'default-deny').spec).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    });
    expect(doors.map(({ name, ports }) => [name, ports])).toEqual([
      ['admin', [{ port: 'admin' }]],
      ['http', [{ port: 'http' }]],
    ]);
    for (const { from } of doors) expect(from).toEqual([{ namespaceSelector: { matchLabels: expect.anything() } }]);
    expect(chosenBy(theOne('NetworkPolicy', 'http').spec.podSelector)).toEqual(['intake', 'portal']);
    const monitor = theOne('PodMonitor', 'orders').spec;
    expect(chosenBy(monitor.selector)).toEqual(expect.arrayContaining(apps.map(({ name }) => name)));
    expect(monitor.podMetricsEndpoints[0]).toMatchObject({ port: 'admin', path: '/metrics' });
  });
});

function bytes(quantity: string): number {
  const [, count, unit] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? [];
  return Number(count) * (unit === 'Gi' ? 1024 : 1);
}
