import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Rejected, useRejected } from '../../api/integrations.ts';
import { useAccountId } from '../../api/session.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Ago } from '../../components/time.tsx';

/** So many are shown at first. */
const PAGE = 20;

/** The last refusals of this account's deliveries, each with how to mend it; new ones appear by themselves. */
export function RejectedCard(): ReactNode {
  const { t } = useTranslation('integrations');
  const rejected = useRejected(useAccountId());
  const [shown, setShown] = useState(PAGE);
  return (
    <section className="card stack" aria-labelledby="rejected-title">
      <h2 id="rejected-title">{t('rejected.title')}</h2>
      <p className="hint">{t('rejected.about')}</p>
      {rejected.isError && <ProblemNote error={rejected.error} retry={() => void rejected.refetch()} />}
      {rejected.data?.length === 0 && <p className="note">{t('rejected.none')}</p>}
      <ol className="plain rejected-list" aria-live="polite" aria-relevant="additions">
        {rejected.data?.slice(0, shown).map((one) => (
          <Item key={one.rejection_id} one={one} />
        ))}
      </ol>
      {rejected.data && rejected.data.length > shown && (
        <button type="button" className="button" onClick={() => setShown(shown + PAGE)}>
          {t('common:action.more')}
        </button>
      )}
    </section>
  );
}

function Item({ one }: { one: Rejected }): ReactNode {
  const { t, i18n } = useTranslation('integrations');
  const isBatch = one.diagnosis === 'whole_batch';
  const own = isBatch ? `rejected.batch.${one.code}` : `rejected.diagnosis.${one.code}.${one.diagnosis}`;
  const route = isBatch ? '/ingest/orders/batch' : one.channel === 'rest' ? '/ingest/orders' : '/ingest/webhook';
  const hasOwn = one.diagnosis !== null && i18n.exists(own, { ns: 'integrations' });
  return (
    <li className="stack-tight">
      <p className="row">
        <Ago at={one.at} />
        <code dir="ltr">POST {route}</code>
        <code dir="ltr" className="badge badge-bad">
          {one.code}
        </code>
      </p>
      <p>
        <strong>{hasOwn ? t(`${own}.what`) : t(`rejected.what.${one.code}`)}</strong>
      </p>
      <p>{hasOwn ? t(`${own}.how`) : t(`rejected.how.${one.code}`)}</p>
      {one.errors && <Errors errors={one.errors} />}
      <p className="hint row key-dates">
        {one.key_name && (
          <span>
            {t('rejected.key')} <bdi>{one.key_name}</bdi>{' '}
            <bdi dir="ltr" className="mono">
              …{one.key_last_four}
            </bdi>
          </span>
        )}
        {one.body_bytes !== null && <span>{t('rejected.bytes', { count: one.body_bytes })}</span>}
        <span className="request-id">
          {t('rejected.request')}{' '}
          <bdi dir="ltr" className="mono">
            {one.request_id}
          </bdi>
        </span>
      </p>
      {one.more > 0 && <p className="hint">{t('rejected.more', { count: one.more })}</p>}
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
