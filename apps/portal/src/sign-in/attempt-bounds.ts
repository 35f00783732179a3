import { takeSignInAttempt } from '@orders/database/users/sign-in-attempts.ts';
import type { Knex } from 'knex';
import { digestOf, networksOf } from './counter-keys.ts';

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
  db: Knex,
  bounds: Kind[],
  windowMs: number,
): Promise<{ bound: Kind; isFirst: boolean; msLeft: number } | null> {
  for (const bound of bounds) {
    const { attempts, msLeft } = await takeSignInAttempt(db, bound.key, windowMs);
    if (attempts > bound.max) return { bound, isFirst: attempts === bound.max + 1, msLeft };
  }
  return null;
}
