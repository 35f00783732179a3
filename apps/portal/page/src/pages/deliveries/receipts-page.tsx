import { RotateCcw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useRoute } from 'wouter';
import { useGet, usePagedList } from '../../api/queries.ts';
import { type FoundReceipts, isUnmapped, type ListedReceipt, useDeadCounts } from '../../api/receipts.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Card, Dotted, Mono } from '../../components/card.tsx';
import { Field, SelectField } from '../../components/field.tsx';
import { EmptyState, Loaded, Paged, Skeleton } from '../../components/loaded.tsx';
import { formatCount } from '../../components/numbers.ts';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { Ago, fullTime } from '../../components/time.tsx';
import { CauseNote, ReceiptView } from './receipt-view.tsx';
import { REDRIVE, RedriveDialog } from './redrive-dialog.tsx';
import { type Filters, SearchBox, useFilters } from './search-box.tsx';
import './receipts.css';

/** The list of receipts, or one receipt. */
export default function ReceiptsPage(): ReactNode {
  const [, match] = useRoute('/accounts/:accountId/receipts/:receiptId');
  return match ? <ReceiptView key={match.receiptId} receiptId={match.receiptId} /> : <ReceiptList />;
}

/** An account's receipts: the newest, filtered by state, or search results. */
function ReceiptList(): ReactNode {
  const { t } = useTranslation('receipts');
  const { filters, change } = useFilters();
  return (
    <div className="stack">
      <PageHeader title={t('common:nav.receipts')} about={t('about')}>
        <HelpLink page="receipts" />
      </PageHeader>
      <SearchBox filters={filters} change={change} />
      {filters.q === '' ? <Newest /> : <Found q={filters.q} />}
    </div>
  );
}

function Newest(): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const { filters, change, deadQuery } = useFilters();
  const can = useCan();
  const [isRedriving, setRedriving] = useState(false);
  const query = { state: filters.state, ...deadQuery };
  const list = usePagedList({
    queryKey: ['receipts', accountId, query],
    path: `/accounts/${accountId}/receipts`,
    query: (before) => ({ ...query, before }),
    rowsOf: ({ receipts }: { receipts: ListedReceipt[]; next: string | null }) => receipts,
    keepsPrevious: true,
  });
  return (
    <>
      {filters.state === 'dead' && (
        <Card
          title={t('dead.filter')}
          about={t('dead.about')}
          actions={<HelpLink page="failed-receipts" anchor="redrive" />}
        >
          <DeadFilter filters={filters} change={change} />
          {filters.error_code !== '' && <CauseNote code={filters.error_code} />}
          {can(...REDRIVE) && (
            <div className="row">
              <Button Icon={RotateCcw} disabled={list.rows.length === 0} onClick={() => setRedriving(true)}>
                {t('redrive.all')}
              </Button>
              <span className="hint">{t('redrive.allHint')}</span>
            </div>
          )}
        </Card>
      )}
      <Paged list={list} skeleton={8} empty={<NoReceipts state={filters.state} hasMore={list.query.hasNextPage} />}>
        {(receipts) => <ReceiptRows receipts={receipts} />}
      </Paged>
      {isRedriving && (
        <RedriveDialog
          path={`/accounts/${accountId}/dead-letters`}
          body={deadQuery}
          onClose={() => setRedriving(false)}
        />
      )}
    </>
  );
}

function NoReceipts({ state, hasMore }: { state: string; hasMore: boolean }): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const can = useCan();
  if (hasMore) return <p className="note">{t('noneSoFar')}</p>;
  if (state === 'dead') return <EmptyState title={t('noneDead')} text={t('noneDeadAbout')} />;
  const tryIt = (
    <Link className="button" href={`/accounts/${accountId}/developers?tab=try`}>
      {t('noneAction')}
    </Link>
  );
  return <EmptyState title={t('none')} text={t('noneAbout')} action={state === '' && can('develop') && tryIt} />;
}

/** Receipts with exactly this id, idempotency key or `source_order_id`. */
function Found({ q }: { q: string }): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const path = `/accounts/${accountId}/receipts/search`;
  const query = useGet<FoundReceipts>(['receipts', accountId, 'search', q], path, { query: { q } });
  return (
    <Loaded query={query} skeleton={<Skeleton shape="rows" />}>
      {({ receipts, newest_since, followed_until }) => (
        <>
          {receipts.length > 0 ? (
            <>
              <p role="status">{t('search.found', { count: receipts.length })}</p>
              <ReceiptRows receipts={receipts} />
            </>
          ) : (
            <EmptyState title={t('search.none')} text={t('search.noneAbout')} />
          )}
          {newest_since !== null && (
            <p className="hint">
              {followed_until === null
                ? t('search.since', { since: fullTime(newest_since) })
                : t('search.sinceAndUntil', { since: fullTime(newest_since), until: fullTime(followed_until) })}
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}

/** Filters dead receipts by error, source and time of death. */
function DeadFilter({ filters, change }: { filters: Filters; change: (patch: Partial<Filters>) => void }): ReactNode {
  const { t } = useTranslation('receipts');
  const { data } = useDeadCounts(useAccountId());
  const input = (name: 'source_prefix' | 'died_from' | 'died_to') => ({
    label: t(`dead.${name}`),
    value: filters[name],
    onChange: (value: string) => change({ [name]: value }),
  });
  return (
    <div className="dead-filter">
      <SelectField
        label={t('dead.error_code')}
        value={filters.error_code}
        onChange={(error_code) => change({ error_code })}
        options={[
          { value: '', name: t('dead.anyError') },
          ...(data?.codes ?? []).map(({ error_code: code, count }) => ({
            value: code ?? '',
            name: `${t(`error.${code}.name`, { defaultValue: code ?? '' })} (${formatCount(count)})`,
          })),
        ]}
      />
      <Field {...input('source_prefix')} dir="auto" maxLength={255} autoComplete="off" />
      <Field {...input('died_from')} type="datetime-local" />
      <Field {...input('died_to')} type="datetime-local" />
    </div>
  );
}

/** Receipts as rows that link to their details. */
function ReceiptRows({ receipts }: { receipts: ListedReceipt[] }): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  return (
    <ul className="plain card receipt-rows">
      <li className="receipt-row receipt-head" aria-hidden="true">
        {(['state', 'order', 'details', 'received'] as const).map((name) => (
          <span key={name}>{t(`column.${name}`)}</span>
        ))}
      </li>
      {receipts.map((receipt) => {
        const { receipt_id, source_order_id, status, channel, source, error, warning_count, received_at } = receipt;
        return (
          <li key={receipt_id}>
            <Link href={`/accounts/${accountId}/receipts/${receipt_id}`} className="receipt-row">
              <StateBadge state={status} />
              <span className="receipt-names">
                <bdi>{isUnmapped(receipt) ? t('noOrderId') : source_order_id}</bdi>
                <Mono isHint>{receipt_id}</Mono>
              </span>
              <span className="hint">
                <Dotted>
                  <bdi>{t(`common:channel.${channel}`)}</bdi>
                  {source && <bdi>{source.name}</bdi>}
                  {error && <bdi>{t(`error.${error.code}.name`, { defaultValue: error.code })}</bdi>}
                  {warning_count > 0 && <bdi>{t('warnings', { count: warning_count })}</bdi>}
                </Dotted>
              </span>
              <span className="hint receipt-when">
                <Ago at={received_at} />
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
