import type { RejectedDelivery } from '@orders/database/rejected-deliveries.ts';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Json } from '../../api/client.ts';
import { useGet } from '../../api/queries.ts';
import { useAccountId } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Mono } from '../../components/card.tsx';
import { EmptyState, Loaded, Skeleton } from '../../components/loaded.tsx';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { Ago } from '../../components/time.tsx';
import './receipts.css';

type Rejected = Json<RejectedDelivery>;

const PAGE_SIZE = 20;

/** The account's last rejected deliveries, each with how to fix it; updated by polling. */
export default function RejectedPage(): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const query = useGet(['rejected', accountId], `/accounts/${accountId}/rejected-deliveries`, {
    select: (reply: { rejected_deliveries: Rejected[] }) => reply.rejected_deliveries,
    refetchInterval: 2000,
  });
  const [shown, setShown] = useState(PAGE_SIZE);
  const rejected = query.data ?? [];
  const explained = new Set<string>();
  return (
    <div className="stack">
      <PageHeader title={t('rejected.title')} about={t('rejected.about')}>
        <HelpLink page="rejected-deliveries" anchor="read" />
      </PageHeader>
      <Loaded query={query} skeleton={<Skeleton shape="rows" />}>
        {() => rejected.length === 0 && <EmptyState title={t('rejected.none')} text={t('rejected.noneAbout')} />}
      </Loaded>
      <ol
        className={rejected.length > 0 ? 'plain card lined-list rejected-list' : 'plain'}
        aria-live="polite"
        aria-relevant="additions"
      >
        {rejected.slice(0, shown).map((rejection) => {
          const cause = `${rejection.code} ${rejection.diagnosis}`;
          const isFirst = !explained.has(cause);
          explained.add(cause);
          return <Item key={rejection.rejection_id} rejection={rejection} isExplained={isFirst} />;
        })}
      </ol>
      {rejected.length > shown && (
        <Button onClick={() => setShown(shown + PAGE_SIZE)}>{t('common:action.more')}</Button>
      )}
    </div>
  );
}

/** @param props.isExplained whether it says how to fix the cause: only the newest of several with the same one. */
function Item({ rejection, isExplained }: { rejection: Rejected; isExplained: boolean }): ReactNode {
  const { t, i18n } = useTranslation('integrations');
  const { at, code, diagnosis, errors, source_name, key_name, key_last_four, body_bytes, request_id, more } = rejection;
  const isBatch = diagnosis === 'whole_batch';
  const ownKey = isBatch ? `rejected.batch.${code}` : `rejected.diagnosis.${code}.${diagnosis}`;
  const hasOwnText = diagnosis !== null && i18n.exists(ownKey, { ns: 'integrations' });
  return (
    <li className="stack-tight">
      <p className="row">
        <strong>{t(hasOwnText ? `${ownKey}.what` : `rejected.what.${code}`)}</strong>
        <code dir="ltr" className="badge badge-bad">
          {code}
        </code>
      </p>
      {isExplained && <p>{t(hasOwnText ? `${ownKey}.how` : `rejected.how.${code}`)}</p>}
      {errors && (
        <ul>
          {errors.map((error) => (
            <li key={`${error.pointer} ${error.code}`}>
              <Mono>
                {error.pointer || '/'} {error.code}
              </Mono>
            </li>
          ))}
        </ul>
      )}
      <p className="hint row wide-gaps">
        <Ago at={at} />
        <code dir="ltr">POST {routeOf(rejection)}</code>
        {source_name !== null && (
          <span>
            {t('rejected.source')} <bdi>{source_name}</bdi>
          </span>
        )}
        {key_name && (
          <span>
            {t('rejected.key')} <bdi>{key_name}</bdi> <Mono>…{key_last_four}</Mono>
          </span>
        )}
        {body_bytes !== null && <span>{t('rejected.bytes', { count: body_bytes })}</span>}
        <span className="request-id">
          {t('rejected.request')} <Mono>{request_id}</Mono>
        </span>
      </p>
      {more > 0 && <p className="hint">{t('rejected.more', { count: more })}</p>}
    </li>
  );
}

function routeOf({ source_name, diagnosis, channel }: Rejected): string {
  if (source_name !== null) return '/ingest/sources/…';
  if (diagnosis === 'whole_batch') return '/ingest/orders/batch';
  return channel === 'rest' ? '/ingest/orders' : '/ingest/webhook';
}
