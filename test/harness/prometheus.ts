import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startChild } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { parse } from 'yaml';
import { documentedMetrics, seriesOf } from './read-metrics.ts';

export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface RuleFile {
  groups: { name: string; rules: Rule[] }[];
}

/** Reads the repository's file of alert rules. */
export function readRuleFile(): RuleFile {
  return parse(readFileSync(join(PROMETHEUS_FILES, 'alerts.yml'), 'utf8'));
}

/** The rules of all groups, in order. */
export function rulesOf(file: RuleFile): Rule[] {
  return file.groups.flatMap(({ rules }) => rules);
}

const TEXT = /"(?:[^"\\]|\\.)*"/g;
/** The parts of an expression without series names: matchers, durations, and label lists. */
const NO_NAMES = /\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g;
const WORDS = new Set(['and', 'or', 'unless', 'offset', 'group_left', 'bool']);

/** The names of series in a PromQL expression: every word that is not a function, keyword or label. */
function seriesNamedIn(expression: string): string[] {
  const bare = expression.replace(TEXT, '').replace(NO_NAMES, ' ');
  return [...bare.matchAll(/(?<![\w:.])[a-zA-Z_:][\w:]*(?!\w|\s*\()/g)]
    .map(([word]) => word)
    .filter((word) => !WORDS.has(word));
}

/** Series of node-exporter and the kubelet about volumes. */
const VOLUMES = [
  'node_filesystem_avail_bytes',
  'node_filesystem_size_bytes',
  'kubelet_volume_stats_available_bytes',
  'kubelet_volume_stats_capacity_bytes',
];

/** The series that no process exposes and no rule records. */
export function unknownSeriesIn(expressions: readonly string[]): string[] {
  const recorded = rulesOf(readRuleFile()).flatMap(({ record }) => record ?? []);
  const known = new Set([...documentedMetrics().flatMap(seriesOf), ...recorded, ...VOLUMES, 'up', 'ALERTS']);
  return expressions.flatMap(seriesNamedIn).filter((name) => !known.has(name));
}

export const PROMETHEUS_FILES = resolve(import.meta.dirname, '../../deploy/prometheus');

/** Runs promtool without blocking the event loop. Returns its output and whether it succeeded. */
export async function promtool(...args: string[]): Promise<{ ok: boolean; text: string }> {
  const child = spawn('promtool', args, { cwd: PROMETHEUS_FILES });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const code = await new Promise((done, failed) => child.on('error', failed).on('close', done));
  return { ok: code === 0, text };
}

export interface RunningPrometheus {
  /** The state of each alert that is not inactive, by name. */
  alerts(): Promise<Record<string, 'pending' | 'firing'>>;
  /** The current values of an expression. */
  ask(expression: string): Promise<number[]>;
  /** The health of each scraped process: `up`, `down` or `unknown`. */
  targets(): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts a Prometheus on the loopback interface with this configuration file. */
export async function startPrometheus(configFile: string): Promise<RunningPrometheus> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-prometheus-'));
  const port = await freePort();
  const child = await startChild('prometheus', [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${directory}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ]);
  const api = async <T>(path: string): Promise<T> => {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    return ((await reply.json()) as { data: T }).data;
  };
  const close = async () => {
    await child.stop('SIGTERM', 5000);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await until('Prometheus is ready', async () => {
      if (child.process.exitCode !== null) throw new Error('Prometheus exited');
      const reply = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => null);
      return reply?.ok;
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    close,
    async alerts() {
      type Alert = { labels: { alertname: string }; state: 'pending' | 'firing' };
      const { alerts } = await api<{ alerts: Alert[] }>('alerts');
      return Object.fromEntries(alerts.map(({ labels, state }) => [labels.alertname, state]));
    },
    async ask(expression) {
      type Answer = { result: { value: [number, string] }[] };
      const { result } = await api<Answer>(`query?query=${encodeURIComponent(expression)}`);
      return result.map(({ value }) => Number(value[1]));
    },
    async targets() {
      type Target = { labels: { job: string }; health: string };
      const { activeTargets } = await api<{ activeTargets: Target[] }>('targets?state=active');
      return Object.fromEntries(activeTargets.map(({ labels, health }) => [labels.job, health]));
    },
  };
}
