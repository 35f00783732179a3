import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useReceipt } from '../../../api/receipts.ts';
import { useAccountId } from '../../../api/session.ts';
import { type Delivery, type Source, useDeliveries, useMappings, usePreview } from '../../../api/sources.ts';
import { ProblemNote } from '../../../components/loaded.tsx';
import { StateBadge } from '../../../components/state-badge.tsx';
import { Ago } from '../../../components/time.tsx';
import { mappingHref, sourcesHref } from '../../addresses.ts';
import { parseTree } from '../mapping/delivery-tree.tsx';
import { MappedOrder } from '../mapping/mapped-order.tsx';
import { formOf } from '../mapping/mapping-form.ts';
import { Problems, problemsOf } from '../mapping/mapping-problems.tsx';

const POLL_INTERVAL_MS = 1000;

/** The third step: waits for a delivery, and shows the newest one with the order made of it. */
export function TestStep({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const deliveries = useDeliveries(accountId, source.source_number);
  const [newest] = deliveries.data?.deliveries ?? [];
  const { rejected = 0, ping = 0, ignored: ofOthers = 0, finished = 0 } = source.counts;
  const ignored = ofOthers + finished;
  return (
    <>
      <p>{t(`test.${source.preset}`)}</p>
      <div className="stack" aria-live="polite">
        {deliveries.isError && <ProblemNote error={deliveries.error} retry={() => void deliveries.refetch()} />}
        {!newest && <p className="note">{t('test.waiting')}</p>}
        {!newest && ping > 0 && <p className="hint">{t('test.ping')}</p>}
        {!newest && ignored > 0 && <p className="hint">{t('test.ignored', { count: ignored })}</p>}
        {rejected > 0 && (
          <p className={newest ? 'hint' : 'note note-bad'}>
            {t('test.rejected', { count: rejected })}{' '}
            <Link href={`/accounts/${accountId}/rejected`}>{t('test.seeRejected')}</Link>
          </p>
        )}
        {newest && <p className="visually-hidden">{t('test.arrived')}</p>}
      </div>
      {newest && <Arrived key={newest.receipt_id} source={source} delivery={newest} />}
      <div className="row">
        <Link className="button" href={sourcesHref(accountId, 'connect', source.source_number)}>
          {t('test.back')}
        </Link>
        <Link className="button" href={sourcesHref(accountId)}>
          {t('test.done')}
        </Link>
      </div>
    </>
  );
}

function Arrived({ source, delivery }: { source: Source; delivery: Delivery }): ReactNode {
  const { t, i18n } = useTranslation(['sources', 'review']);
  const accountId = useAccountId();
  const receipt = useReceipt(accountId, delivery.receipt_id, POLL_INTERVAL_MS);
  const mappings = useMappings(accountId, source.source_number);
  const orderId = receipt.data?.order_id ?? receipt.data?.duplicate_of?.order_id;
  const mapping = mappings.data?.[0]?.mapping;
  const preview = usePreview(accountId, mapping ?? null, delivery.raw ?? '');
  const problems =
    mapping && preview.data
      ? problemsOf(
          { t, i18n },
          { preview: preview.data, form: formOf(mapping), changed: [], document: parseTree(delivery.raw ?? '') },
        )
      : null;
  return (
    <div className="stack">
      <p className="note">
        <StateBadge state={receipt.data?.status ?? 'received'} />
        <span>
          {t('test.arrived')} <Ago at={delivery.received_at} />
        </span>
        {orderId != null && <Link href={`/accounts/${accountId}/orders/${orderId}`}>{t('test.openOrder')}</Link>}
        <Link href={mappingHref(accountId, source.source_number, delivery.receipt_id)}>{t('action.mapping')}</Link>
      </p>
      {problems && <Problems problems={problems} />}
      {delivery.raw !== null && <MappedOrder preview={preview} idPrefix={source.id_prefix} />}
    </div>
  );
}
