import { fileURLToPath } from 'node:url';
import { Problem } from '@orders/domain/problems.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';
import { Piscina } from 'piscina';
import {
  type Outcome,
  type TaskName,
  type TaskOptions,
  type Tasks,
  type ThreadTask,
  takesLong,
  tasks,
} from './tasks.ts';

export interface Caller {
  accountId: number;
  /** Whether the client has disconnected; checked right before the task starts in the thread. */
  isGone?: () => boolean;
}

/** The client disconnected before its body was read. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}

/** Reads bodies without blocking the event loop for long. */
export interface Parser {
  /**
   * Runs a task on a body: a short one immediately, one that may take long in the parsing thread, accounts in rotation.
   *
   * @throws {Problem} what the task throws.
   * @throws {ClientDisconnected} if the client disconnected before the task started.
   */
  run<Name extends TaskName>(
    caller: Caller,
    name: Name,
    body: Buffer,
    ...options: TaskOptions<Name>
  ): ReturnType<Tasks[Name]> | Promise<ReturnType<Tasks[Name]>>;
  /** Ends the thread. */
  close(): Promise<void>;
}

/** The thread ends after this long without work. */
const IDLE_MS = 60_000;
/** A list of ids of 1 MiB takes about 40 MiB at worst. If a task exceeds this, the thread ends and only that task fails. */
const THREAD_HEAP_MB = 192;

/** Creates the parser of one process; the thread starts with the first long task. */
export function createParser(): Parser {
  const thread = new Piscina({
    filename: fileURLToPath(new URL('./tasks.ts', import.meta.url)),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
  });
  const runFairly = createFairQueue<number>(1);

  async function runInThread(name: TaskName, body: Buffer, options: unknown[]): Promise<unknown> {
    // The copy is transferred; the body itself may be a slice of a batch.
    const copy = new Uint8Array(body);
    const outcome: Outcome = await thread.run({ name, body: copy, options } satisfies ThreadTask, {
      transferList: [copy.buffer],
    });
    if ('value' in outcome) return outcome.value;
    const { code, ...details } = outcome.problem;
    throw new Problem(code, details);
  }

  return {
    run({ accountId, isGone }, name, body, ...options) {
      type Result = ReturnType<Tasks[typeof name]>;
      if (!takesLong(name, body, options)) {
        return (tasks[name] as (body: Buffer, ...options: unknown[]) => Result)(body, ...options);
      }
      return runFairly(accountId, async () => {
        if (isGone?.()) throw new ClientDisconnected();
        return runInThread(name, body, options);
      }) as Promise<Result>;
    },
    close: () => thread.destroy(),
  };
}
