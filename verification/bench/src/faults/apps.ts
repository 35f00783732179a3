import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '@orders/test-services/child.ts';
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

interface AppOptions {
  name: string;
  /** The path of the program. */
  main: string;
  env: NodeJS.ProcessEnv;
  /** The file for its output. */
  log: string;
  findings: Findings;
  untilUp: () => Promise<void>;
}

const DRAIN_MS = 30_000;
const RESTART_DELAY_MS = 1000;

/** Starts an app as a process, like in production. */
export async function startApp(options: AppOptions): Promise<App> {
  const { name, main, env, log, findings, untilUp } = options;
  let closed = false;
  let child: Child;

  async function launch(): Promise<Child> {
    const output = await open(log, 'a');
    const started = await startChild(process.execPath, [main], { env, stdio: ['ignore', output.fd, output.fd] });
    await output.close();
    child = started;
    void started.exited.then(() => recordExit(started));
    return started;
  }

  // Any other exit is a violation.
  const expectedExits = new WeakSet<Child>();

  async function recordExit(ended: Child): Promise<void> {
    if (expectedExits.has(ended)) return;
    const { exitCode, signalCode } = ended.process;
    const logTail = (await readFile(log, 'utf8')).trim().split('\n').slice(-8).join(' ⏎ ');
    findings.add({
      name: 'process-died',
      id: `${name}, process ${ended.pid}`,
      detail: `${signalCode ?? `exit code ${exitCode}`}: ${logTail.slice(-800)}`,
    });
    await sleep(RESTART_DELAY_MS);
    // If the restart fails, the next exit is recorded too.
    if (!closed) await start().catch(() => {});
  }

  async function start(): Promise<void> {
    if (closed) throw new Error(`${name} was closed`);
    starting = launch();
    await starting;
    await untilUp();
  }

  async function end(signal: NodeJS.Signals): Promise<Child> {
    const ending = child;
    expectedExits.add(ending);
    await ending.stop(signal, DRAIN_MS);
    return ending;
  }

  let starting: Promise<Child> = launch();
  await starting;
  await untilUp();
  return {
    start,
    async kill() {
      await end('SIGKILL');
    },
    async drain() {
      const { pid, process: ended } = await end('SIGTERM');
      if (ended.exitCode === 0) return;
      const detail = ended.signalCode ?? `exit code ${ended.exitCode}`;
      findings.add({ name: 'drain-failed', id: `${name}, process ${pid}`, detail });
    },
    freeze: () => void child.process.kill('SIGSTOP'),
    thaw: () => void child.process.kill('SIGCONT'),
    async close() {
      closed = true;
      await starting.catch(() => {});
      await end('SIGKILL');
    },
  };
}
