import type { LoadResult } from '@orders/test-services/load/run-load.ts';
import { printProgress } from '../command-line.ts';
import { readStoredOrders } from '../measure/postgres.ts';
import { quantiles } from '../measure/statistics.ts';
import type { Figure } from '../report/tables.ts';
import type { Services } from '../services.ts';
import { withOurs } from '../start-contestant.ts';

const QUIET_PER_SECOND = 40;
const FLOOD_FACTOR = 50;
/** The extra time of each order of the flooding account in Postgres, so that the flood exceeds the workers' capacity. */
const SLOW_SECONDS = 0.003;

/**
 * Measures a steady account, alone and then during a flood of fifty times as many orders, more than the workers can write.
 *
 * @returns the figures, and the number of rejected orders of the steady account.
 */
export function measureFairness(services: Services, seconds: number): Promise<{ figures: Figure[]; refused: number }> {
  return withOurs(services, async ({ client, apiKeys, accountIds, offer }) => {
    const [quiet, flood] = [0, 1].map((index) => ({
      accountId: accountIds[index] as number,
      apiKeys: [apiKeys[index] as string],
    })) as [Sender, Sender];
    const send = (sender: Sender, perSecond: number, forSeconds: number, prefix: string) =>
      offer({ kind: 'open', perSecond }, forSeconds, prefix, { apiKeys: sender.apiKeys });

    /** The time from the 202 to the commit of each order. A pending order counts with its time so far. */
    const writtenAfter = async ({ accountId }: Sender, load: LoadResult, prefix: string): Promise<Float64Array> => {
      const now = Date.now();
      const { writtenAt } = await readStoredOrders(client, { accountIds: [accountId], prefix }, load.acceptedAt.length);
      return writtenAt.map((at, number) => (Number.isNaN(at) ? now : at) - (load.acceptedAt[number] as number));
    };

    await client.query(`
      create function be_slow() returns trigger language plpgsql as $$ begin perform pg_sleep(${SLOW_SECONDS}); return new; end $$;
      create trigger be_slow before insert on orders for each row when (new.account_id = ${flood.accountId}) execute function be_slow()`);
    printProgress('Warming up …');
    await send(quiet, QUIET_PER_SECOND, 3, 'warm');
    printProgress(`One account alone, ${QUIET_PER_SECOND} orders/s …`);
    const alone = await send(quiet, QUIET_PER_SECOND, seconds, 'alone');
    printProgress(`Beside another that sends ${FLOOD_FACTOR} times as much …`);
    const [beside, flooding] = await Promise.all([
      send(quiet, QUIET_PER_SECOND, seconds, 'beside'),
      send(flood, QUIET_PER_SECOND * FLOOD_FACTOR, seconds, 'flood'),
    ]);
    const aloneP99 = quantiles(await writtenAfter(quiet, alone, 'alone')).p99;
    const besideTimes = await writtenAfter(quiet, beside, 'beside');
    const besideTime = quantiles(besideTimes);
    const floodP99 = quantiles(await writtenAfter(flood, flooding, 'flood')).p99;
    const refused = besideTimes.filter(Number.isNaN).length;
    const name = `an account with ${QUIET_PER_SECOND} orders/s`;
    const flooded = `${name} beside one with ${QUIET_PER_SECOND * FLOOD_FACTOR}`;
    return {
      refused,
      figures: [
        { what: `${name}, alone: accepted to written, p99, ms`, value: aloneP99 },
        {
          what: `${flooded}, more than the worker can write: p99, ms`,
          value: besideTime.p99,
          enough: Math.round(Math.max(5 * aloneP99, 500)),
        },
        { what: `${flooded}: p50, ms`, value: besideTime.p50 },
        { what: `${flooded}: orders not accepted`, value: refused, enough: 0 },
        { what: 'the flooding account: p99, ms', value: floodP99 },
      ],
    };
  });
}

interface Sender {
  accountId: number;
  apiKeys: string[];
}
