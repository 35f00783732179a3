import {
  createEndpoint,
  enableEndpoint,
  listAttempts,
  listEndpoints,
  pauseEndpoint,
  removeEndpoint,
  requestTest,
  resendEvents,
  rotateEndpointSecret,
} from '@orders/database/endpoints/endpoints.ts';
import { readEndpointUrl } from '@orders/domain/endpoints.ts';
import { EVENT_TYPES, type EventType, eventId } from '@orders/domain/events.ts';
import { Problem } from '@orders/domain/problems.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { Router } from 'express';
import Joi from 'joi';
import { NO_TRANSFORM } from '../compress-responses.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf, paginate, queryOf } from '../read-request.ts';
import { attemptJson, endpointJson, endpointOf, recordEndpoint } from './endpoint-json.ts';
import { GRACE_MS, type Grace, graceSchema } from './grace.ts';

const PAGE_SIZE = 50;

interface NewEndpointBody {
  url: string;
  /** Null for all. */
  types: EventType[] | null;
}

/** The endpoints of an account. Only a response that creates a secret contains it. */
export function endpointRoutes(deps: PortalDeps): Router {
  const { database, config, runShort } = deps;
  const transact = transactFairly(deps);
  const keys = secretsKeysOf(config);
  const router = Router();

  router.get('/endpoints', async (request, response) => {
    const endpoints = await runShort(request, () => listEndpoints(database, accountIdOf(request)));
    response.json({ endpoints: endpoints.map(endpointJson) });
  });

  router.post('/endpoints', async (request, response) => {
    const body = bodyOf<NewEndpointBody>(request, {
      url: Joi.string().trim().required(),
      types: Joi.array()
        .items(Joi.valid(...EVENT_TYPES))
        .min(1)
        .unique()
        .allow(null)
        .default(null),
    });
    const read = readEndpointUrl(body.url, config.CALLBACK_ALLOW);
    if ('error' in read) {
      const { code, error } = read;
      throw new Problem('invalid_request', { errors: [{ pointer: '/url', code, detail: `url ${error}` }] });
    }
    const created = await transact(request, async (transaction) => {
      const values = { accountId: accountIdOf(request), url: read.url, types: body.types };
      const endpoint = await createEndpoint(transaction, keys, values);
      await recordEndpoint(transaction, request, 'endpoint_created', endpoint, body.types ? { types: body.types } : {});
      return endpoint;
    });
    response
      .status(201)
      .set(NO_TRANSFORM)
      .json({ ...endpointJson(created), secret: created.secret });
  });

  router.post('/endpoints/:endpointId/secret', async (request, response) => {
    const { overlap } = bodyOf<{ overlap: Grace }>(request, { overlap: graceSchema });
    const json = await transact(request, async (transaction) => {
      const secret = await rotateEndpointSecret(
        transaction,
        keys,
        await endpointOf(transaction, request),
        GRACE_MS[overlap],
      );
      // Again: it may have been removed meanwhile, and from here on its row is locked.
      const endpoint = await endpointOf(transaction, request);
      await recordEndpoint(transaction, request, 'endpoint_rotated', endpoint, { overlap });
      return { ...endpointJson(endpoint), secret };
    });
    response.set(NO_TRANSFORM).json(json);
  });

  for (const [path, change, action] of [
    ['pause', pauseEndpoint, 'endpoint_paused'],
    ['enable', enableEndpoint, 'endpoint_enabled'],
  ] as const) {
    router.post(`/endpoints/:endpointId/${path}`, async (request, response) => {
      const endpoint = await transact(request, async (transaction) => {
        const before = await endpointOf(transaction, request);
        if (await change(transaction, before)) await recordEndpoint(transaction, request, action, before);
        return endpointOf(transaction, request);
      });
      response.json(endpointJson(endpoint));
    });
  }

  router.delete('/endpoints/:endpointId', async (request, response) => {
    await transact(request, async (transaction) => {
      const endpoint = await endpointOf(transaction, request);
      if (!(await removeEndpoint(transaction, endpoint))) throw new Problem('endpoint_not_found');
      await recordEndpoint(transaction, request, 'endpoint_removed', endpoint);
    });
    response.status(204).end();
  });

  router.post('/endpoints/:endpointId/test', async (request, response) => {
    const uuid = await transact(request, async (transaction) => {
      const endpoint = await endpointOf(transaction, request);
      const requested = await requestTest(transaction, endpoint);
      if (!requested) throw new Problem('endpoint_not_found');
      if (requested.isNew) await recordEndpoint(transaction, request, 'endpoint_tested', endpoint);
      return requested.eventId;
    });
    response.status(202).json({ event_id: eventId(uuid) });
  });

  router.post('/endpoints/:endpointId/resend', async (request, response) => {
    const { from, to = from } = bodyOf<{ from: number; to?: number }>(request, {
      from: Joi.number().integer().min(1).required(),
      to: Joi.number().integer().min(Joi.ref('from')),
    });
    const events = await transact(request, async (transaction) => {
      const endpoint = await endpointOf(transaction, request);
      const count = await resendEvents(transaction, endpoint, from, to);
      if (count > 0) await recordEndpoint(transaction, request, 'events_resent', endpoint, { from, to, events: count });
      return count;
    });
    response.status(202).json({ events });
  });

  router.get('/endpoints/:endpointId/attempts', async (request, response) => {
    const { before, event_id } = queryOf<{ before?: number; event_id?: string }>(request, {
      before: Joi.number().integer().min(1),
      event_id: Joi.string().pattern(/^evt_[\da-f]{32}$/),
    });
    // Postgres reads a UUID without hyphens.
    const wanted = event_id?.replace('evt_', '');
    const attempts = await runShort(request, async () =>
      listAttempts(database, await endpointOf(database, request), { limit: PAGE_SIZE + 1, before, eventId: wanted }),
    );
    const { page, next } = paginate(attempts, PAGE_SIZE, ({ attempt_number }) => attempt_number);
    response.json({ attempts: page.map(attemptJson), next });
  });

  return router;
}
