import { FileError } from '@orders/order-files/errors.ts';
import type { Task, TaskReply } from './run-in-worker.ts';
import { readHead, readOrders } from './table-file.ts';

// Reads a file apart from the page, which a large one would freeze.
addEventListener('message', ({ data: task }: MessageEvent<Task>) => {
  void run(task).then((reply) => postMessage(reply));
});

async function run({ file, read, mapping }: Task): Promise<TaskReply> {
  try {
    return { result: read === 'head' ? await readHead(file) : await readOrders(file, mapping) };
  } catch (error) {
    if (!(error instanceof FileError)) return { failure: { fault: 'unreadable', line: null } };
    return { failure: { fault: error.fault, line: error.line } };
  }
}
