import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '@orders/test-services';
import type { Findings } from './findings.ts';

/** A process of the service, which is started again whenever it ends by itself. */
export interface App {
  /** Resolves once it is up. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** SIGTERM; that it ends with exit code 0 is part of what is verified. */
  drain(): Promise<void>;
  /** Ends it for good. */
  close(): Promise<void>;
}

interface AppOptions {
  name: string;
  /** The program. */
  main: string;
  env: NodeJS.ProcessEnv;
  /** The file that its output is added to. */
  log: string;
  findings: Findings;
  untilUp: () => Promise<void>;
}

const DRAIN_MS = 30_000;
const START_AGAIN_MS = 1000;

/** Starts an app as the process it is in production. */
export async function startApp(options: AppOptions): Promise<App> {
  const { name, main, env, log, findings, untilUp } = options;
  let closed = false;
  let child: Child;

  async function launch(): Promise<Child> {
    const output = await open(log, 'a');
    const started = await startChild(process.execPath, [main], { env, stdio: ['ignore', output.fd, output.fd] });
    await output.close();
    child = started;
    void started.exited.then(() => noteEnd(started));
    return started;
  }

  // Ends that are wanted; any other is a violation.
  const wanted = new WeakSet<Child>();

  async function noteEnd(ended: Child): Promise<void> {
    if (wanted.has(ended)) return;
    const { exitCode, signalCode } = ended.process;
    const lastWords = (await readFile(log, 'utf8')).trim().split('\n').slice(-8).join(' ⏎ ');
    findings.add({
      name: 'process-died',
      id: `${name}, process ${ended.pid}`,
      detail: `${signalCode ?? `exit code ${exitCode}`}: ${lastWords.slice(-800)}`,
    });
    await sleep(START_AGAIN_MS);
    // If that fails, the process says so by ending once more.
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
    wanted.add(ending);
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
    async close() {
      closed = true;
      await starting.catch(() => {});
      await end('SIGKILL');
    },
  };
}
