import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { isUnmapped, type ListedReceipt } from '../../api/receipts.ts';
import { useAccountId } from '../../api/session.ts';
import { StateBadge } from '../../components/state-badge.tsx';
import { Ago } from '../../components/time.tsx';

/** Receipts as rows that link to their details. */
export function ReceiptRows({ receipts }: { receipts: ListedReceipt[] }): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  if (receipts.length === 0) return null;
  return (
    <ul className="plain card receipt-rows">
      {receipts.map((receipt) => (
        <li key={receipt.receipt_id}>
          <Link href={`/accounts/${accountId}/receipts/${receipt.receipt_id}`} className="receipt-row">
            <StateBadge state={receipt.status} />
            <span className="receipt-names">
              <bdi>{isUnmapped(receipt) ? t('noOrderId') : receipt.source_order_id}</bdi>
              <bdi dir="ltr" className="mono hint">
                {receipt.receipt_id}
              </bdi>
            </span>
            <span className="hint">
              <bdi>{t(`common:channel.${receipt.channel}`)}</bdi>
              {receipt.source && (
                <>
                  {' · '}
                  <bdi>{receipt.source.name}</bdi>
                </>
              )}
              {receipt.error && (
                <>
                  {' · '}
                  <bdi>{t(`error.${receipt.error.code}.name`, { defaultValue: receipt.error.code })}</bdi>
                </>
              )}
              {receipt.warning_count > 0 && (
                <>
                  {' · '}
                  <bdi>{t('warnings', { count: receipt.warning_count })}</bdi>
                </>
              )}
            </span>
            <span className="hint receipt-when">
              <Ago at={receipt.received_at} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Why receipts fail, and what to do about it. `detail` stands in for a code without texts. */
export function CauseNote({ code, detail = '' }: { code: string; detail?: string }): ReactNode {
  const { t } = useTranslation('receipts');
  const todo = t(`error.${code}.todo`, { defaultValue: '' });
  return (
    <div className="stack-tight">
      <p>{t(`error.${code}.detail`, { defaultValue: detail })}</p>
      {todo && (
        <p>
          <strong>{t('failed.todo')}:</strong> {todo}
        </p>
      )}
    </div>
  );
}
