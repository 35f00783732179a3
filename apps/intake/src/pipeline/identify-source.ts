import type { IncomingMessage } from 'node:http';
import type { Database } from '@orders/database/connect.ts';
import { isSourceId } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { RequestHandler } from 'express';
import { SOURCES_PATH } from '../paths.ts';
import { contextOf } from '../request-context.ts';
import { rejectMoving } from './authenticate.ts';
import { createCachedLookUp } from './cached-look-up.ts';
import { findSources, type SourceOfDelivery } from './find-sources.ts';
import { type OtherInstallations, rejectMoved } from './other-installations.ts';

export interface SourceIdentifier {
  /**
   * Finds the source of a request by the id in its path, and with it the account. The delivery is not authenticated yet.
   *
   * @throws {Problem} `not_found`, `wrong_installation`, `account_suspended`, or `overloaded` if too many unknown ids wait; a database error if
   * the look-up fails.
   */
  identifySource: RequestHandler;
  /** The account of a delivery whose source is cached; undefined otherwise. */
  cachedAccount(request: IncomingMessage): number | undefined;
}

export function createSourceIdentifier(
  database: Database,
  installations: OtherInstallations,
  basePath: string,
): SourceIdentifier {
  const sources = createCachedLookUp<SourceOfDelivery>({
    idOf: (sourceId) => sourceId,
    find: (sourceIds) => findSources(database, sourceIds),
  });
  const prefix = `${basePath}${SOURCES_PATH}/`;

  return {
    async identifySource(request, _response, next) {
      const sourceId = String(request.params.sourceId);
      const isId = isSourceId(sourceId);
      const source = isId ? await sources.find(sourceId) : undefined;
      if (isId && !source) await installations.reject(sourceId);
      if (!source) throw new Problem('not_found', { detail: 'There is no source with this URL. Copy it again.' });
      rejectMoved(source);
      const context = contextOf(request);
      context.authenticated = source;
      context.authenticateAgain = async () => (await sources.find(sourceId, { isFresh: true })) ?? null;
      rejectMoving(source);
      if (source.suspended) throw new Problem('account_suspended');
      next();
    },
    cachedAccount({ url = '' }) {
      const [path = ''] = url.split('?');
      return path.startsWith(prefix) ? sources.cached(decoded(path.slice(prefix.length)))?.accountId : undefined;
    },
  };
}

/** As Express decodes it; a malformed one stays as it is, and is no source's. */
function decoded(sourceId: string): string {
  if (!sourceId.includes('%')) return sourceId;
  try {
    return decodeURIComponent(sourceId);
  } catch {
    return sourceId;
  }
}
