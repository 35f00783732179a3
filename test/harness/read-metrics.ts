import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** One line of the Prometheus text format. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Metric {
  name: string;
  type: string;
  samples: Sample[];
}

const SAMPLE = /^([\w:]+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([\w]+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the metrics of a process from its admin port; by name. */
export async function readMetrics(adminUrl: string): Promise<Map<string, Metric>> {
  const reply = await fetch(`${adminUrl}/metrics`);
  if (!reply.ok) throw new Error(`/metrics failed with status ${reply.status}`);
  const metrics = new Map<string, Metric>();
  let metric: Metric | undefined;
  for (const line of (await reply.text()).split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name && type) {
      metric = { name, type, samples: [] };
      metrics.set(name, metric);
    }
    const [, sample, labels = '', value] = SAMPLE.exec(line) ?? [];
    if (!sample || line.startsWith('#')) continue;
    const pairs = [...labels.matchAll(LABEL)].map(([, label, text]) => [label, text]);
    metric?.samples.push({ name: sample, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return metrics;
}

/** The value of a gauge or counter with these labels, in their order, or without labels; undefined if it is absent. */
export function gaugeOf(metrics: Map<string, Metric>, name: string, labels?: object): number | undefined {
  const wanted = JSON.stringify(labels);
  return metrics.get(name)?.samples.find((sample) => !labels || JSON.stringify(sample.labels) === wanted)?.value;
}

/** `gaugeOf` at an admin port; NaN if it is absent. */
export async function readGauge(adminUrl: string, name: string, labels?: object): Promise<number> {
  return gaugeOf(await readMetrics(adminUrl), name, labels) ?? Number.NaN;
}

interface DocumentedMetric {
  name: string;
  type: string;
  labels: string[];
  apps: string[];
}

/** An entry of the list: one metric, or several of the same type and labels. */
const ENTRY = /^(`\w+`(?:, `\w+`)*) \((\w+)(?:: ([^)]+))?\): \S/;
/** The line of a section that lists its apps. */
const SHOWN_BY = /^Shown by ([a-z, ]+)\./;

/** Reads the lists of docs/operating/metrics.md. */
export function documentedMetrics(): DocumentedMetric[] {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs/operating/metrics.md'), 'utf8');
  return text.split(/^## /m).flatMap(metricsOf);
}

function metricsOf(section: string): DocumentedMetric[] {
  const entries = [...section.matchAll(/^- (`.*(?:\n {2}.*)*)/gm)].map(([, text = '']) => text.replaceAll(/\s+/g, ' '));
  const apps = section.split('\n').flatMap((line) => SHOWN_BY.exec(line)?.[1]?.split(/, | and /) ?? []);
  return entries.flatMap((entry) => {
    const [, names, type, labels = ''] = ENTRY.exec(entry) ?? [];
    if (!names || !type || apps.length === 0) throw new Error(`not an entry of metrics: ${entry}`);
    return quotedIn(names).map((name) => ({ name, type, labels: quotedIn(labels), apps }));
  });
}

const quotedIn = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word as string);

/** The names of a metric's series in Prometheus. */
export function seriesOf({ name, type }: Pick<DocumentedMetric, 'name' | 'type'>): string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}
