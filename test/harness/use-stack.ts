import { beforeAll, beforeEach } from '@jest/globals';
import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import type { Knex } from 'knex';
import type { Api, TestAccount } from './api.ts';
import { closeAtEnd } from './close-at-end.ts';
import { createTestDatabase, PREPARED, type TestDatabase } from './database.ts';
import type { IdentityProvider } from './identity-provider/start.ts';
import type { MailServer } from './mail-server.ts';
import { type Colleague, createPerson, openColleague, openShop, type Shop, type TestPerson } from './people.ts';
import type { QueueKind } from './queue.ts';
import {
  type RunningIntake,
  type RunningNotifier,
  type RunningPortal,
  type RunningWorker,
  type Stack,
  startStack,
} from './stack.ts';

/** What a test file can use. */
interface Started {
  stack: Stack;
  /** For statements of the test itself, as the owner of the database. */
  knex: Knex;
  /** For the functions of the product, which run SQL. */
  db: Database;
  intake: RunningIntake;
  /** Of the intake. */
  api: Api;
  worker: RunningWorker;
  notifier: RunningNotifier;
  /** It knows the address of the intake, if there is one. */
  portal: RunningPortal;
  /** A pool like those of the apps. */
  database: Database;
  /** It signs its webhooks. */
  account: TestAccount;
  /** A user of the portal, in an account of their own. */
  person: TestPerson;
  /** An account whose owner is signed in to the portal. */
  shop: Shop;
  /** Another user in the account of `shop`. */
  colleague: Colleague;
  /** The portal sends its mails to it. */
  mailServer: MailServer;
  /** People sign in to the portal by it. */
  provider: IdentityProvider;
}

type Settings = Record<string, string>;
/** `true`, or the settings of an app. */
type App = true | Settings;
/** One for the file, or a new one before each test. */
type Made = true | 'each test';

interface Options {
  /** Starts everything anew before each test. */
  stack?: 'each test';
  /** Defaults to `postgres`. */
  queue?: QueueKind;
  intake?: App;
  worker?: App;
  notifier?: App;
  portal?: App;
  database?: true;
  account?: Made;
  /** The event log of `account` is on. */
  events?: true;
  person?: Made;
  shop?: Made;
  colleague?: Made;
  mailServer?: true;
  /** `localhost` for a browser, to which it is then another site than the portal. */
  provider?: true | 'localhost';
}

type Names<O> = 'stack' | 'knex' | 'db' | Extract<keyof O, keyof Started> | ('intake' extends keyof O ? 'api' : never);

/**
 * Starts a stack before the tests of the file, or of the `describe` that it is called in, and in it what `options` names. What it returns
 * can be taken apart at once, and used in tests and hooks.
 *
 * @example
 * const { stack, api, account } = useStack({ intake: true, worker: { RETRY_ATTEMPTS: '1' }, account: true });
 */
export function useStack<const O extends Options = object>(options: O = {} as O): Pick<Started, Names<O>> {
  const {
    queue = 'postgres',
    intake,
    worker,
    notifier,
    portal,
    database,
    mailServer,
    provider,
    events,
  }: Options = options;
  const started: { [name in keyof Started]?: Started[name] | undefined } = {};
  // Node keeps the modules of a test file for ever; what it started must not stay in memory with them.
  closeAtEnd({
    async close() {
      for (const name of Object.keys(started) as (keyof Started)[]) delete started[name];
    },
  });
  const make = async (when: Made) => {
    const { stack, portal } = started as Started;
    if (options.account === when) started.account = await stack.account({ signing: true, events: !!events });
    if (options.person === when) started.person = await createPerson(stack);
    if (options.shop === when) started.shop = await openShop(stack, portal);
    if (options.colleague === when) started.colleague = await openColleague(stack, portal, started.shop as Shop);
  };

  const start = async () => {
    await started.stack?.close();
    const stack = await startStack(queue);
    started.stack = stack;
    started.knex = stack.database.knex;
    started.db = stack.database.db;
    if (database) started.database = stack.openDatabase();
    const portalSettings: Settings = {};
    if (intake) {
      started.intake = await stack.intake(settingsOf(intake));
      started.api = started.intake.api;
      portalSettings.INTAKE_URL = started.api.url;
    }
    if (mailServer) {
      const { startMailServer } = await import('./mail-server.ts');
      started.mailServer = await startMailServer();
      Object.assign(portalSettings, started.mailServer.settings);
    }
    if (provider) {
      const { startIdentityProvider } = await import('./identity-provider/start.ts');
      started.provider = await startIdentityProvider(provider === true ? undefined : provider);
      Object.assign(portalSettings, started.provider.settings);
    }
    [started.worker, started.notifier, started.portal] = await Promise.all([
      worker && stack.worker(settingsOf(worker)),
      notifier && stack.notifier(settingsOf(notifier)),
      portal && stack.portal({ ...portalSettings, ...settingsOf(portal) }),
    ]);
    if (started.portal) started.provider?.serve(started.portal.url);
    await make(true);
  };
  if (options.stack === 'each test') beforeEach(start);
  else beforeAll(start);
  if ([options.account, options.person, options.shop, options.colleague].includes('each test'))
    beforeEach(() => make('each test'));

  const names = ['stack', 'knex', 'db', 'api', ...Object.keys(options)] as (keyof Started)[];
  const standIns = names.map((name) => [
    name,
    standIn<object>(name, () => started[name], name === 'knex' ? () => {} : {}),
  ]);
  return Object.fromEntries(standIns);
}

function settingsOf(app: App): Settings {
  return app === true ? {} : app;
}

/** A test database with a pool like those of the apps. */
export interface PooledDatabase extends TestDatabase {
  database: Database;
}

/**
 * Creates a database for the tests of a file, without any app. It can be used in tests and hooks.
 *
 * @param options `direct`: the pool goes around the pooler, for what depends on the session. `bulk`: as in the worker.
 */
export function useDatabase({ direct = false, poolSize = 1, bulk = false } = {}): {
  db: PooledDatabase;
  database: Database;
} {
  let db: PooledDatabase | undefined;
  beforeAll(async () => {
    const created = await createTestDatabase();
    const url = direct ? created.directUrl : created.url;
    const database = openDatabase({ url, poolSize, prepared: direct || PREPARED, bulk });
    // A connection that is closed because it is idle would be replaced, and its statements planned anew.
    database.pool.options.idleTimeoutMillis = 0;
    closeAtEnd({ close: () => closeDatabase(database) });
    db = { ...created, database };
  });
  return { db: standIn('db', () => db), database: standIn('database', () => db?.database) };
}

/**
 * Stands for an object that is made before the tests of a file run, so that the file can take it apart at its top:
 * `const { stack, api } = useStack(…)`. It has the members of the object that `current` returns at the moment.
 *
 * @param target a function, if the object is one.
 * @throws {Error} where it is used before the object is made, such as at the top of a file.
 */
export function standIn<T extends object>(name: string, current: () => T | undefined, target: object = {}): T {
  const made = (): T => {
    const object = current();
    if (!object) throw new Error(`${name} is only there in tests and hooks.`);
    return object;
  };
  return new Proxy(target as T, {
    get: (_, member) => Reflect.get(made(), member),
    set: (_, member, value) => Reflect.set(made(), member, value),
    has: (_, member) => Reflect.has(made(), member),
    ownKeys: () => Reflect.ownKeys(made()),
    getOwnPropertyDescriptor: (_, member) => Reflect.getOwnPropertyDescriptor(made(), member),
    apply: (_, self, values) => Reflect.apply(made() as CallableFunction, self, values),
  });
}
