import type { FileFault } from '@orders/order-files/errors.ts';
import type { OrderMapping } from '../../../api/sources.ts';
import type { TableHead, TableOrders } from './table-file.ts';

/** What is read of a file. */
export interface Task {
  file: File;
  read: 'head' | 'orders';
  mapping: OrderMapping | null;
}

interface Failure {
  /** `unreadable`: the browser cannot read the file, such as one that was changed since it was chosen. */
  fault: FileFault | 'unreadable';
  line: number | null;
}

export type TaskReply = { result: unknown } | { failure: Failure };

/** A file cannot be read. */
export class UnreadableFile extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.fault);
    this.failure = failure;
  }
}

/** @throws {UnreadableFile} */
export function readHeadOf(file: File, signal: AbortSignal): Promise<TableHead> {
  return runInWorker({ file, read: 'head', mapping: null }, signal) as Promise<TableHead>;
}

/** @throws {UnreadableFile} */
export function readOrdersOf(file: File, mapping: OrderMapping | null, signal: AbortSignal): Promise<TableOrders> {
  return runInWorker({ file, read: 'orders', mapping }, signal) as Promise<TableOrders>;
}

function runInWorker(task: Task, signal: AbortSignal): Promise<unknown> {
  const worker = new Worker(new URL('./read.worker.ts', import.meta.url), { type: 'module' });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.addEventListener('message', ({ data }: MessageEvent<TaskReply>) => {
    if ('failure' in data) reject(new UnreadableFile(data.failure));
    else resolve(data.result);
  });
  worker.addEventListener('error', () => reject(new UnreadableFile({ fault: 'unreadable', line: null })));
  signal.addEventListener('abort', () => reject(signal.reason));
  worker.postMessage(task);
  return promise.finally(() => worker.terminate());
}
