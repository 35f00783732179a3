import { createFairQueue } from '@orders/runtime';
import type { Request } from 'express';
import type { Knex } from 'knex';
import { contextOf } from './context.ts';
import { OPERATORS, type PortalDeps } from './deps.ts';

/** Runs a piece of work of a request when it is the turn of the account that it is about, or of the operators. */
export type FairLimiter = <Result>(request: Request, work: () => Promise<Result>) => Promise<Result>;

/**
 * Limits how many pieces of work run at once, and gives each account its turn. A request whose client disconnects while it waits is
 * dropped at once, so that no more wait than there are connections.
 *
 * @throws {Disconnected} in the place of such work.
 */
export function createFairLimiter(maxConcurrent: number): FairLimiter {
  const queue = createFairQueue<number>(maxConcurrent);
  return (request, work) => {
    const { accountId, person, closed } = contextOf(request);
    return queue(accountId ?? person?.accountId ?? OPERATORS, work, closed);
  };
}

/** Runs a transaction as such a piece of work. */
export function transactFairly({ knex, runShortFairly }: Pick<PortalDeps, 'knex' | 'runShortFairly'>) {
  return <Result>(request: Request, work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result> =>
    runShortFairly(request, () => knex.transaction(work));
}

/** Nobody is left to answer. */
export class Disconnected extends Error {
  override readonly name = 'Disconnected';
}
