import { withClient } from '@orders/test-services/databases.ts';
import type { Machine } from '@orders/test-services/machines.ts';
import type { StoresCluster } from '@orders/test-services/stores-cluster.ts';
import { Redis } from 'ioredis';
import { type AccountMove, startAccountMove } from './account-move.ts';
import { type Deployment, restartPostgres } from './deployment.ts';
import type { EndpointMode } from './endpoint-receiver.ts';
import type { Findings } from './findings.ts';
import type { ForeignSessions } from './foreign-sessions.ts';
import type { Load } from './load.ts';
import type { Random } from './random.ts';
import { cutRequests } from './request.ts';

/** Everything that a fault can affect. */
export interface FaultContext extends Deployment {
  findings: Findings;
  foreign: ForeignSessions;
  load: Load;
  random: Random;
}

/** A fault and its recovery. */
export interface Fault {
  name: string;
  /** Min and max seconds from injection to recovery. */
  durationSeconds: readonly [number, number];
  /** @param target the index of the affected process or endpoint, if only one of several is affected. */
  inject(context: FaultContext, target: number): Promise<unknown>;
  /** Restarts stopped processes, removes the fault, and resolves when everything works again. */
  recover(context: FaultContext, target: number): Promise<unknown>;
  /** Whether it is one of a cluster of three machines; see `deploy/high-availability`. */
  isOfCluster?: boolean;
  /** Why the fault cannot be injected in this deployment; null if it can. */
  unavailableReason?: (deployment: Deployment) => string | null;
}

const BRIEF = [0, 0.5] as const;
const DOWN = [0.3, 2] as const;
const FROZEN = [1, 4] as const;
const HELD = [2, 5] as const;
/** Longer than Patroni takes to replace a primary, which is at least 20 s. */
const OUT = [30, 40] as const;

const REQUESTS_CUT = 300;

/** A machine loses its power, and boots. */
const KILLED: Failure = [({ kill }) => kill(), (machine, { boot }) => boot(machine)];

export const FAULTS: readonly Fault[] = [
  appFault('intake-killed', 'intakes', 'kill'),
  appFault('worker-killed', 'workers', 'kill'),
  {
    name: 'workers-killed',
    durationSeconds: DOWN,
    inject: ({ workers }) => Promise.all(workers.map((worker) => worker.kill())),
    recover: ({ workers }) => Promise.all(workers.map((worker) => worker.start())),
  },
  appFault('intake-drained', 'intakes', 'drain'),
  appFault('worker-drained', 'workers', 'drain'),
  {
    name: 'redis-lost',
    durationSeconds: DOWN,
    inject: async ({ redis }) => redis?.stop(),
    recover: async ({ redis }) => redis?.startEmpty(),
    unavailableReason: whyNotSingle,
  },
  {
    name: 'redis-flushed',
    durationSeconds: BRIEF,
    inject: async ({ redis }) => redis && command(redis.url, 'FLUSHALL'),
    recover: doNothing,
    unavailableReason: whyNotSingle,
  },
  {
    name: 'redis-frozen',
    durationSeconds: FROZEN,
    inject: async ({ redis }) => redis?.freeze(),
    recover: async ({ redis }) => redis?.thaw(),
    unavailableReason: whyNotSingle,
  },
  {
    name: 'redis-full',
    durationSeconds: FROZEN,
    inject: async ({ redis }) => redis && command(redis.url, 'CONFIG', 'SET', 'maxmemory', '1'),
    recover: async ({ redis }) => redis && command(redis.url, 'CONFIG', 'SET', 'maxmemory', '0'),
    unavailableReason: whyNotSingle,
  },
  {
    name: 'postgres-killed',
    durationSeconds: DOWN,
    inject: async ({ postgres }) => postgres?.kill(),
    recover: restartPostgres,
    unavailableReason: whyNotSingle,
  },
  {
    name: 'postgres-restarted',
    durationSeconds: BRIEF,
    inject: async ({ postgres }) => postgres?.shutDown(),
    recover: restartPostgres,
    unavailableReason: whyNotSingle,
  },
  {
    name: 'postgres-frozen',
    durationSeconds: FROZEN,
    inject: async ({ postgres }) => postgres?.freeze(),
    async recover(context) {
      context.postgres?.thaw();
      await restartPostgres(context);
    },
    unavailableReason: whyNotSingle,
  },
  {
    name: 'sessions-ended',
    durationSeconds: BRIEF,
    inject: ({ databaseUrl }) =>
      withClient(databaseUrl, (client) =>
        client.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        ),
      ),
    recover: doNothing,
  },
  {
    name: 'idle-in-transaction',
    // Longer than the undo time, so that orders confirmed during the transaction are due before its end.
    durationSeconds: [12, 14],
    // Its transaction id delays dispatching, and its locks block every session that changes these orders.
    inject: ({ foreign }) =>
      foreign.open(
        'begin',
        'select pg_current_xact_id()',
        'select from orders order by order_id desc limit 50 for update',
      ),
    recover: ({ foreign }) => foreign.end(),
  },
  {
    name: 'pool-exhausted',
    durationSeconds: DOWN,
    // Every pooled connection waits for this lock, and no other connection is free.
    async inject({ foreign }) {
      await foreign.open('begin', 'lock table outbox in access exclusive mode');
      await foreign.takeAll();
    },
    recover: ({ foreign }) => foreign.end(),
  },
  {
    name: 'long-readers',
    durationSeconds: HELD,
    async inject({ foreign }) {
      for (const table of ['receipts', 'orders', 'outbox', 'changed_deliveries']) {
        await foreign.open('begin isolation level repeatable read', `select count(*) from ${table}`);
      }
    },
    recover: ({ foreign }) => foreign.end(),
  },
  {
    name: 'disk-full',
    durationSeconds: FROZEN,
    inject: async ({ disk }) => disk?.fill(),
    async recover(context) {
      await context.disk?.free();
      await restartPostgres(context);
    },
    unavailableReason: (deployment) =>
      whyNotSingle(deployment) ?? (deployment.disk ? null : 'mounting a disk requires root on Linux'),
  },
  {
    name: 'requests-cut',
    durationSeconds: BRIEF,
    async inject({ urls, load, random }) {
      const orders = Array.from({ length: REQUESTS_CUT }, load.make);
      await cutRequests(urls, orders, random);
      // Their senders would retry too, because they do not know the outcome.
      for (const order of orders) void load.deliver(order);
    },
    recover: doNothing,
  },
  {
    name: 'stores-killed',
    durationSeconds: DOWN,
    inject: ({ postgres, redis }) => Promise.all([postgres?.kill(), redis?.stop()]),
    recover: (context) => Promise.all([restartPostgres(context), context.redis?.startEmpty()]),
    unavailableReason: whyNotSingle,
  },
  appFault('notifier-killed', 'notifiers', 'kill'),
  appFault('notifier-drained', 'notifiers', 'drain'),
  {
    name: 'notifier-frozen',
    durationSeconds: FROZEN,
    inject: async ({ notifiers }, target) => targetOf(notifiers, target).freeze(),
    recover: async ({ notifiers }, target) => targetOf(notifiers, target).thaw(),
  },
  endpointFault('endpoint-slow', 'slow'),
  endpointFault('endpoint-failing', 'fails'),
  endpointFault('endpoint-hanging', 'hangs'),
  endpointFault('endpoint-resetting', 'resets'),
  endpointFault('endpoint-gone', 'gone'),
  accountMoved(),
  machineFault('primary-lost', primaryOf('postgres'), KILLED),
  machineFault('primary-frozen', primaryOf('postgres'), [({ freeze }) => freeze(), ({ thaw }) => thaw()]),
  machineFault('primary-cut-off', primaryOf('postgres'), [({ cutOff }) => cutOff(), ({ reconnect }) => reconnect()]),
  machineFault('standby-lost', standbyOf('postgres'), KILLED),
  machineFault('redis-primary-lost', primaryOf('redis'), KILLED),
];

function targetOf<T>(all: readonly T[], target: number): T {
  return all[target % all.length] as T;
}

/** One process of an app is killed or drained, and started again. */
function appFault(name: string, apps: 'intakes' | 'workers' | 'notifiers', how: 'kill' | 'drain'): Fault {
  return {
    name,
    durationSeconds: how === 'kill' ? DOWN : BRIEF,
    inject: (context, target) => targetOf(context[apps], target)[how](),
    recover: (context, target) => targetOf(context[apps], target).start(),
  };
}

/** One endpoint is in this mode; the others work. */
function endpointFault(name: string, mode: EndpointMode): Fault {
  return {
    name,
    durationSeconds: HELD,
    inject: ({ endpoints }, target) => targetOf(endpoints, target).setMode(mode),
    recover: ({ endpoints }, target) => targetOf(endpoints, target).setMode('works'),
  };
}

/** An account moves to another installation, and each of its steps is interrupted. */
function accountMoved(): Fault {
  let move: AccountMove | null = null;
  return {
    name: 'account-moved',
    durationSeconds: BRIEF,
    inject: async (context) => {
      move = await startAccountMove(context);
    },
    recover: async () => move?.finish(),
    unavailableReason: whyNotSingle,
  };
}

type Choice = (cluster: StoresCluster) => Promise<Machine | null | undefined>;
type Failure = [
  fail: (machine: Machine) => Promise<void>,
  repair: (machine: Machine, cluster: StoresCluster) => Promise<void>,
];

function primaryOf(store: 'postgres' | 'redis'): Choice {
  return (cluster) => cluster.primaryOf(store);
}

function standbyOf(store: 'postgres' | 'redis'): Choice {
  return async (cluster) => {
    const primary = await cluster.primaryOf(store);
    return primary && cluster.machines.find((machine) => machine !== primary);
  };
}

/** A machine of the cluster fails; nobody touches the others. */
function machineFault(name: string, choose: Choice, [fail, repair]: Failure): Fault {
  let failed: Machine | null | undefined;
  return {
    name,
    isOfCluster: true,
    durationSeconds: OUT,
    async inject({ cluster }) {
      failed = cluster && (await choose(cluster));
      if (!failed) throw new Error('the cluster has no primary');
      await fail(failed);
    },
    async recover({ cluster }) {
      if (failed && cluster) await repair(failed, cluster);
      await cluster?.untilWhole();
    },
    unavailableReason: ({ cluster }) => (cluster ? null : 'there is no cluster'),
  };
}

function whyNotSingle({ postgres }: Deployment): string | null {
  return postgres ? null : 'it is not for a cluster';
}

async function doNothing(): Promise<void> {}

async function command(url: string, name: string, ...args: string[]): Promise<void> {
  const redis = new Redis(url);
  try {
    await redis.call(name, ...args);
  } finally {
    redis.disconnect();
  }
}
