import { SAFE_COST } from '@orders/database/users/passwords.ts';
import type { Bounds } from '@orders/http/create-bounded-server.ts';
import { trustedProxies } from '@orders/http/trusted-proxies.ts';
import {
  callbackHosts,
  drainDelay,
  duration,
  readEnvironment,
  webOrigin,
  wholeNumber,
} from '@orders/runtime/config/environment.ts';
import {
  type DatabaseEnvironment,
  databaseEnvironment,
  type ProcessEnvironment,
  processEnvironment,
  queueUrl,
  type SecretsEnvironment,
  secretsEnvironment,
} from '@orders/runtime/config/settings.ts';
import Joi from 'joi';
import { type MailEnvironment, mailEnvironment } from './mail/smtp-settings.ts';
import { type OidcEnvironment, oidcEnvironment } from './sign-in/oidc/settings.ts';

/** The portal's environment variables; times in milliseconds. */
export interface PortalConfig
  extends ProcessEnvironment,
    DatabaseEnvironment,
    SecretsEnvironment,
    MailEnvironment,
    OidcEnvironment,
    Bounds {
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
  /** Whether operators need a second factor. */
  OPERATOR_SECOND_FACTOR: 'required' | 'optional';
  /** log2 of scrypt's N. */
  PASSWORD_HASH_COST: number;
  /** Hosts, with or without port, to which events may be delivered by http and at private addresses. */
  CALLBACK_ALLOW: string[];
}

const webAddress = Joi.string()
  .uri({ scheme: ['http', 'https'] })
  .custom((text: string) => text.replace(/\/+$/, ''));

/** An origin that only this machine reaches. */
export const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Without https, cookies and passwords could be read on the way. */
const portalUrl = webOrigin
  .required()
  .custom((origin: string) => {
    if (!origin.startsWith('https:') && !LOOPBACK.test(origin)) throw new Error('not https');
    return origin;
  })
  .message('{{#label}} must be https, or a loopback address such as http://localhost:8081');

/** Operators see all accounts, so only a portal that nobody else reaches can do without. */
const operatorSecondFactor = Joi.string()
  .default('required')
  .when('PORTAL_URL', {
    is: Joi.string().pattern(LOOPBACK).required(),
    // biome-ignore lint/suspicious/noThenProperty: Joi's name.
    then: Joi.valid('required', 'optional'),
    otherwise: Joi.valid('required').messages({
      'any.only': '{{#label}} can be optional only if PORTAL_URL is a loopback address, such as http://localhost:8081',
    }),
  });

/** A lower cost makes guessing passwords from a copy of the database cheaper. */
const passwordHashCost = Joi.number()
  .integer()
  .min(10)
  .max(20)
  .default(SAFE_COST)
  .when('PORTAL_URL', {
    not: Joi.string().pattern(LOOPBACK).required(),
    // biome-ignore lint/suspicious/noThenProperty: Joi's name.
    then: Joi.number()
      .min(SAFE_COST)
      .messages({
        'number.min': `{{#label}} can be below ${SAFE_COST} only if PORTAL_URL is a loopback address, such as http://localhost:8081`,
      }),
  });

/** @throws {ConfigurationError} with one line that says what to set. */
export function readConfig(env: NodeJS.ProcessEnv): PortalConfig {
  return readEnvironment<PortalConfig>(
    {
      ...processEnvironment,
      ...databaseEnvironment,
      QUEUE_URL: queueUrl,
      ...secretsEnvironment,
      ...mailEnvironment,
      HOST: Joi.string().default('127.0.0.1'),
      PORT: wholeNumber(8081, 0, 65_535),
      // An origin without a path: cookies, assets and links are those of the whole host.
      PORTAL_URL: portalUrl,
      INTAKE_URL: webAddress.required(),
      TRUST_PROXY: trustedProxies,
      SESSION_LIFETIME: duration('12h'),
      OPERATOR_SECOND_FACTOR: operatorSecondFactor,
      PASSWORD_HASH_COST: passwordHashCost,
      CALLBACK_ALLOW: callbackHosts,
      ...oidcEnvironment,
      MAX_CONNECTIONS: wholeNumber(1000),
      REQUEST_TIMEOUT: duration('30s'),
      IDLE_TIMEOUT: duration('65s'),
      DRAIN_DELAY: drainDelay,
    },
    env,
  );
}
