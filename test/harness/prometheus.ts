import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startChild } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from './until.ts';

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
