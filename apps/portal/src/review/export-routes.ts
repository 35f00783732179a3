import { hasOrders, readExported } from './read-exported.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { accountIdOf, contextOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitConcurrencyPerAccount } from '../limit-concurrency-per-account.ts';
import { bodyOf } from '../read-request.ts';
import { CSV } from './export-csv.ts';
import { type ExportFormat, encodeExport, JSON_FORMAT } from './export-formats.ts';
import { orderIds } from './read-filter.ts';

const FORMATS = { csv: CSV, json: JSON_FORMAT } satisfies Record<string, ExportFormat>;

/** `POST /orders/export`: orders as a file for spreadsheets, or as JSON for the print view. */
export function exportRoutes({ knex, runFairly }: PortalDeps): Router {
  // An export takes longer than other reads; half of their slots are left for these.
  const limitExports = limitConcurrencyPerAccount(2);
  const router = Router();

  router.post('/orders/export', async (request, response) => {
    const { order_ids, format } = bodyOf<{ order_ids: number[]; format: keyof typeof FORMATS }>(request, {
      order_ids: orderIds,
      format: Joi.valid(...Object.keys(FORMATS)).required(),
    });
    const accountId = accountIdOf(request);
    const ids = [...new Set(order_ids)];
    const file = await limitExports(accountId, () =>
      runFairly(request, async () => {
        if (!(await hasOrders(knex, accountId, ids))) throw new Problem('order_not_found');
        const orders = readExported(knex, accountId, ids);
        const encoded = await encodeExport(FORMATS[format], orders, contextOf(request).closed);
        // Before the file is sent, so that none goes out unrecorded.
        await recordBy(knex, request, {
          accountId,
          action: 'orders_exported',
          subject: `account:${accountId}`,
          details: { count: ids.length, format },
        });
        return encoded;
      }),
    );
    response.set(FORMATS[format].headers).send(file);
  });

  return router;
}
