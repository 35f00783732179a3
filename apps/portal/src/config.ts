import type { Bounds } from '@orders/http';
import {
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

/** What the portal takes from the environment; times in milliseconds. */
export interface PortalConfig extends ProcessEnvironment, DatabaseEnvironment, SecretsEnvironment, Bounds {
  QUEUE_URL: string;
  HOST: string;
  PORT: number;
  /** Where browsers find the portal; changes are taken from pages of this origin only. */
  PORTAL_URL: string;
  /** Where order sources find intake, with its base path; the snippets show it. */
  INTAKE_URL: string;
  /** Whose `X-Forwarded-For` is believed, as Express' `trust proxy` takes it. */
  TRUST_PROXY: string;
  /** Longer than a load balancer takes to notice that this is not ready any more. */
  DRAIN_DELAY: number;
  /** How long a session lasts after it was last used. */
  SESSION_LIFETIME: number;
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
      // Of a whole host, as the cookies, the page's files and its addresses are.
      PORTAL_URL: webOrigin.required(),
      INTAKE_URL: webAddress.required(),
      TRUST_PROXY: Joi.string().default('loopback'),
      SESSION_LIFETIME: duration('12h'),
      MAX_CONNECTIONS: wholeNumber(1000),
      REQUEST_TIMEOUT: duration('30s'),
      IDLE_TIMEOUT: duration('65s'),
      DRAIN_DELAY: drainDelay,
    },
    env,
  );
}
