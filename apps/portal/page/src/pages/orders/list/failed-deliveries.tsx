import { TriangleAlert, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useDeadCounts } from '../../../api/receipts.ts';
import { IconButton } from '../../../components/button.tsx';
import { Dotted } from '../../../components/card.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { shortTime } from '../../../components/time.tsx';

const EVERY_MS = 60_000;

/** Deliveries that became no order, so that nobody waits for one in vain. Who has seen them hides this, on this device, until another fails. */
export function FailedDeliveries({ accountId }: { accountId: number }): ReactNode {
  const { t } = useTranslation('review');
  const { data } = useDeadCounts(accountId, EVERY_MS);
  const stored = `failed-seen-${accountId}`;
  const [seen, setSeen] = useState(() => localStorage.getItem(stored) ?? '');
  const codes = data?.codes ?? [];
  const count = codes.reduce((sum, code) => sum + code.count, 0);
  const oldest = codes.map(({ oldest_at }) => oldest_at).toSorted()[0] ?? '';
  const newest =
    codes
      .map(({ newest_at }) => newest_at)
      .toSorted()
      .at(-1) ?? '';
  const hide = () => {
    localStorage.setItem(stored, newest);
    setSeen(newest);
  };
  return (
    <div role="status">
      {newest > seen && (
        <div className="row list-note note-warn">
          <TriangleAlert aria-hidden="true" size={16} />
          <span>
            <Dotted>
              {t('list.failed', { count, formatted: formatCount(count) })}
              {t('list.failedOldest', { count, time: shortTime(oldest) })}
              <Link href={`/accounts/${accountId}/receipts?state=dead`}>{t('list.failedSee', { count })}</Link>
            </Dotted>
          </span>
          <IconButton label={t('list.failedHide')} Icon={X} size={16} onClick={hide} />
        </div>
      )}
    </div>
  );
}
