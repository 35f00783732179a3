import { csvCell } from '@orders/order-files/csv.ts';
import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { saveFile } from '../../../components/save-file.ts';
import {
  forgetSending,
  RESULTS,
  type Result,
  reasonOf,
  resultOf,
  resumeSending,
  type Sending,
  type SentOrder,
  stopSending,
} from './sending.ts';

const NEEDS_ATTENTION: ReadonlySet<Result> = new Set(['differs', 'contradicts', 'rejected', 'dead', 'gone']);
const MAX_SHOWN = 100;

/** How far a file is sent; what became of its orders; and a report to download. */
export function SendingCard({ sending, onForget }: { sending: Sending; onForget: () => void }): ReactNode {
  const { t } = useTranslation('upload');
  const { accountId, fileName, orders, phase, error, isRetrying } = sending;
  const counts = Map.groupBy(orders, (order) => resultOf(order, phase));
  const isEnded = phase === 'done' || phase === 'stopped';
  return (
    <Card
      title={<bdi>{fileName}</bdi>}
      className="stack table-scope upload-sending"
      actions={
        <>
          {!isEnded && <Button onClick={() => stopSending(sending)}>{t('sending.stop')}</Button>}
          {phase === 'stopped' && (
            <Button kind="main" onClick={() => resumeSending(sending)}>
              {t('sending.resume')}
            </Button>
          )}
          {isEnded && (
            <Button Icon={Download} onClick={() => download(sending, t)}>
              {t('sending.download')}
            </Button>
          )}
          {isEnded && (
            <Button
              onClick={() => {
                forgetSending(sending);
                onForget();
              }}
            >
              {t('sending.another')}
            </Button>
          )}
        </>
      }
    >
      <Progress sending={sending} />
      {isRetrying && <p className="note note-warn">{t('sending.retrying')}</p>}
      {phase === 'stopped' &&
        (error === null ? <p className="note">{t('sending.stopped')}</p> : <ProblemNote error={error} />)}
      <ul className="plain row">
        {RESULTS.map((result) => {
          const count = counts.get(result)?.length ?? 0;
          return count === 0 ? null : (
            <li key={result} className={`badge${NEEDS_ATTENTION.has(result) ? ' badge-warn' : ''}`}>
              {formatCount(count)} {t(`result.${result}`)}
            </li>
          );
        })}
      </ul>
      {phase === 'done' && (
        <p>
          <Link href={`/accounts/${accountId}/orders`}>{t('sending.review')}</Link>
        </p>
      )}
      {isEnded && <Attention sending={sending} />}
    </Card>
  );
}

function Progress({ sending: { orders, sent, settled, phase } }: { sending: Sending }): ReactNode {
  const { t } = useTranslation('upload');
  const isFollowing = phase === 'waiting' || phase === 'done';
  const text = t(`sending.${phase}`, { sent, settled, count: orders.length });
  return (
    <div className="stack-tight">
      <p role="status">{text}</p>
      <progress aria-label={text} value={isFollowing ? settled : sent} max={orders.length} />
    </div>
  );
}

/** The orders that somebody should look at. */
function Attention({ sending: { accountId, orders, phase } }: { sending: Sending }): ReactNode {
  const { t } = useTranslation('upload');
  const rows = orders.filter((order) => NEEDS_ATTENTION.has(resultOf(order, phase)));
  if (rows.length === 0) return null;
  return (
    <>
      <p>{t('sending.attention', { count: rows.length })}</p>
      <DataTable
        label={t('sending.attentionTitle')}
        rows={rows.slice(0, MAX_SHOWN)}
        keyOf={({ position }) => position}
        columns={[
          { header: t('review:field.sourceOrderId'), cell: ({ sourceOrderId }) => <bdi>{sourceOrderId ?? '–'}</bdi> },
          { header: t('columns.line'), cell: ({ line }) => line, isNumber: true },
          { header: t('sending.result'), cell: (order) => t(`result.${resultOf(order, phase)}`) },
          {
            header: t('sending.why'),
            cell: (order) => (
              <>
                <span dir="auto">{whyOf(order, t)}</span>{' '}
                {order.outcome?.order_id != null && (
                  <Link href={`/accounts/${accountId}/orders/${order.outcome.order_id}`}>{t('sending.openOrder')}</Link>
                )}
                {order.outcome?.order_id == null && order.receiptId !== undefined && (
                  <Link href={`/accounts/${accountId}/receipts/${order.receiptId}`}>{t('sending.openReceipt')}</Link>
                )}
              </>
            ),
          },
        ]}
      />
    </>
  );
}

type Translate = ReturnType<typeof useTranslation>['t'];

function whyOf({ rejection, outcome, contradictions = [] }: SentOrder, t: Translate): string {
  if (rejection) return t([`reason.${rejection.code}`, 'reason.other'], { detail: reasonOf(rejection) });
  if (outcome?.state === 'dead') return outcome.error_code ?? '';
  if (outcome?.differs) return t('why.differs');
  const [first] = contradictions;
  if (!first) return '';
  return first.column === null
    ? t('orders.repeatedRow', { line: first.line })
    : t('orders.contradictsIn', { line: first.line, column: first.column });
}

/** A line for each order of the file. */
function download({ orders, fileName, phase }: Sending, t: Translate): void {
  const head = ['line', 'source_order_id', 'result', 'reason', 'receipt_id', 'order_id'];
  const lines = orders.map((order) =>
    [
      order.line,
      order.sourceOrderId,
      resultOf(order, phase),
      whyOf(order, t),
      order.receiptId ?? null,
      order.outcome?.order_id ?? null,
    ].map(csvCell),
  );
  const text = `\uFEFF${[head, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')}`;
  saveFile(new Blob([text], { type: 'text/csv' }), `${fileName}.report.csv`);
}
