import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { apps, describeManifests, environmentOf, guide, theOne } from '../harness/pods.ts';
import { withStack } from '../harness/stack.ts';

describeManifests('the alerts', () => {
  const file = readFileSync(resolve(import.meta.dirname, '../../deploy/prometheus/alerts.yml'), 'utf8');

  test('are a PrometheusRule with the content of the rules file and the label that selects it', () => {
    const { metadata, spec } = theOne('PrometheusRule', 'orders');
    // kustomize adds line breaks to multi-line expressions, which PromQL ignores.
    const normal = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(/(?:\\n|\s)+/g, ' '));
    expect(normal(spec)).toEqual(normal({ groups: parse(file).groups }));
    const { release } = theOne('PodMonitor', 'orders').metadata.labels;
    expect([release, metadata.labels.release]).toEqual(['kube-prometheus-stack', 'kube-prometheus-stack']);
  });

  test('use the job and cluster labels that the pod monitor sets', () => {
    const { relabelings } = theOne('PodMonitor', 'orders').spec.podMetricsEndpoints[0];
    expect(relabelings).toEqual([
      {
        sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_name'],
        targetLabel: 'job',
        replacement: expect.any(String),
      },
      { sourceLabels: ['__meta_kubernetes_pod_label_cluster'], targetLabel: 'cluster' },
    ]);
    for (const { labels } of apps) expect(labels.cluster).toMatch(/./);
    // The rules group by these two labels and by no other label of a pod.
    expect(file).toContain('by (cluster, namespace)');
    const jobs = apps.map(({ labels }) => relabelings[0].replacement.replace('$1', labels['app.kubernetes.io/name']));
    const wanted = new Set([...file.matchAll(/job=~?"([^"]+)"/g)].map(([, pattern]) => pattern as string));
    expect(wanted.size).toBeGreaterThan(0);
    for (const pattern of wanted) expect(jobs).toContainEqual(expect.stringMatching(`^(${pattern})$`));
  });
});

describeManifests('scaling', () => {
  test('of workers uses metrics that every intake exports, and falls back without Prometheus', async () => {
    const { spec } = theOne('ScaledObject', 'worker');
    await withStack('postgres', async (stack) => {
      const { adminUrl } = await stack.intake();
      const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
      for (const { metadata } of spec.triggers) {
        // Each intake exports the same value, so the query takes the maximum.
        const [, metric, namespace] = /^max\((\w+)\{namespace="(\w+)"\}\)$/.exec(metadata.query) ?? [];
        expect(metrics).toMatch(new RegExp(`^${metric} 0$`, 'm'));
        expect(namespace).toBe(theOne('ScaledObject', 'worker').metadata.namespace);
      }
    });
    for (const { metadata } of spec.triggers) expect(metadata.ignoreNullValues).toBe('false');
    expect(spec.fallback.replicas).toBeGreaterThanOrEqual(spec.minReplicaCount);
    expect(spec.minReplicaCount).toBeGreaterThanOrEqual(1);
  });

  test('of notifiers uses metrics that a notifier exports, and falls back without Prometheus', async () => {
    const { spec, metadata } = theOne('ScaledObject', 'notifier');
    await withStack('postgres', async (stack) => {
      const { adminUrl } = await stack.notifier();
      const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
      for (const { metadata: trigger } of spec.triggers) {
        const [, metric, namespace] = /(\w+)\{namespace="(\w+)"/.exec(trigger.query) ?? [];
        expect(metrics).toMatch(new RegExp(`^${metric} \\d`, 'm'));
        expect(namespace).toBe(metadata.namespace);
        expect(trigger.ignoreNullValues).toBe('false');
      }
    });
    expect(spec.fallback.replicas).toBeGreaterThanOrEqual(spec.minReplicaCount);
    expect(spec.minReplicaCount).toBeGreaterThanOrEqual(1);
  });

  test('stays within the connections of Postgres', () => {
    const most: Record<string, number> = {
      intake: theOne('HorizontalPodAutoscaler', 'intake').spec.maxReplicas,
      worker: theOne('ScaledObject', 'worker').spec.maxReplicaCount,
      portal: theOne('Deployment', 'portal').spec.replicas,
      notifier: theOne('ScaledObject', 'notifier').spec.maxReplicaCount,
    };
    // Intake reads the load, and a worker has three connections for maintenance.
    const connections = apps.map(({ name, container }) => {
      const pool = Number(environmentOf(container).PG_POOL_SIZE);
      const { maxSurge } = theOne('Deployment', name).spec.strategy.rollingUpdate;
      const ofOne = pool + ({ intake: 1, worker: 3 }[name] ?? 0);
      return ((most[name] ?? Number.NaN) + maxSurge) * ofOne;
    });
    const sum = connections.reduce((all, some) => all + some, 10);
    expect(guide).toContain(`${sum} connections`);
    expect(sum + 3).toBeLessThanOrEqual(Number(/`max_connections = (\d+)`/.exec(guide)?.[1]));
  });
});
