import {
  type DatabaseEnvironment,
  databaseEnvironment,
  duration,
  type ProcessEnvironment,
  parseDuration,
  processEnvironment,
  queueUrl,
  readEnvironment,
  secretsKey,
  wholeNumber,
} from '@orders/runtime';
import Joi from 'joi';

/** So many requests in so many milliseconds, whole seconds, for each account. */
export interface RateLimit {
  requests: number;
  windowMs: number;
}

/** What intake takes from the environment; times in milliseconds. */
export interface IntakeConfig extends ProcessEnvironment, DatabaseEnvironment {
  QUEUE_URL: string;
  SECRETS_KEY: Buffer;
  HOST: string;
  PORT: number;
  BASE_PATH: string;
  MAX_BODY_BYTES: number;
  MAX_IN_FLIGHT: number;
  RATE_LIMIT?: RateLimit;
  /** How long the bell has before the sweeper rings instead. */
  SWEEP_AFTER: number;
}

const rateLimit = Joi.string()
  .custom((text: string): RateLimit => {
    const [, requests, window] = /^(\d+)\/(\w+)$/.exec(text) ?? [];
    const limit = { requests: Number(requests), windowMs: window ? parseDuration(window) : 0 };
    if (!(limit.requests > 0 && limit.windowMs > 0 && limit.windowMs % 1000 === 0)) throw new Error('no rate');
    return limit;
  })
  .message('{{#label}} must be <requests>/<time in whole seconds>, such as 100/1s or 6000/1m');

/** @throws {ConfigurationError} with one line that says what to set. */
export function readConfig(env: NodeJS.ProcessEnv): IntakeConfig {
  return readEnvironment<IntakeConfig>(
    {
      ...processEnvironment,
      ...databaseEnvironment,
      QUEUE_URL: queueUrl,
      SECRETS_KEY: secretsKey.required(),
      HOST: Joi.string().default('127.0.0.1'),
      PORT: wholeNumber(8080, 0, 65_535),
      BASE_PATH: Joi.string()
        .pattern(/^(\/[\w.~-]+)+$/)
        .message('{{#label}} must be a path such as /api')
        .default(''),
      MAX_BODY_BYTES: wholeNumber(262_144),
      MAX_IN_FLIGHT: wholeNumber(1000),
      RATE_LIMIT: rateLimit,
      SWEEP_AFTER: duration('10s'),
    },
    env,
  );
}
