import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Connection } from '@orders/database/run.ts';
import { takeSignInAttempt } from '@orders/database/users/sign-in-attempts.ts';
import { Problem } from '@orders/domain/problems.ts';

/** Max attempts that are counted under a key. */
export interface Bound {
  key: string;
  max: number;
}

/** Max attempts from a network of each width, which grow slower than the number of the networks in it. */
export type MaxByWidth = Record<keyof ReturnType<typeof networksOf>, number>;

/**
 * The bounds of the networks around an address.
 *
 * @param counted what is counted; part of the keys.
 * @returns from narrow to wide: an attempt that a narrow one rejects does not count for the neighbours.
 */
export function boundsAround(
  address: string,
  max: MaxByWidth,
  ...counted: string[]
): (Bound & { width: keyof MaxByWidth })[] {
  const networks = networksOf(address);
  return (['narrow', 'wide', 'widest'] as const).flatMap((width) => {
    const network = networks[width];
    if (network === undefined) return [];
    const parts = width === 'narrow' ? [network] : [network, width];
    return [{ width, key: digestOf(...counted, ...parts), max: max[width] }];
  });
}

/**
 * Counts an attempt. Later bounds do not count an attempt that an earlier one rejects.
 *
 * @param windowMs from the first attempt on, in milliseconds.
 * @returns the bound that is exceeded, if any, and the milliseconds until its window ends.
 */
export async function takeWithin<Kind extends Bound>(
  connection: Connection,
  bounds: Kind[],
  windowMs: number,
): Promise<{ bound: Kind; isFirst: boolean; msLeft: number } | null> {
  for (const bound of bounds) {
    const { attempts, msLeft } = await takeSignInAttempt(connection, bound.key, windowMs);
    if (attempts > bound.max) return { bound, isFirst: attempts === bound.max + 1, msLeft };
  }
  return null;
}

/**
 * The problem of an exceeded bound.
 *
 * @param msLeft until the window of the bound ends, in milliseconds.
 */
export function tooManyAttempts(msLeft: number, detail?: string): Problem {
  const seconds = Math.max(Math.ceil(msLeft / 1000), 1);
  return new Problem('too_many_attempts', {
    headers: { 'Retry-After': String(seconds) },
    ...(detail !== undefined && { detail }),
  });
}

/** The networks around an address. An IPv4 address has no `wide` one. */
interface Networks {
  /** An IPv4 address, or the /64 of an IPv6 address, the least that a provider assigns to one customer. */
  narrow: string;
  /** The /56 of an IPv6 address, which many providers assign to a home. */
  wide?: string;
  /** The /24 of an IPv4 address, or the /48 of an IPv6 address, which a company or a rented server may have. */
  widest: string;
}

export function networksOf(address: string): Networks {
  const unmapped = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(unmapped)) return { narrow: unmapped, widest: unmapped.replace(/\.\d+$/, '') };
  const groups = firstGroups(unmapped);
  const [first, second, third, fourth = 0] = groups;
  const widest = [first, second, third].join(':');
  return { narrow: groups.join(':'), wide: `${widest}:${fourth >> 8}`, widest };
}

/** The first four of the eight groups of an IPv6 address. */
function firstGroups(address: string): number[] {
  const [head = [], tail = []] = address.split('::').map((text) => text.split(':').filter(Boolean));
  const missing = Array(Math.max(0, 8 - head.length - tail.length)).fill('0');
  return [...head, ...missing, ...tail].slice(0, 4).map((group) => Number.parseInt(group, 16));
}

/** A key of counters; a digest because addresses are personal data and may be longer than the table's key. */
export function digestOf(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url');
}
