import { listAccountReceipts } from '@orders/database/receipts/list-receipts.ts';
import { findReceiptRecord, type ReceiptRecord } from '@orders/database/receipts/receipt-records.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { Problem } from '@orders/domain/problems.ts';
import { listedReceiptJson } from '@orders/domain/receipt-json.ts';
import { RECEIPT_STATES, type ReceiptState } from '@orders/domain/receipt-states.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { recordRead } from '../audit/record-read.ts';
import { accountIdOf, contextOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitConcurrencyPerAccount } from '../fair-limiter.ts';
import { plainText, queryOf, UUID, uuidOf } from '../read-request.ts';
import { DEAD_FILTER, type DeadQuery, deadFilterOf } from './dead-filter.ts';
import { listAccountDeadLetters } from './dead-letters.ts';
import { describeReceipt } from './describe-receipt.ts';
import { dryRunRedrive } from './dry-run-redrive.ts';
import { searchReceipts } from './search-receipts.ts';

interface ListQuery extends DeadQuery {
  state?: ReceiptState;
  before?: string;
  limit: number;
}

/** `/receipts`: list, search and details, and preview and redrive of a dead receipt. */
export function receiptRoutes(deps: PortalDeps): Router {
  const { database, runLong } = deps;
  const recordReceipts = recordRead(deps, 'receipts');
  const recordReceipt = recordRead(deps, 'receipt');
  const limitSearches = limitConcurrencyPerAccount(2);
  const router = Router();

  router.get('/receipts', recordReceipts, async (request, response) => {
    const { state, before, limit, ...dead } = queryOf<ListQuery>(request, {
      state: Joi.string().valid(...RECEIPT_STATES),
      before: Joi.string().pattern(UUID),
      limit: Joi.number().integer().min(1).max(100).default(50),
      ...DEAD_FILTER,
    });
    const accountId = accountIdOf(request);
    const page = await runLong(request, () =>
      state === 'dead'
        ? listAccountDeadLetters(database, accountId, { ...deadFilterOf(dead), before, limit })
        : listAccountReceipts(database, accountId, { state, before, limit }),
    );
    response.json({ receipts: page.receipts.map(listedReceiptJson), next: page.next });
  });

  router.get('/receipts/search', recordReceipts, async (request, response) => {
    const { q } = queryOf<{ q: string }>(request, { q: plainText(255).required() });
    const accountId = accountIdOf(request);
    const { receipts, ...covered } = await limitSearches(accountId, () =>
      runLong(request, () => searchReceipts(database, accountId, q)),
    );
    response.json({ receipts: receipts.map(listedReceiptJson), ...covered });
  });

  router.get('/receipts/:receiptId', recordReceipt, async (request, response) => {
    const described = await runLong(request, async () => describeReceipt(database, await receiptOf(request)));
    response.json(described);
  });

  router.post('/receipts/:receiptId/redrive-preview', recordReceipt, async (request, response) => {
    const { receipt_id } = await runLong(request, () => deadReceiptOf(request));
    response.json(await dryRunRedrive({ database, runLong }, request, [receipt_id], 1));
  });

  router.post('/receipts/:receiptId/redrive', async (request, response) => {
    const by = { accountId: accountIdOf(request), actor: personOf(request).email };
    const described = await runLong(request, async () => {
      const { receipt_id } = await deadReceiptOf(request);
      const redriven = await redriveReceipts(database, [receipt_id], by);
      if (redriven.length === 0) {
        const { state, error_code } = await receiptOf(request);
        throw new Problem(state === 'dead' && error_code === 'mapping_failed' ? 'no_order_id' : 'conflicting_state');
      }
      return describeReceipt(database, await receiptOf(request));
    });
    response.json(described);
  });

  async function receiptOf(request: Request): Promise<ReceiptRecord> {
    const id = uuidOf(request.params.receiptId);
    const receipt = id !== null ? await findReceiptRecord(database, id, accountIdOf(request)) : null;
    if (!receipt) throw new Problem('receipt_not_found');
    contextOf(request).receiptId = receipt.receipt_id;
    return receipt;
  }

  async function deadReceiptOf(request: Request): Promise<ReceiptRecord> {
    const receipt = await receiptOf(request);
    if (receipt.state !== 'dead') throw new Problem('conflicting_state');
    return receipt;
  }

  return router;
}
