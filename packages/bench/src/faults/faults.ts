import { Redis } from 'ioredis';
import type { App } from './apps.ts';
import { cutRequests } from './cut-requests.ts';
import type { Deployment } from './deployment.ts';
import type { ForeignSessions } from './foreign-sessions.ts';
import type { Load } from './load.ts';
import type { Random } from './random.ts';
import { revivePostgres } from './revive-postgres.ts';
import { withClient } from './with-client.ts';

/** What a fault may lay hands on. */
export interface Scene extends Deployment {
  foreign: ForeignSessions;
  load: Load;
  random: Random;
}

/** Something that goes wrong, and how it ends. */
export interface Fault {
  name: string;
  /** Seconds from the strike to healing, the least and the most. */
  lasts: readonly [number, number];
  /** @param victim the number of the process that it strikes, where it strikes one of several; from 0. */
  strike(scene: Scene, victim: number): Promise<unknown>;
  /** Restarts stopped processes, undoes the fault, and resolves when everything works again. */
  heal(scene: Scene, victim: number): Promise<unknown>;
  /** Where it cannot be brought about: why. */
  missing?: (deployment: Deployment) => string | null;
}

const MOMENT = [0, 0.5] as const;
const DOWN = [0.3, 2] as const;
const FROZEN = [1, 4] as const;
const HELD = [2, 5] as const;

const REQUESTS_CUT = 300;

export const FAULTS: readonly Fault[] = [
  {
    name: 'intake-killed',
    lasts: DOWN,
    strike: ({ intakes }, victim) => one(intakes, victim).kill(),
    heal: ({ intakes }, victim) => one(intakes, victim).start(),
  },
  {
    name: 'worker-killed',
    lasts: DOWN,
    strike: ({ workers }, victim) => one(workers, victim).kill(),
    heal: ({ workers }, victim) => one(workers, victim).start(),
  },
  {
    name: 'workers-killed',
    lasts: DOWN,
    strike: ({ workers }) => Promise.all(workers.map((worker) => worker.kill())),
    heal: ({ workers }) => Promise.all(workers.map((worker) => worker.start())),
  },
  {
    name: 'intake-drained',
    lasts: MOMENT,
    strike: ({ intakes }, victim) => one(intakes, victim).drain(),
    heal: ({ intakes }, victim) => one(intakes, victim).start(),
  },
  {
    name: 'worker-drained',
    lasts: MOMENT,
    strike: ({ workers }, victim) => one(workers, victim).drain(),
    heal: ({ workers }, victim) => one(workers, victim).start(),
  },
  {
    name: 'redis-lost',
    lasts: DOWN,
    strike: ({ redis }) => redis.stop(),
    heal: ({ redis }) => redis.startEmpty(),
  },
  {
    name: 'redis-flushed',
    lasts: MOMENT,
    strike: ({ redis }) => command(redis.url, 'FLUSHALL'),
    heal: nothing,
  },
  {
    name: 'redis-frozen',
    lasts: FROZEN,
    strike: async ({ redis }) => redis.freeze(),
    heal: async ({ redis }) => redis.thaw(),
  },
  {
    name: 'redis-full',
    lasts: FROZEN,
    strike: ({ redis }) => command(redis.url, 'CONFIG', 'SET', 'maxmemory', '1'),
    heal: ({ redis }) => command(redis.url, 'CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    name: 'postgres-killed',
    lasts: DOWN,
    strike: ({ postgres }) => postgres.kill(),
    heal: revivePostgres,
  },
  {
    name: 'postgres-restarted',
    lasts: MOMENT,
    strike: ({ postgres }) => postgres.shutDown(),
    heal: revivePostgres,
  },
  {
    name: 'postgres-frozen',
    lasts: FROZEN,
    strike: ({ postgres }) => postgres.freeze(),
    async heal(scene) {
      scene.postgres.thaw();
      await revivePostgres(scene);
    },
  },
  {
    name: 'sessions-ended',
    lasts: MOMENT,
    strike: ({ postgres }) =>
      withClient(postgres.url, (client) =>
        client.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        ),
      ),
    heal: nothing,
  },
  {
    name: 'idle-in-transaction',
    // Longer than the undo time: what is confirmed while it is open is due within ten seconds, and shown after its end.
    lasts: [12, 14],
    // Its transaction id holds dispatching up, and its lock each session that wants to change these orders.
    strike: ({ foreign }) =>
      foreign.open(
        'begin',
        'select pg_current_xact_id()',
        'select from orders order by order_id desc limit 50 for update',
      ),
    heal: ({ foreign }) => foreign.end(),
  },
  {
    name: 'pool-exhausted',
    lasts: DOWN,
    // Each connection of the pools waits for this lock, and no other connection is free.
    async strike({ foreign }) {
      await foreign.open('begin', 'lock table outbox in access exclusive mode');
      await foreign.takeAll();
    },
    heal: ({ foreign }) => foreign.end(),
  },
  {
    name: 'long-readers',
    lasts: HELD,
    async strike({ foreign }) {
      for (const table of ['receipts', 'orders', 'outbox', 'resends']) {
        await foreign.open('begin isolation level repeatable read', `select count(*) from ${table}`);
      }
    },
    heal: ({ foreign }) => foreign.end(),
  },
  {
    name: 'disk-full',
    lasts: FROZEN,
    strike: async ({ disk }) => disk?.fill(),
    async heal(scene) {
      await scene.disk?.free();
      await revivePostgres(scene);
    },
    missing: ({ disk }) => (disk ? null : 'no disk can be mounted here: that takes root on Linux'),
  },
  {
    name: 'requests-cut',
    lasts: MOMENT,
    async strike({ urls, load, random }) {
      const orders = Array.from({ length: REQUESTS_CUT }, load.make);
      await cutRequests(urls, orders, random);
      // As their senders would, who do not know the outcome.
      for (const order of orders) void load.deliver(order);
    },
    heal: nothing,
  },
  {
    name: 'stores-killed',
    lasts: DOWN,
    strike: ({ postgres, redis }) => Promise.all([postgres.kill(), redis.stop()]),
    heal: (scene) => Promise.all([revivePostgres(scene), scene.redis.startEmpty()]),
  },
];

function one(apps: readonly App[], victim: number): App {
  return apps[victim % apps.length] as App;
}

async function nothing(): Promise<void> {}

async function command(url: string, name: string, ...args: string[]): Promise<void> {
  const redis = new Redis(url);
  try {
    await redis.call(name, ...args);
  } finally {
    redis.disconnect();
  }
}
