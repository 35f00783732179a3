import {
  type ApiKey,
  createKey,
  describeAccess,
  findKey,
  listKeys,
  replaceKey,
  revokeKey,
  updateKey,
} from '@orders/database/accounts/api-keys.ts';
import type { Connection } from '@orders/database/run.ts';
import { isAddressRange, MAX_ADDRESS_RANGES } from '@orders/domain/address-ranges.ts';
import { KEY_SCOPES, type KeyScope } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { NO_TRANSFORM } from '../compress-responses.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf, idOf, MAX_SMALL_ID, plainText } from '../read-request.ts';
import { GRACE_MS, type Grace, graceSchema } from './grace.ts';

const DAY_SECONDS = 86_400;
/** The lifetimes that a new key can have, in seconds. */
const LIFETIMES = { never: null, '30d': 30 * DAY_SECONDS, '90d': 90 * DAY_SECONDS, '365d': 365 * DAY_SECONDS };

function addressRange(text: string, helpers: Joi.CustomHelpers): unknown {
  return isAddressRange(text) ? text : helpers.error('string.ip');
}

const limits = {
  scopes: Joi.array()
    .items(Joi.valid(...KEY_SCOPES))
    .unique()
    .min(1),
  expires: Joi.valid(...Object.keys(LIFETIMES)),
  addresses: Joi.array().items(Joi.string().custom(addressRange)).unique().max(MAX_ADDRESS_RANGES),
};
const newKey = {
  name: plainText(200).trim().required(),
  scopes: limits.scopes.default([...KEY_SCOPES]),
  expires: limits.expires.default('never'),
  addresses: limits.addresses.default([]),
};

interface NewKey {
  name: string;
  scopes: KeyScope[];
  expires: keyof typeof LIFETIMES;
  addresses: string[];
}

/** The keys of an account. Only the response that creates a key contains its text. */
export function keyRoutes(deps: PortalDeps): Router {
  const { database, runShort } = deps;
  const transact = transactFairly(deps);
  const router = Router();

  router.get('/keys', async (request, response) => {
    const keys = await runShort(request, () => listKeys(database, accountIdOf(request)));
    response.json({ keys });
  });

  router.post('/keys', async (request, response) => {
    const { name, scopes, expires, addresses } = bodyOf<NewKey>(request, newKey);
    const key = await transact(request, async (transaction) => {
      const access = { scopes, addresses, lifetime_seconds: LIFETIMES[expires] };
      const created = await createKey(transaction, accountIdOf(request), name, access);
      await record(transaction, request, 'key_created', created, describeAccess(created));
      return created;
    });
    response.status(201).set(NO_TRANSFORM).json(key);
  });

  // What the body does not name stays as it is; a lifetime begins now.
  router.patch('/keys/:keyId', async (request, response) => {
    const { expires, ...rest } = bodyOf<Partial<Omit<NewKey, 'name'>>>(request, limits);
    const access = { ...rest, ...(expires !== undefined && { lifetime_seconds: LIFETIMES[expires] }) };
    const key = await transact(request, async (transaction) => {
      const old = await keyOf(transaction, request);
      if (Object.keys(access).length === 0) return old;
      const updated = await updateKey(transaction, old.key_id, access, old.account_id);
      if (!updated) throw new Problem('conflicting_state');
      const { scopes, addresses, expires_at } = updated;
      await record(transaction, request, 'key_updated', updated, { scopes, addresses, expires_at });
      return updated;
    });
    response.json(key);
  });

  router.post('/keys/:keyId/replace', async (request, response) => {
    const { grace } = bodyOf<{ grace: Grace }>(request, { grace: graceSchema });
    const key = await transact(request, async (transaction) => {
      const old = await keyOf(transaction, request);
      const created = await replaceKey(transaction, old.key_id, GRACE_MS[grace], old.account_id);
      if (!created) throw new Problem('conflicting_state');
      await record(transaction, request, 'key_replaced', old, { grace, new_key_id: created.key_id });
      return created;
    });
    response.status(201).set(NO_TRANSFORM).json(key);
  });

  router.post('/keys/:keyId/revoke', async (request, response) => {
    const key = await transact(request, async (transaction) => {
      const { state, key_id, account_id } = await keyOf(transaction, request);
      if (state === 'revoked') throw new Problem('conflicting_state');
      const revoked = (await revokeKey(transaction, key_id, account_id)) as ApiKey;
      await record(transaction, request, 'key_revoked', revoked);
      return revoked;
    });
    response.json(key);
  });

  return router;
}

async function keyOf(connection: Connection, request: Request): Promise<ApiKey> {
  const id = idOf(request.params.keyId, MAX_SMALL_ID);
  const key = id !== null ? await findKey(connection, id, accountIdOf(request)) : null;
  if (!key) throw new Problem('key_not_found');
  return key;
}

function record(
  transaction: Connection,
  request: Request,
  action: string,
  key: ApiKey,
  more: object = {},
): Promise<void> {
  const details = { name: key.name, last_four: key.last_four, ...more };
  return recordBy(transaction, request, { accountId: key.account_id, action, subject: `key:${key.key_id}`, details });
}
