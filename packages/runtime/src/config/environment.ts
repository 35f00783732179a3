import { readFileSync } from 'node:fs';
import Joi from 'joi';
import leven from 'leven';
import ms from 'ms';

/** The configuration is wrong or incomplete. The message is one printable line that says what to set. */
export class ConfigurationError extends Error {}

/**
 * Reads and validates the environment. Each setting can come from a file instead: `DATABASE_URL_FILE` is the path of a file that contains
 * `DATABASE_URL`. An empty variable counts as unset. Writes a warning to stderr for each variable that looks like a misspelled setting.
 *
 * @throws {ConfigurationError} that names every missing or wrong variable. It contains no values and paths, which may be secrets.
 */
export function readEnvironment<T extends object>(schema: Record<keyof T, Joi.Schema>, env: NodeJS.ProcessEnv): T {
  warnOfMisspellings(Object.keys(schema), env);
  const present = readValues(Object.keys(schema), env);
  const { error, value } = Joi.object(schema).validate(present, {
    abortEarly: false,
    errors: { wrap: { label: false } },
    context: present,
  });
  if (!error) return value as T;
  throw misconfigured(error.details.map((detail) => detail.message));
}

/** Shorter names, such as HOST and PORT, are similar by chance. */
const MIN_NAME_LENGTH = 6;
/** No two settings differ by so few characters. */
const MAX_MISSPELLED_CHARACTERS = 2;

function warnOfMisspellings(names: string[], env: NodeJS.ProcessEnv): void {
  const settings = names.flatMap((name) => [name, `${name}_FILE`]);
  const long = settings.filter(({ length }) => length >= MIN_NAME_LENGTH);
  for (const name of Object.keys(env)) {
    if (settings.includes(name)) continue;
    const meant = long.find((setting) => leven(setting, name.toUpperCase()) <= MAX_MISSPELLED_CHARACTERS);
    if (meant !== undefined)
      process.stderr.write(`Configuration: ${name} is not a setting of this process. Did you mean ${meant}?\n`);
  }
}

function misconfigured(reasons: string[]): ConfigurationError {
  return new ConfigurationError(`Configuration: ${[...new Set(reasons)].join('; ')}.`);
}

/** The value of each variable, or the content of its file without the trailing line break of editors and `echo`. */
function readValues(names: string[], env: NodeJS.ProcessEnv): Record<string, string> {
  const values: Record<string, string> = {};
  const reasons: string[] = [];
  for (const name of names) {
    const { [name]: own, [`${name}_FILE`]: path } = env;
    if (own) values[name] = own;
    if (!path) continue;
    const content = readOrNull(path)?.replace(/[\r\n]+$/, '');
    if (own) reasons.push(`${name} and ${name}_FILE are both set; set one of them`);
    else if (content === undefined) reasons.push(`${name}_FILE must be a file that can be read`);
    else if (content === '') reasons.push(`${name}_FILE is an empty file`);
    else values[name] = content;
  }
  if (reasons.length > 0) throw misconfigured(reasons);
  return values;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/**
 * A time span such as `30s`, `5m`, `24h` or `7d`; the value read is in milliseconds.
 *
 * @param longest the maximum; timers and integers of Postgres are limited to 24 days.
 */
export function duration(fallback: string, longest = '24d'): Joi.Schema {
  return optionalDuration(longest).default(parseDuration(fallback));
}

/** As `duration`, without a default. */
export function optionalDuration(longest: string): Joi.Schema {
  return Joi.string()
    .custom((text: string) => {
      const value = parseDuration(text);
      if (value > parseDuration(longest)) throw new Error('too long');
      return value;
    })
    .message(`{{#label}} must be a time span such as 30s, 5m, 24h or 7d, at most ${longest}`);
}

/**
 * Milliseconds of a time span such as `30s` or `7d`. The unit is required, as a bare `30` could mean seconds.
 *
 * @throws {Error} when the string is not a time span of at least one millisecond.
 */
export function parseDuration(text: string): number {
  const value = /^[\d.]+ *[a-z]+$/i.test(text) ? ms(text as ms.StringValue) : undefined;
  if (value === undefined || !(value >= 1)) throw new Error('not a time span');
  return value;
}

/** How long a server still serves requests after it reports that it drains, in milliseconds; default 0. */
export const drainDelay: Joi.Schema = Joi.string()
  .custom((text: string) => (text === '0' ? 0 : parseDuration(text)))
  .message('{{#label}} must be 0 or a time span such as 5s')
  .default(0);

/** An integer within bounds, with a default. */
export function wholeNumber(fallback: number, min = 1, max = Number.MAX_SAFE_INTEGER): Joi.Schema {
  return Joi.number().integer().min(min).max(max).default(fallback);
}

/** An http or https origin; a trailing slash is removed. */
export const webOrigin: Joi.StringSchema = Joi.string()
  .custom((text: string) => {
    const { protocol, origin, href } = new URL(text);
    if (!/^https?:$/.test(protocol) || href !== `${origin}/`) throw new Error('more than an origin');
    return origin;
  })
  .message('{{#label}} must be http or https, a host and at most a port, such as https://portal.example.com');

const HOST = /^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])(?::(?:\d{1,5}|\*))?$/i;

/** The value of `CALLBACK_ALLOW` under `npm start`, so that developers can receive events on their machine. */
export const LOOPBACK_HOSTS = ['127.0.0.1:*', 'localhost:*', '[::1]:*'];

/**
 * `CALLBACK_ALLOW`: hosts to which events may be delivered by http and at private addresses. Each has a port, or `*` for any; without, it is
 * 80 or 443. Default: none.
 */
export const callbackHosts: Joi.Schema = Joi.string()
  .custom((text: string) => {
    const hosts = text.split(',').map((host) => host.trim().toLowerCase());
    if (!hosts.every((host) => HOST.test(host))) throw new Error('not a list of hosts');
    return hosts;
  })
  .message('{{#label}} must be a list of hosts such as 10.1.2.3,hooks.internal:8443')
  .default([]);
