import { DEFAULT_MAX_BATCH_BYTES, DEFAULT_MAX_BODY_BYTES, parseRateLimit, type RateLimit } from '@orders/domain';
import type { Bounds } from '@orders/http';
import {
  ConfigurationError,
  type DatabaseEnvironment,
  databaseEnvironment,
  databaseReadUrl,
  drainDelay,
  duration,
  type ProcessEnvironment,
  processEnvironment,
  queueUrl,
  readEnvironment,
  type SecretsEnvironment,
  secretsEnvironment,
  type TracingEnvironment,
  tracingEnvironment,
  wholeNumber,
} from '@orders/runtime';
import Joi from 'joi';

/** What intake takes from the environment; times in milliseconds. */
export interface IntakeConfig
  extends ProcessEnvironment,
    DatabaseEnvironment,
    SecretsEnvironment,
    TracingEnvironment,
    Bounds {
  /** A standby that status look-ups go to first. */
  DATABASE_READ_URL?: string;
  QUEUE_URL: string;
  HOST: string;
  PORT: number;
  BASE_PATH: string;
  MAX_BODY_BYTES: number;
  MAX_BATCH_BYTES: number;
  MAX_IN_FLIGHT: number;
  /** Bytes of bodies in memory at once. */
  MAX_BYTES_IN_FLIGHT: number;
  /** Longer than a load balancer takes to notice that this is not ready any more. */
  DRAIN_DELAY: number;
  /** Of each account that has none of its own. */
  RATE_LIMIT?: RateLimit;
  /** How long the bell has before the sweeper rings instead. */
  SWEEP_AFTER: number;
}

/** Room for eight of the largest batches, of which one account gets four. */
const DEFAULT_MAX_BYTES_IN_FLIGHT = 67_108_864;

const rateLimit = Joi.string()
  .custom(parseRateLimit)
  .message('{{#label}} must be <requests>/<time in whole seconds>, such as 100/1s or 6000/1m');

/** @throws {ConfigurationError} with one line that says what to set. */
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
      MAX_BODY_BYTES: wholeNumber(DEFAULT_MAX_BODY_BYTES),
      MAX_BATCH_BYTES: wholeNumber(DEFAULT_MAX_BATCH_BYTES),
      MAX_IN_FLIGHT: wholeNumber(1000),
      MAX_BYTES_IN_FLIGHT: wholeNumber(DEFAULT_MAX_BYTES_IN_FLIGHT),
      MAX_CONNECTIONS: wholeNumber(10_000),
      REQUEST_TIMEOUT: duration('30s'),
      IDLE_TIMEOUT: duration('65s'),
      DRAIN_DELAY: drainDelay,
      RATE_LIMIT: rateLimit,
      SWEEP_AFTER: duration('10s'),
    },
    env,
  );
  // An account gets at most half of the budget.
  if (config.MAX_BYTES_IN_FLIGHT < 2 * Math.max(config.MAX_BATCH_BYTES, config.MAX_BODY_BYTES)) {
    throw new ConfigurationError(
      'Configuration: MAX_BYTES_IN_FLIGHT must be at least twice MAX_BATCH_BYTES and MAX_BODY_BYTES.',
    );
  }
  return config;
}
