import { isIP } from 'node:net';
import { isAddressRange } from '@orders/domain/address-ranges.ts';
import { callbackHosts, readEnvironment, wholeNumber } from '@orders/runtime/config/environment.ts';
import {
  type DatabaseEnvironment,
  databaseEnvironment,
  type ProcessEnvironment,
  processEnvironment,
  type SecretsEnvironment,
  secretsEnvironment,
} from '@orders/runtime/config/settings.ts';
import Joi from 'joi';

/** The notifier's settings from the environment; times in milliseconds. */
export interface NotifierConfig extends ProcessEnvironment, DatabaseEnvironment, SecretsEnvironment {
  /** Hosts that may use http and private addresses: `host`, `host:port` or `host:*`. */
  CALLBACK_ALLOW: string[];
  /** Addresses and ranges (CIDR) that are not called, although they are public. */
  CALLBACK_DENY: string[];
  /** The URL of a forward proxy. All hosts except those in `CALLBACK_ALLOW` are called through it. */
  CALLBACK_PROXY?: string;
  /** Addresses of DNS servers in place of the system's, for hosts that are called directly and are not in `CALLBACK_ALLOW`. */
  CALLBACK_DNS: string[];
  /** Max requests a second of this process to one host. */
  CALLBACK_RATE: number;
  /** Max endpoints that are served at the same time. */
  NOTIFIER_CONCURRENCY: number;
}

const proxy = Joi.string()
  .uri({ scheme: ['http', 'https'] })
  .custom((text: string) => {
    const { username, password } = new URL(text);
    decodeURIComponent(username + password);
    return text;
  })
  .message('{{#label}} must be the URL of a proxy such as http://proxy.internal:3128');

const ranges = Joi.string()
  .custom((text: string) => {
    const found = text.split(',').map((range) => range.trim());
    if (!found.every(isAddressRange)) throw new Error('not addresses');
    return found;
  })
  .message('{{#label}} must be a list of addresses and ranges such as 203.0.113.7,198.51.100.0/24')
  .default([]);

const dnsServers = Joi.string()
  .custom((text: string) => {
    const servers = text.split(',').map((server) => server.trim());
    if (!servers.every((server) => isIP(server.replace(/^\[(.*)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3'))))
      throw new Error('not addresses');
    return servers;
  })
  .message('{{#label}} must be a list of addresses such as 10.0.0.2,10.0.0.3:5353')
  .default([]);

/** @throws {ConfigurationError} with one line that says what to set. */
export function readConfig(env: NodeJS.ProcessEnv): NotifierConfig {
  return readEnvironment<NotifierConfig>(
    {
      ...processEnvironment,
      ...databaseEnvironment,
      ...secretsEnvironment,
      CALLBACK_ALLOW: callbackHosts,
      CALLBACK_DENY: ranges,
      CALLBACK_PROXY: proxy,
      CALLBACK_DNS: dnsServers,
      CALLBACK_RATE: wholeNumber(50, 1, 100_000),
      NOTIFIER_CONCURRENCY: wholeNumber(64, 2, 1000),
    },
    env,
  );
}
