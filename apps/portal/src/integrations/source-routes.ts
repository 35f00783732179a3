import { countUnmapped, readSourceActivity } from '@orders/database/sources/activity.ts';
import {
  createSource,
  removeSource,
  replaceSourceId,
  replaceSourceSecret,
  setIdPrefix,
} from '@orders/database/sources/change-sources.ts';
import { findSource, listSources, type Source } from '@orders/database/sources/sources.ts';
import { Problem } from '@orders/domain/problems.ts';
import { readIdPrefix } from '@orders/domain/sources/id-prefix.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { readMapping } from '@orders/domain/sources/read-mapping.ts';
import { readSettings } from '@orders/domain/sources/read-settings.ts';
import { SOURCE_PRESETS, type SourcePreset } from '@orders/domain/sources/settings.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { NO_TRANSFORM } from '../compress-responses.ts';
import { accountIdOf, may, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf, plainText } from '../read-request.ts';
import { GRACE_MS, type Grace, graceSchema } from './grace.ts';
import { recordSource, secretOf, sourceJson, sourceNumberOf, sourceOf } from './source-json.ts';

interface NewSourceBody {
  name: string;
  preset: SourcePreset;
  secret?: string;
  settings?: object;
  mapping?: object;
  id_prefix?: string;
}

/** The sources of an account. Only a response that creates a secret contains it. */
export function sourceRoutes(deps: PortalDeps): Router {
  const { database, config, runShort } = deps;
  const transact = transactFairly(deps);
  const keys = secretsKeysOf(config);
  const jsonOf = (source: Source) => sourceJson(source, config.INTAKE_URL);
  const router = Router();

  router.get('/sources', async (request, response) => {
    const accountId = accountIdOf(request);
    const [sources, activity, unmapped] = await runShort(request, async () => [
      await listSources(database, accountId),
      await readSourceActivity(database, accountId),
      await countUnmapped(database, accountId),
    ]);
    response.json({
      sources: sources.map((source) => {
        const found = activity.find(({ source_number }) => source_number === source.source_number);
        const dead = unmapped.get(source.source_number) ?? 0;
        const json = may(request, 'develop') ? jsonOf(source) : { ...jsonOf(source), url: null };
        return { ...json, last_at: found?.last_at ?? null, counts: found?.counts ?? {}, dead };
      }),
    });
  });

  router.post('/sources', async (request, response) => {
    const body = bodyOf<NewSourceBody>(request, {
      name: plainText(100).trim().required(),
      preset: Joi.valid(...SOURCE_PRESETS).required(),
      secret: Joi.string(),
      settings: Joi.object(),
      mapping: Joi.object(),
      id_prefix: Joi.string().allow(''),
    });
    const { name, preset } = body;
    const idPrefix = body.id_prefix === undefined ? undefined : readIdPrefix(body.id_prefix);
    const mapping = body.mapping === undefined ? PRESETS[preset].mapping : readMapping(body.mapping, '/mapping');
    const settings = readSettings(preset, body.settings, '/settings');
    const secret = secretOf(settings, body.secret);
    const created = await transact(request, async (transaction) => {
      const values = { accountId: accountIdOf(request), name, preset, settings, mapping, secret, idPrefix };
      const source = await createSource(transaction, keys, values, personOf(request).email);
      await recordSource(transaction, request, 'source_created', source, { preset });
      return source;
    });
    response
      .status(201)
      .set(NO_TRANSFORM)
      .json(withSecret(created, jsonOf(created)));
  });

  router.post('/sources/:number/secret', async (request, response) => {
    const { settings } = await runShort(request, () => sourceOf(database, request));
    const { overlap, ...body } = bodyOf<{ secret?: string; overlap: Grace }>(request, {
      secret: Joi.string(),
      overlap: graceSchema,
    });
    const secret = secretOf(settings, body.secret);
    const replaced = await transact(request, async (transaction) => {
      const change = { ...keyOf(request), secret, overlapMs: GRACE_MS[overlap] };
      const source = await replaceSourceSecret(transaction, keys, change);
      if (!source) throw new Problem('source_not_found');
      await recordSource(transaction, request, 'source_secret_replaced', source, { overlap });
      return source;
    });
    response.set(NO_TRANSFORM).json(withSecret(replaced, jsonOf(replaced)));
  });

  router.post('/sources/:number/replace-url', async (request, response) => {
    const source = await transact(request, async (transaction) => {
      const { accountId, sourceNumber } = keyOf(request);
      const replaced = await replaceSourceId(transaction, accountId, sourceNumber);
      if (!replaced) throw new Problem('source_not_found');
      await recordSource(transaction, request, 'source_url_replaced', replaced);
      return replaced;
    });
    response.json(jsonOf(source));
  });

  router.put('/sources/:number/id-prefix', async (request, response) => {
    const body = bodyOf<{ id_prefix: string }>(request, { id_prefix: Joi.string().allow('').required() });
    const idPrefix = readIdPrefix(body.id_prefix);
    const source = await transact(request, async (transaction) => {
      const changed = await setIdPrefix(transaction, { ...keyOf(request), idPrefix });
      if (!changed) throw new Problem('source_not_found');
      await recordSource(transaction, request, 'source_id_prefix_changed', changed, { id_prefix: idPrefix });
      return changed;
    });
    response.json(jsonOf(source));
  });

  router.delete('/sources/:number', async (request, response) => {
    await transact(request, async (transaction) => {
      const { accountId, sourceNumber } = keyOf(request);
      const source = await findSource(transaction, accountId, sourceNumber);
      if (!source || !(await removeSource(transaction, accountId, sourceNumber))) throw new Problem('source_not_found');
      await recordSource(transaction, request, 'source_removed', source);
    });
    response.status(204).end();
  });

  return router;
}

function keyOf(request: Request) {
  return { accountId: accountIdOf(request), sourceNumber: sourceNumberOf(request) };
}

function withSecret(source: { secret?: string }, json: object): object {
  return { ...json, ...(source.secret !== undefined && { secret: source.secret }) };
}
