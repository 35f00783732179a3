import type { Bounds } from '@orders/http';
import {
  callbackHosts,
  type DatabaseEnvironment,
  databaseEnvironment,
  drainDelay,
  duration,
  type ProcessEnvironment,
  processEnvironment,
  queueUrl,
  readEnvironment,
  type SecretsEnvironment,
  secretsEnvironment,
  webOrigin,
  wholeNumber,
} from '@orders/runtime';
import Joi from 'joi';

/** The portal's environment variables; times in milliseconds. */
export interface PortalConfig extends ProcessEnvironment, DatabaseEnvironment, SecretsEnvironment, Bounds {
  QUEUE_URL: string;
  HOST: string;
  PORT: number;
  /** The portal's public origin. Changing requests from other origins are rejected. */
  PORTAL_URL: string;
  /** Intake's public URL with its base path, shown in the code snippets. */
  INTAKE_URL: string;
  /** Proxies whose `X-Forwarded-For` is trusted, in the form of Express' `trust proxy`. */
  TRUST_PROXY: string;
  /** Must be longer than a load balancer takes to notice that this process is no longer ready. */
  DRAIN_DELAY: number;
  /** Idle time after which a session ends. */
  SESSION_LIFETIME: number;
  /** Hosts, with or without port, to which events may be delivered by http and at private addresses. */
  CALLBACK_ALLOW: string[];
}

const webAddress = Joi.string()
  .uri({ scheme: ['http', 'https'] })
  .custom((text: string) => text.replace(/\/+$/, ''));

/** @throws {ConfigurationError} with one line that says what to set. */
export function readConfig(env: NodeJS.ProcessEnv): PortalConfig {
  return readEnvironment<PortalConfig>(
    {
      ...processEnvironment,
      ...databaseEnvironment,
      QUEUE_URL: queueUrl,
      ...secretsEnvironment,
      HOST: Joi.string().default('127.0.0.1'),
      PORT: wholeNumber(8081, 0, 65_535),
      // An origin without a path: cookies, assets and links are those of the whole host.
      PORTAL_URL: webOrigin.required(),
      INTAKE_URL: webAddress.required(),
      TRUST_PROXY: Joi.string().default('loopback'),
      SESSION_LIFETIME: duration('12h'),
      CALLBACK_ALLOW: callbackHosts,
      MAX_CONNECTIONS: wholeNumber(1000),
      REQUEST_TIMEOUT: duration('30s'),
      IDLE_TIMEOUT: duration('65s'),
      DRAIN_DELAY: drainDelay,
    },
    env,
  );
}
