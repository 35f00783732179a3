import { userInfo } from 'node:os';
import { isAddressRange, MAX_ADDRESS_RANGES } from '@orders/domain/address-ranges.ts';
import { KEY_SCOPES, type KeyScope } from '@orders/domain/api-key.ts';
import { parseEmailAddress } from '@orders/domain/email-address.ts';
import { isEndpointId, readEventTypes } from '@orders/domain/endpoints.ts';
import { EVENT_TYPES, type EventType } from '@orders/domain/events.ts';
import { type AccountRateLimit, parseAccountRateLimit } from '@orders/domain/rate-limit.ts';
import { parseDuration } from '@orders/runtime/config/environment.ts';
import { senderEnvironment } from '@orders/runtime/config/settings.ts';
import type { Argument, Option } from 'commander';
import { argument, option } from './command.ts';
import { UsageError } from './errors.ts';
import type { EventReference } from './events/read-log.ts';

export const MAX_INT4 = 2_147_483_647;
const MAX_NAME = 200;

// These parsers throw UsageError: commander's own error repeats the value, which might be a key in the wrong position.

export function keyId(text: string): number {
  return wholeNumber(text, 'A key id is a whole number, as orders keys list shows it.', MAX_INT4);
}

export function orderId(text: string): number {
  return wholeNumber(text, 'An order id is a whole number, as orders orders list shows it.');
}

/** A receipt id in lower case. */
export function receiptId(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new UsageError('A receipt id is a UUID, as orders receipts list shows it.');
  return text.toLowerCase();
}

/** An e-mail address, in lower case. */
export function email(text: string): string {
  const address = parseEmailAddress(text);
  if (address === null) throw new UsageError('An e-mail address is one such as name@example.com, in ASCII.');
  return address;
}

/** What to search a customer by: any string that is not empty. */
export function customerIdentity(option: string): (text: string) => string {
  return (text) => {
    if (text.trim() === '') throw new UsageError(`${option} must not be empty.`);
    return text;
  };
}

/** The id of an endpoint. */
export function endpointId(text: string): string {
  if (isEndpointId(text)) return text;
  throw new UsageError('An endpoint id is ep_ and 24 hex digits, as orders endpoints list shows it.');
}

/** The sequence of an event. */
export function sequence(option: string): (text: string) => number {
  return (text) => wholeNumber(text, `${option} takes the sequence of an event, a whole number from 1.`);
}

/** The base URL of an intake. */
export function intakeUrl(text: string): string {
  const { value, error } = senderEnvironment.ORDERS_URL.validate(text);
  if (error) throw new UsageError('--to takes an address such as https://orders.example.com, without a route.');
  return value;
}

/** An event by its id or its sequence; null if the text is neither. */
export function parseEventReference(text: string): EventReference | null {
  if (/^evt_[0-9a-f]{32}$/.test(text)) return { id: text };
  return /^\d{1,15}$/.test(text) ? { sequence: Number(text) } : null;
}

/** The types of `--types`. */
export function eventTypes(text: string): EventType[] {
  const read = readEventTypes(text.split(',').map((type) => type.trim()));
  if ('types' in read) return read.types;
  throw new UsageError(`--types takes ${EVENT_TYPES.join(', ')}, with commas between them.`);
}

/** Where to continue in a feed of events. */
export function cursor(text: string): string {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError('--after takes the sequence of an event.');
  return text;
}

/** A position in the chain of the audit trail, from 1 or 0. */
export function chainPosition(option: string, min: 0 | 1 = 1): (text: string) => number {
  return (text) => (min === 0 && text === '0' ? 0 : wholeNumber(text, `${option} takes a whole number from ${min}.`));
}

/** A position and its hash, as `orders audit verify` prints them. */
export function chainEnd(text: string): { position: number; hash: string } {
  const [, position, hash = ''] = /^([1-9]\d{0,14}):([\da-f]{64})$/i.exec(text) ?? [];
  if (!position) throw new UsageError('--expect takes <position>:<hash>, as orders audit verify prints them.');
  return { position: Number(position), hash: hash.toLowerCase() };
}

/** A number of rows. */
export function limit(text: string): number {
  return wholeNumber(text, '--limit takes a whole number from 1.');
}

/** A whole number from 1. */
export function numberUpTo(option: string, max: number): (text: string) => number {
  return (text) => wholeNumber(text, `${option} takes a whole number from 1 to ${max}.`, max);
}

/** The milliseconds of a time span such as `24h`, or `0`. */
export function span(option: string, longest = '365d'): (text: string) => number {
  return (text) => {
    try {
      const milliseconds = text === '0' ? 0 : parseDuration(text);
      if (milliseconds <= parseDuration(longest)) return milliseconds;
    } catch {}
    throw new UsageError(`${option} takes a time span such as 30m, 24h or 7d, at most ${longest}.`);
  };
}

/** The lifetime of a key in seconds; 0 for `never`, as commander takes null for a missing value. */
export function keyLifetime(text: string): number {
  if (text === 'never') return 0;
  const seconds = Math.floor(span('--expires')(text) / 1000);
  if (seconds < 1) throw new UsageError('--expires takes a time span such as 90d, at most 365d, or never.');
  return seconds;
}

/** The scopes of a key, in the usual order. */
export function keyScopes(text: string): KeyScope[] {
  const chosen = text.split(',').map((scope) => scope.trim());
  if (!chosen.every((scope) => (KEY_SCOPES as readonly string[]).includes(scope)))
    throw new UsageError(`--scopes takes a list of ${KEY_SCOPES.join(', ')}, such as send,read.`);
  return KEY_SCOPES.filter((scope) => chosen.includes(scope));
}

/** Addresses and ranges of a key; empty for `any`. */
export function keyAddresses(text: string): string[] {
  if (text === 'any') return [];
  const ranges = [...new Set(text.split(',').map((range) => range.trim()))];
  if (ranges.length > MAX_ADDRESS_RANGES || !ranges.every(isAddressRange))
    throw new UsageError(
      `--addresses takes up to ${MAX_ADDRESS_RANGES} addresses and ranges, such as 203.0.113.7,2001:db8::/32, or any.`,
    );
  return ranges;
}

/** An account's rate limit: `100/1s`, `none`, or `default`, which is null. */
export function rateLimit(text: string): AccountRateLimit {
  try {
    return parseAccountRateLimit(text);
  } catch {
    throw new UsageError(
      'A limit is <requests>/<time in whole seconds>, at most 24d, such as 100/1s or 6000/1m; or none; or default.',
    );
  }
}

/** A name of one line. */
export function name(what: string): (text: string) => string {
  return (text) => {
    const trimmed = text.trim();
    if (trimmed === '' || [...trimmed].length > MAX_NAME || /\p{Cc}|\p{Cs}/u.test(trimmed))
      throw new UsageError(`${what} is 1 to ${MAX_NAME} characters, without control characters.`);
    return trimmed;
  };
}

/** An account, for `requireAccount`. */
export const ACCOUNT: Argument = argument('<account>', 'id or exact name');

/** `--account`, for commands that show what several accounts have. */
export const OF_ACCOUNT: Option = option('--account <account>', 'of this account (id or exact name)');

/** The actor for the audit trail: the user of the operating system. */
export function whoami(): string {
  try {
    return `operator:${userInfo().username}`;
  } catch {
    // A container may run as a user id without a name.
    return `operator:${process.getuid?.() ?? 'unknown'}`;
  }
}

/** `--by`: the actor for the audit trail. */
export const by = (description: string): Option =>
  option('--by <name>', description, name('A name'), whoami(), 'the OS user');

/** `--overlap`, in milliseconds: how long a secret that is replaced still counts. */
export const overlap = (description: string): Option =>
  option('--overlap <time>', description, span('--overlap'), 86_400_000, '24h');

/** `--give-up-after` of commands that send, in milliseconds. */
export const GIVE_UP_AFTER: Option = option(
  '--give-up-after <time>',
  'how long to retry without any success',
  span('--give-up-after'),
  600_000,
  '10m',
);

function wholeNumber(text: string, message: string, max = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw new UsageError(message);
  return value;
}
