import { DEFAULT_MAX_BATCH_BYTES, DEFAULT_MAX_BODY_BYTES } from '@orders/domain/interface-limits.ts';
import { parseRateLimit, type RateLimit } from '@orders/domain/rate-limit.ts';
import type { Bounds } from '@orders/http/create-bounded-server.ts';
import { trustedProxies } from '@orders/http/trusted-proxies.ts';
import {
  ConfigurationError,
  drainDelay,
  duration,
  readEnvironment,
  wholeNumber,
} from '@orders/runtime/config/environment.ts';
import {
  type DatabaseEnvironment,
  databaseEnvironment,
  databaseReadUrl,
  installationNumber,
  type ProcessEnvironment,
  parseBaseUrl,
  processEnvironment,
  queueUrl,
  type SecretsEnvironment,
  secretsEnvironment,
} from '@orders/runtime/config/settings.ts';
import { type TracingEnvironment, tracingEnvironment } from '@orders/runtime/config/tracing-environment.ts';
import Joi from 'joi';

/** Intake's environment variables; times in milliseconds. */
export interface IntakeConfig
  extends ProcessEnvironment,
    DatabaseEnvironment,
    SecretsEnvironment,
    TracingEnvironment,
    Bounds {
  /** A standby that is asked first for a status. */
  DATABASE_READ_URL?: string;
  QUEUE_URL: string;
  HOST: string;
  PORT: number;
  BASE_PATH: string;
  /** Proxies whose `X-Forwarded-For` is trusted, in the form of Express' `trust proxy`. */
  TRUST_PROXY: string;
  MAX_BODY_BYTES: number;
  MAX_BATCH_BYTES: number;
  MAX_IN_FLIGHT: number;
  /** Max bytes of bodies in memory. */
  MAX_BYTES_IN_FLIGHT: number;
  /** Must exceed the time that a load balancer takes to notice that this process is not ready. */
  DRAIN_DELAY: number;
  /** Default for accounts without a limit of their own. */
  RATE_LIMIT?: RateLimit;
  /** How long a request waits for the counters on Redis before this process counts alone. */
  RATE_LIMIT_TIMEOUT: number;
  /** The base URLs of intake by the number of the installation, for requests that are at the wrong one. */
  INSTALLATIONS: ReadonlyMap<number, string>;
  /** Age at which the sweeper takes a receipt whose wake-up was lost. */
  SWEEP_AFTER: number;
}

/** Fits eight batches of the default max size; one account gets at most four. */
const DEFAULT_MAX_BYTES_IN_FLIGHT = 67_108_864;

const rateLimit = Joi.string()
  .custom(parseRateLimit)
  .message('{{#label}} must be <requests>/<time in whole seconds>, such as 100/1s or 6000/1m');

const installations = Joi.string()
  .custom(parseInstallations)
  .message(
    '{{#label}} must be numbers from 0 to 8999 with addresses of intake, such as 0=https://orders.example.com,1=https://orders-1.example.com',
  )
  .default(() => new Map());

/** @throws {Error} for anything else than `<number>=<base URL>`, separated by commas, with each number once. */
function parseInstallations(text: string): ReadonlyMap<number, string> {
  const addresses = new Map<number, string>();
  for (const entry of text.split(',')) {
    const [, digits = '', address = ''] = /^\s*(\d+)=(\S+)\s*$/.exec(entry) ?? [];
    const number: number = Joi.attempt(digits, installationNumber.required());
    if (addresses.has(number)) throw new Error('a number twice');
    addresses.set(number, parseBaseUrl(address));
  }
  return addresses;
}

/** @throws {ConfigurationError} with one line that says which variable to set. */
export function readConfig(env: NodeJS.ProcessEnv): IntakeConfig {
  const config = readEnvironment<IntakeConfig>(
    {
      ...processEnvironment,
      ...databaseEnvironment,
      DATABASE_READ_URL: databaseReadUrl,
      ...tracingEnvironment,
      QUEUE_URL: queueUrl,
      ...secretsEnvironment,
      HOST: Joi.string().default('127.0.0.1'),
      PORT: wholeNumber(8080, 0, 65_535),
      BASE_PATH: Joi.string()
        .pattern(/^(\/[\w.~-]+)+$/)
        .message('{{#label}} must be a path such as /api')
        .default(''),
      TRUST_PROXY: trustedProxies,
      MAX_BODY_BYTES: wholeNumber(DEFAULT_MAX_BODY_BYTES),
      MAX_BATCH_BYTES: wholeNumber(DEFAULT_MAX_BATCH_BYTES),
      MAX_IN_FLIGHT: wholeNumber(1000),
      MAX_BYTES_IN_FLIGHT: wholeNumber(DEFAULT_MAX_BYTES_IN_FLIGHT),
      MAX_CONNECTIONS: wholeNumber(10_000),
      REQUEST_TIMEOUT: duration('30s'),
      IDLE_TIMEOUT: duration('65s'),
      DRAIN_DELAY: drainDelay,
      RATE_LIMIT: rateLimit,
      RATE_LIMIT_TIMEOUT: duration('200ms'),
      INSTALLATIONS: installations,
      SWEEP_AFTER: duration('10s'),
    },
    env,
  );
  // One account gets at most half of the budget, and must be able to send the largest body.
  if (config.MAX_BYTES_IN_FLIGHT < 2 * Math.max(config.MAX_BATCH_BYTES, config.MAX_BODY_BYTES)) {
    throw new ConfigurationError(
      'Configuration: MAX_BYTES_IN_FLIGHT must be at least twice MAX_BATCH_BYTES and MAX_BODY_BYTES.',
    );
  }
  return config;
}
