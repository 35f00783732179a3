import Joi from 'joi';
import { LOG_LEVELS } from '../observability/log-level.ts';
import { duration, wholeNumber } from './environment.ts';
import { parseRedisAddress, SEVERAL_NODES } from './redis-address.ts';

/** How long a partition of receipts and bodies is. */
export type PartitionWidth = 'day' | 'week' | 'month';

/** Which of several installations a database belongs to: ids of 8,999 ranges of 10^12 are below 2^53. */
export const installationNumber = Joi.number().integer().min(0).max(8999);

export const partitionWidth: Joi.Schema = Joi.valid('day', 'week', 'month').default('week');

/** Settings of the CLI's commands for senders. */
export interface SenderEnvironment {
  /** The service's base URL, with a path prefix if it has one and without a trailing slash. */
  ORDERS_URL: string;
  ORDERS_API_KEY: string;
  ORDERS_SIGNING_SECRET: string;
}

/**
 * The base URL of intake: an http or https address with the path prefix, if there is one. A trailing slash is removed.
 *
 * @throws {Error} for anything else.
 */
export function parseBaseUrl(text: string): string {
  const { protocol, username, password, search, hash, origin, pathname } = new URL(text);
  if (!/^https?:$/.test(protocol) || username || password || search || hash) throw new Error('more than an address');
  if (/\/ingest\/(orders|webhook|preview|reconcile|sources|status)(\/|$)/.test(pathname)) throw new Error('a route');
  return origin + pathname.replace(/\/+$/, '');
}

export const senderEnvironment: Record<keyof SenderEnvironment, Joi.Schema> = {
  ORDERS_URL: Joi.string()
    .custom(parseBaseUrl)
    .message(
      '{{#label}} must be an address such as https://orders.example.com, without a user, query, hash or route such as /ingest/orders',
    ),
  ORDERS_API_KEY: Joi.string()
    .pattern(/^[\x21-\x7e]+$/)
    .message('{{#label}} must be an API key of the account, without spaces'),
  ORDERS_SIGNING_SECRET: Joi.string(),
};

/** Settings of every process that logs and serves health checks. */
export interface ProcessEnvironment {
  NODE_ENV: string;
  LOG_LEVEL: string;
  LOG_FORMAT: 'json' | 'text';
  ADMIN_HOST: string;
  ADMIN_PORT: number;
  /** Lets callers outside the loopback interface change the log level. */
  ADMIN_TOKEN?: string;
  DRAIN_TIMEOUT: number;
  /** The commit that the image was built from; otherwise `unknown`. */
  REVISION: string;
}

/** A generated password or token. */
export const randomSecret: Joi.StringSchema = Joi.string()
  .pattern(/^[\x21-\x7e]{16,}$/)
  .message('{{#label}} must be at least 16 visible ASCII characters; make one with: openssl rand -hex 24');

export const processEnvironment: Record<keyof ProcessEnvironment, Joi.Schema> = {
  NODE_ENV: Joi.string().default('development'),
  LOG_LEVEL: Joi.string()
    .valid(...LOG_LEVELS)
    .default('info'),
  LOG_FORMAT: Joi.string()
    .valid('json', 'text')
    .default(process.stdout.isTTY ? 'text' : 'json'),
  ADMIN_HOST: Joi.string().default('127.0.0.1'),
  ADMIN_PORT: wholeNumber(0, 0, 65_535),
  ADMIN_TOKEN: randomSecret,
  DRAIN_TIMEOUT: duration('25s'),
  // Informational, so an invalid value must not prevent a start.
  REVISION: Joi.string()
    .pattern(/^[\w.-]{1,64}$/)
    .default('unknown')
    .failover('unknown'),
};

/**
 * A URL that the client can parse. For an invalid one, such as a port above 65,535, the client fails later with an error that quotes the
 * URL and its password. A Postgres URL for a Unix socket has no host.
 */
function address(...schemes: string[]): Joi.StringSchema {
  return Joi.string()
    .uri({ scheme: schemes })
    .custom((text: string, { prefs }) => {
      decodeURIComponent(new URL(text.replace(/@(?=[/?]|$)/, '@localhost')).href);
      return withPassword(text, prefs.context?.PGPASSWORD);
    })
    .message('{{#label}} must be an address with a valid host, port and percent-encoding');
}

/** Adds `PGPASSWORD` to a Postgres URL that has no password, as libpq does. */
function withPassword(address: string, password: string | undefined): string {
  const parts = /^(postgres(?:ql)?:\/\/)(?:([^/?#@:]*)(:[^/?#@]*)?@)?(.*)$/.exec(address);
  if (!parts || password === undefined) return address;
  const [, scheme, user = '', own, rest] = parts;
  return own === undefined ? `${scheme}${user}:${encodeURIComponent(password)}@${rest}` : address;
}

export interface DatabaseEnvironment {
  DATABASE_URL: string;
  PG_POOL_SIZE: number;
  PG_PREPARED: boolean;
  /** Milliseconds. */
  PG_QUERY_TIMEOUT: number;
}

/** `PGPASSWORD` is added to the URLs. */
export const databaseEnvironment: Record<keyof DatabaseEnvironment | 'PGPASSWORD', Joi.Schema> = {
  PGPASSWORD: Joi.string().strip(),
  DATABASE_URL: address('postgres', 'postgresql').required(),
  PG_POOL_SIZE: wholeNumber(10, 1, 1000),
  PG_PREPARED: Joi.boolean().truthy('on').falsy('off').default(true),
  PG_QUERY_TIMEOUT: duration('10s'),
};

/** A standby of that Postgres, for reads that tolerate replication lag. */
export const databaseReadUrl = address('postgres', 'postgresql');

const addressOfNodes = Joi.string()
  .custom((text: string) => {
    parseRedisAddress(text);
    return text;
  })
  .message(
    '{{#label}} must be redis-cluster://[user:password@]host:port,host:port or redis-sentinel://[user:password@]host:port,host:port/<primary> with valid hosts, ports and percent-encoding',
  );

/**
 * Redis (`redis://`, `rediss://`), Redis Cluster (`redis-cluster://`, `rediss-cluster://`), Redis Sentinel (`redis-sentinel://`,
 * `rediss-sentinel://`) or BullMQ's Postgres backend (`postgres://`).
 */
export const queueUrl = Joi.alternatives()
  .conditional(Joi.string().pattern(SEVERAL_NODES), {
    // biome-ignore lint/suspicious/noThenProperty: Joi's name.
    then: addressOfNodes,
    otherwise: address('redis', 'rediss', 'postgres', 'postgresql'),
  })
  .required();

/**
 * The key that encrypts signing secrets at rest: 32 bytes as base64 or hex.
 *
 * @throws {Error} when it is not 32 bytes.
 */
export function parseSecretsKey(text: string): Buffer {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (key.length !== 32) throw new Error('SECRETS_KEY must be 32 bytes as base64 or hex.');
  return key;
}

const secretsKey = Joi.string()
  .custom((text: string) => parseSecretsKey(text))
  .message('{{#label}} must be 32 bytes as base64 or hex; make one with: openssl rand -base64 32');

/** The key that encrypts signing secrets and, during a key rotation, the other one: first the new key, then the old one. */
export interface SecretsEnvironment {
  SECRETS_KEY: Buffer;
  SECRETS_KEY_PREVIOUS?: Buffer;
}

export const secretsEnvironment: Record<keyof SecretsEnvironment, Joi.StringSchema> = {
  SECRETS_KEY: secretsKey.required(),
  SECRETS_KEY_PREVIOUS: secretsKey,
};

/** The key that encrypts and, if set, the other one that also decrypts. */
export function secretsKeysOf({
  SECRETS_KEY,
  SECRETS_KEY_PREVIOUS,
}: SecretsEnvironment): Buffer | readonly [current: Buffer, previous: Buffer] {
  return SECRETS_KEY_PREVIOUS ? [SECRETS_KEY, SECRETS_KEY_PREVIOUS] : SECRETS_KEY;
}
