import {
  findDeliveries,
  findDelivery,
  findNewestUnmapped,
  type StoredDelivery,
} from '@orders/database/sources/activity.ts';
import { setMapping } from '@orders/database/sources/change-sources.ts';
import { listMappings } from '@orders/database/sources/sources.ts';
import { Problem } from '@orders/domain/problems.ts';
import { payloadJson } from '@orders/domain/receipt-json.ts';
import { readLife } from '@orders/domain/sources/platform-states.ts';
import { readMapping } from '@orders/domain/sources/read-mapping.ts';
import { createTimeSlicer } from '@orders/runtime/concurrency/fair-sharing.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordRead } from '../audit/record-read.ts';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitConcurrencyPerAccount, transactFairly } from '../fair-limiter.ts';
import { bodyOf, limitPageBytes, smallId, uuidOf } from '../read-request.ts';
import { previewMapping } from './preview-mapping.ts';
import { recordSource, sourceJson, sourceOf } from './source-json.ts';

const MAX_DELIVERIES = 10;
/** Max characters of a delivery that can be previewed, and max bytes of one that is shown. The worst JSON of this length takes 20 ms to parse. */
const MAX_DELIVERY = 131_072;
const MAX_CONCURRENT_PREVIEWS = 3;

/** Mappings of sources: changes, versions, the last deliveries, and what a mapping makes of a delivery or of each status of the platform. */
export function mappingRoutes(deps: PortalDeps): Router {
  const { database, config, runLong, runShort } = deps;
  const transact = transactFairly(deps);
  const slicer = createTimeSlicer();
  const limitPreviews = limitConcurrencyPerAccount(MAX_CONCURRENT_PREVIEWS);
  const mappingOf = (mapping: unknown) => readMapping(mapping, '/mapping');
  const router = Router();

  router.post('/sources/preview', async (request, response) => {
    const accountId = accountIdOf(request);
    await limitPreviews(accountId, async () => {
      // One preview per iteration of the event loop, and accounts take turns.
      await slicer.next(accountId);
      const body = bodyOf<{ mapping: unknown; delivery: string }>(request, {
        mapping: Joi.object().required(),
        delivery: Joi.string().max(MAX_DELIVERY).required(),
      });
      response.json(previewMapping(mappingOf(body.mapping), body.delivery));
    });
  });

  router.put('/sources/:number/mapping', async (request, response) => {
    const { source_number, account_id } = await runShort(request, () => sourceOf(database, request));
    const body = bodyOf<{ mapping: unknown; version: number }>(request, {
      mapping: Joi.object().required(),
      version: smallId.required(),
    });
    const change = { mapping: mappingOf(body.mapping), expected: body.version, by: personOf(request).email };
    const source = await transact(request, async (transaction) => {
      const key = { accountId: account_id, sourceNumber: source_number };
      const changed = await setMapping(transaction, { ...key, ...change });
      if (!changed) throw new Problem('source_not_found');
      await recordSource(transaction, request, 'source_mapping_changed', changed, { version: changed.mapping_version });
      return changed;
    });
    response.json(sourceJson(source, config.INTAKE_URL));
  });

  router.get('/sources/:number/mappings', async (request, response) => {
    const mappings = await runLong(request, async () => {
      const { account_id, source_number } = await sourceOf(database, request);
      return listMappings(database, account_id, source_number);
    });
    response.json({ mappings: limitPageBytes(mappings) });
  });

  router.get('/sources/:number/life', async (request, response) => {
    const source = await runShort(request, () => sourceOf(database, request));
    response.json({ life: readLife(source.preset, source) });
  });

  router.get('/sources/:number/deliveries', recordRead(deps, 'receipt'), async (request, response) => {
    const [deliveries, newest_failed] = await runLong(request, async () => {
      const { account_id, source_number } = await sourceOf(database, request);
      return [
        await findDeliveries(database, account_id, source_number, MAX_DELIVERIES),
        await findNewestUnmapped(database, account_id, source_number),
      ];
    });
    response.json({ deliveries: limitPageBytes(deliveries.map(deliveryJson)), newest_failed });
  });

  router.get('/sources/:number/deliveries/:receiptId', recordRead(deps, 'receipt'), async (request, response) => {
    const delivery = await runLong(request, async () => {
      const { account_id, source_number } = await sourceOf(database, request);
      const id = uuidOf(request.params.receiptId);
      return id && findDelivery(database, account_id, source_number, id);
    });
    if (!delivery) throw new Problem('receipt_not_found');
    response.json(deliveryJson(delivery));
  });

  return router;
}

/** `raw` is null for a long delivery, and for one that is not UTF-8. */
function deliveryJson({ raw, ...delivery }: StoredDelivery) {
  const text = raw.length <= MAX_DELIVERY ? (payloadJson(raw) as { payload?: string | null }).payload : null;
  return { ...delivery, raw: text ?? null };
}
