import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

interface DocumentedMetric {
  name: string;
  type: string;
  labels: string[];
  apps: string[];
}

const ROW = /^\| `(\w+)` \| (\w+) \| (.*?) ?\| ([a-z, ]+) \| \S.* \|$/;

/** The tables of docs/operating/metrics.md. */
export function documentedMetrics(): DocumentedMetric[] {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs/operating/metrics.md'), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((line) => {
    const [, name, type, labels, apps] = ROW.exec(line) ?? [];
    if (!name || !type || labels === undefined || !apps) throw new Error(`not a row of a metric: ${line}`);
    return {
      name,
      type,
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label as string),
      apps: apps.split(', '),
    };
  });
}

/** The names of the series of a metric as Prometheus has them. */
export function seriesOf({ name, type }: Pick<DocumentedMetric, 'name' | 'type'>): string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}
