import { Send } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import { useReceipt } from '../../api/receipts.ts';
import { useAccountId } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ProblemNote } from '../../components/loaded.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { useAction } from '../../components/use-action.ts';

/** Short, because somebody waits for the receipt, which is processed within moments. */
const POLL_INTERVAL_MS = 400;

/** Sends a clearly marked test order and follows it to the review list. */
export function TestOrderCard(): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const [sent, setSent] = useState<string | null>(null);
  const sending = useAction({
    mutationFn: async () =>
      setSent((await call<{ receipt_id: string }>('POST', `/accounts/${accountId}/test-orders`)).receipt_id),
  });
  return (
    <Card
      title={t('test.title')}
      about={t('test.about')}
      actions={
        <Button Icon={Send} disabled={sending.isPending} onClick={() => sending.mutate()}>
          {t('test.send')}
        </Button>
      }
    >
      {sending.error !== null && <ProblemNote error={sending.error} />}
      {sent && <Progress key={sent} receiptId={sent} />}
    </Card>
  );
}

function Progress({ receiptId }: { receiptId: string }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const receipt = useReceipt(accountId, receiptId, POLL_INTERVAL_MS);
  if (receipt.isError) return <ProblemNote error={receipt.error} retry={() => void receipt.refetch()} />;
  return (
    <div className="note" role="status">
      <StateBadge state={receipt.data?.status ?? 'received'} />
      <span>
        {t('test.receipt')}{' '}
        <Link href={`/accounts/${accountId}/receipts/${receiptId}`} className="mono" dir="ltr">
          {receiptId}
        </Link>
      </span>
      {receipt.data?.order_id != null && (
        <Link href={`/accounts/${accountId}/orders/${receipt.data.order_id}`}>{t('test.open')}</Link>
      )}
    </div>
  );
}
