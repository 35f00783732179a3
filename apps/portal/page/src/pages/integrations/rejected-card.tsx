import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Rejected, useRejected } from '../../api/integrations.ts';
import { useAccountId } from '../../api/session.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Ago } from '../../components/time.tsx';

const PAGE_SIZE = 20;

/** The account's last rejected deliveries, each with how to fix it; updated by polling. */
export function RejectedCard(): ReactNode {
  const { t } = useTranslation('integrations');
  const rejected = useRejected(useAccountId());
  const [shown, setShown] = useState(PAGE_SIZE);
  return (
    <section className="card stack" aria-labelledby="rejected-title">
      <header className="spread">
        <h2 id="rejected-title">{t('rejected.title')}</h2>
        <HelpLink page="rejected-deliveries" anchor="read" />
      </header>
      <p className="hint">{t('rejected.about')}</p>
      {rejected.isError && <ProblemNote error={rejected.error} retry={() => void rejected.refetch()} />}
      {rejected.isPending && <Skeleton shape="rows" />}
      {rejected.data?.length === 0 && <EmptyState title={t('rejected.none')} text={t('rejected.noneAbout')} />}
      <ol className="plain rejected-list" aria-live="polite" aria-relevant="additions">
        {rejected.data?.slice(0, shown).map((rejection) => (
          <Item key={rejection.rejection_id} rejection={rejection} />
        ))}
      </ol>
      {rejected.data && rejected.data.length > shown && (
        <button type="button" className="button" onClick={() => setShown(shown + PAGE_SIZE)}>
          {t('common:action.more')}
        </button>
      )}
    </section>
  );
}

function Item({ rejection }: { rejection: Rejected }): ReactNode {
  const { t, i18n } = useTranslation('integrations');
  const isBatch = rejection.diagnosis === 'whole_batch';
  const ownKey = isBatch
    ? `rejected.batch.${rejection.code}`
    : `rejected.diagnosis.${rejection.code}.${rejection.diagnosis}`;
  const isSource = rejection.source_name !== null;
  const route = isSource
    ? '/ingest/sources/…'
    : isBatch
      ? '/ingest/orders/batch'
      : rejection.channel === 'rest'
        ? '/ingest/orders'
        : '/ingest/webhook';
  const hasOwnText = rejection.diagnosis !== null && i18n.exists(ownKey, { ns: 'integrations' });
  return (
    <li className="stack-tight">
      <p className="row">
        <Ago at={rejection.at} />
        <code dir="ltr">POST {route}</code>
        <code dir="ltr" className="badge badge-bad">
          {rejection.code}
        </code>
      </p>
      <p>
        <strong>{hasOwnText ? t(`${ownKey}.what`) : t(`rejected.what.${rejection.code}`)}</strong>
      </p>
      <p>{hasOwnText ? t(`${ownKey}.how`) : t(`rejected.how.${rejection.code}`)}</p>
      {rejection.errors && <Errors errors={rejection.errors} />}
      <p className="hint row key-dates">
        {isSource && (
          <span>
            {t('rejected.source')} <bdi>{rejection.source_name}</bdi>
          </span>
        )}
        {rejection.key_name && (
          <span>
            {t('rejected.key')} <bdi>{rejection.key_name}</bdi>{' '}
            <bdi dir="ltr" className="mono">
              …{rejection.key_last_four}
            </bdi>
          </span>
        )}
        {rejection.body_bytes !== null && <span>{t('rejected.bytes', { count: rejection.body_bytes })}</span>}
        <span className="request-id">
          {t('rejected.request')}{' '}
          <bdi dir="ltr" className="mono">
            {rejection.request_id}
          </bdi>
        </span>
      </p>
      {rejection.more > 0 && <p className="hint">{t('rejected.more', { count: rejection.more })}</p>}
    </li>
  );
}

function Errors({ errors }: { errors: NonNullable<Rejected['errors']> }): ReactNode {
  return (
    <ul>
      {errors.map(({ pointer, code }) => (
        <li key={`${pointer} ${code}`}>
          <bdi dir="ltr" className="mono">
            {pointer || '/'} {code}
          </bdi>
        </li>
      ))}
    </ul>
  );
}
