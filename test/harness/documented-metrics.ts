import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

interface DocumentedMetric {
  name: string;
  type: string;
  labels: string[];
  apps: string[];
}

/** A row of the table: one metric, or several of the same type and labels. */
const ROW = /^\| (`\w+`(?:, `\w+`)*) \| (\w+)(?:: ([^|]+))? \| \S.* \|$/;
/** The line of a section that lists its apps. */
const SHOWN_BY = /^Shown by ([a-z, ]+)\./;

/** Reads the tables of docs/operating/metrics.md. */
export function documentedMetrics(): DocumentedMetric[] {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs/operating/metrics.md'), 'utf8');
  return text.split(/^## /m).flatMap(metricsOf);
}

function metricsOf(section: string): DocumentedMetric[] {
  const lines = section.split('\n');
  const rows = lines.filter((line) => line.startsWith('| `'));
  const apps = lines.flatMap((line) => SHOWN_BY.exec(line)?.[1]?.split(/, | and /) ?? []);
  return rows.flatMap((line) => {
    const [, names, type, labels = ''] = ROW.exec(line) ?? [];
    if (!names || !type || apps.length === 0) throw new Error(`not a row of metrics: ${line}`);
    return quotedIn(names).map((name) => ({ name, type, labels: quotedIn(labels), apps }));
  });
}

const quotedIn = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word as string);

/** The names of a metric's series in Prometheus. */
export function seriesOf({ name, type }: Pick<DocumentedMetric, 'name' | 'type'>): string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}
