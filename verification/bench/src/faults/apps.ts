import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { mainOf, startProgram, untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { startRestartable } from '@orders/test-services/restartable.ts';
import type { Findings } from './findings.ts';

/** A process of the service that is restarted after an unexpected exit. */
export interface App {
  /** Resolves when it is up. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Sends SIGTERM and verifies exit code 0. */
  drain(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Stops it permanently. */
  close(): Promise<void>;
}

const RESTART_DELAY_MS = 1000;

/**
 * Starts an app as a process, like in production.
 *
 * @param options `log` is the file for its output. `waitsFor` is the admin port whose readiness a start waits for, if any.
 */
export async function startApp(options: {
  app: string;
  name: string;
  env: NodeJS.ProcessEnv;
  log: string;
  findings: Findings;
  waitsFor?: number | undefined;
}): Promise<App> {
  const { app, name, env, log, findings, waitsFor } = options;
  const launch = () => startProgram(mainOf(app), env, { output: { file: log } });
  const process = await startRestartable(launch, (ended) => void recordExit(ended));
  const exitOf = ({ process: { exitCode, signalCode } }: Child) => signalCode ?? `exit code ${exitCode}`;

  async function untilUp(): Promise<void> {
    if (waitsFor) await untilReady(waitsFor);
  }

  async function start(): Promise<void> {
    await process.start();
    await untilUp();
  }

  // Any exit that no fault caused is a violation.
  async function recordExit(ended: Child): Promise<void> {
    const logTail = (await readFile(log, 'utf8')).trim().split('\n').slice(-8).join(' ⏎ ');
    const detail = `${exitOf(ended)}: ${logTail.slice(-800)}`;
    findings.add({ name: 'process-died', id: `${name}, process ${ended.pid}`, detail });
    await sleep(RESTART_DELAY_MS);
    // If the restart fails, the next exit is recorded too.
    await start().catch(() => {});
  }

  await untilUp();
  return {
    start,
    kill: async () => void (await process.end('SIGKILL')),
    async drain() {
      const ended = await process.end('SIGTERM');
      if (ended.process.exitCode === 0) return;
      findings.add({ name: 'drain-failed', id: `${name}, process ${ended.pid}`, detail: exitOf(ended) });
    },
    freeze: () => void process.current.process.kill('SIGSTOP'),
    thaw: () => void process.current.process.kill('SIGCONT'),
    close: () => process.close('SIGKILL'),
  };
}
