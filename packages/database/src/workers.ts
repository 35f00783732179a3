import type { Database } from './connect.ts';
import { type Connection, run } from './run.ts';

/** A worker process as it last reported. */
export interface WorkerState {
  worker_id: string;
  host: string;
  pid: number;
  /** Whether it was connected to the queue. */
  has_queue: boolean;
  started_at: Date;
  seen_at: Date;
  /** Whether it reported recently. */
  is_alive: boolean;
}

/** Three missed heartbeats; a busy database delays one by a second or two. */
const SILENT_AFTER = '10 seconds';
/** A crashed worker stays on the list for this long. */
const FORGOTTEN_AFTER = '1 hour';

const HEARTBEAT = {
  name: 'worker-heartbeat',
  text: `
with forgotten as (delete from workers where seen_at < now() - interval '${FORGOTTEN_AFTER}' and worker_id <> $1::uuid)
insert into workers (worker_id, host, pid, has_queue) values ($1::uuid, $2::text, $3::int, $4::boolean)
on conflict (worker_id) do update set seen_at = now(), has_queue = excluded.has_queue`,
};

const REMOVE = { name: 'remove-worker', text: 'delete from workers where worker_id = $1::uuid' };

/** Records that a worker runs now. */
export async function recordHeartbeat(
  database: Database,
  worker: Pick<WorkerState, 'worker_id' | 'host' | 'pid' | 'has_queue'>,
): Promise<void> {
  await run(database, HEARTBEAT, [worker.worker_id, worker.host, worker.pid, worker.has_queue]);
}

/** Removes a worker that stops in an orderly way. */
export async function removeHeartbeat(database: Database, workerId: string): Promise<void> {
  await run(database, REMOVE, [workerId]);
}

/** The workers of the last hour that did not stop in an orderly way, oldest first. */
export async function listWorkers(connection: Connection): Promise<WorkerState[]> {
  return run<WorkerState>(
    connection,
    `select worker_id, host, pid, has_queue, started_at, seen_at, seen_at > now() - interval '${SILENT_AFTER}' as is_alive
     from workers where seen_at > now() - interval '${FORGOTTEN_AFTER}' order by started_at, worker_id`,
  );
}
