import { type ReactNode, useEffect, useLayoutEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../../api/client.ts';
import type { OrderDetail, RecordedPrint } from '../../../api/review.ts';
import { useAccount, useAccountId } from '../../../api/session.ts';
import { Button } from '../../../components/button.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { printPaper } from '../../../components/preference.ts';
import { Segments } from '../../../components/segments.tsx';
import { shortTime } from '../../../components/time.tsx';
import { useAction } from '../../../components/use-action.ts';
import { OrderOnPaper } from './order-on-paper.tsx';
import { PrintFrame } from './print-view.tsx';

/** How long a print waits until it is recorded, in milliseconds; then it counts as one that cannot be. */
const PRINT_TIMEOUT_MS = 8000;

/** What goes to the printer: the order as it was then, and its print; null for a copy, which is not recorded. */
interface Sent {
  detail: OrderDetail;
  print: RecordedPrint | null;
}

/**
 * One order on a kitchen ticket or a page. Each print is recorded before the dialog of the printer opens, so that every further paper says
 * that it is one; what cannot be recorded is printed only as a copy.
 *
 * @param props.reload loads the order again.
 */
export function OrderPrint(props: {
  detail: OrderDetail;
  reload: () => Promise<OrderDetail | undefined>;
  onClose: () => void;
}): ReactNode {
  const { detail, reload, onClose } = props;
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const paper = printPaper.use();
  const [sent, setSent] = useState<Sent | null>(null);
  const recording = useAction({
    mutationFn: () => {
      const signal = AbortSignal.timeout(PRINT_TIMEOUT_MS);
      return call<RecordedPrint>('POST', `/accounts/${accountId}/orders/${detail.order.order_id}/prints`, { signal });
    },
    async onSuccess(print) {
      setSent({ detail: (await reload()) ?? detail, print });
    },
  });
  const account = useAccount(accountId);
  usePageSize(paper === 'ticket');
  useEffect(() => {
    if (sent) window.print();
  }, [sent]);
  const shown = sent?.detail ?? detail;
  const { order, notes, cancellation } = shown;
  const options = printPaper.values.map((value) => ({ value, name: t(`print.paper.${value}`) }));
  return (
    <PrintFrame
      title={t('print.one', { number: order.order_number })}
      className={`is-${paper}`}
      // No paper without the mark of a test, which the kitchen would cook.
      isReady={account !== undefined && !recording.isPending}
      choices={
        <Segments label={t('print.paper.label')} hidesLabel options={options} value={paper} onChange={printPaper.set} />
      }
      onPrint={() => recording.mutate()}
      onClose={onClose}
    >
      <div className="print-problem">
        {recording.isError && isRejected(recording.error) && <ProblemNote error={recording.error} />}
        {recording.isError && !isRejected(recording.error) && (
          <div className="note note-bad" role="alert">
            <p>{t('print.unrecorded')}</p>
            <Button onClick={() => recording.mutate()}>{t('common:action.retry')}</Button>
            <Button onClick={() => setSent({ detail, print: null })}>{t('print.anyway')}</Button>
          </div>
        )}
      </div>
      <OrderOnPaper
        order={{ ...order, is_test: order.is_test || account?.test_of != null, notes }}
        marks={
          <>
            {cancellation?.closed_at === null && <p className="printed-mark">{t('print.cancelling')}</p>}
            <PrintMark sent={sent} />
          </>
        }
      />
    </PrintFrame>
  );
}

/** Whether the print is not permitted; otherwise nobody knows whether it was recorded. */
function isRejected(error: unknown): boolean {
  return isProblem(error) && error.status >= 400 && error.status < 500;
}

/** Which print this paper is. What a browser prints by itself is not recorded either; on the screen, nothing is printed yet. */
function PrintMark({ sent }: { sent: Sent | null }): ReactNode {
  const { t } = useTranslation('review');
  // A reply can be cut off.
  if (!sent?.print?.number)
    return <p className={sent ? 'printed-mark' : 'printed-mark only-on-paper'}>{t('print.copy')}</p>;
  const { number, printed_at, printed_by } = sent.print;
  if (number === 1) return null;
  return <p className="printed-mark">{t('print.again', { number, time: shortTime(printed_at), name: printed_by })}</p>;
}

const PIXELS_PER_MM = 96 / 25.4;
const TICKET_MARGIN_MM = 4;
/** No printer has longer pages; a longer ticket goes on on the next one. */
const MAX_TICKET_MM = 3000;

/** Gives the printer the size of the page. A ticket is as long as its order, and there is no such size in CSS, so it is measured. */
function usePageSize(isTicket: boolean): void {
  const [sheet] = useState(() => new CSSStyleSheet());
  useLayoutEffect(() => {
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    };
  }, [sheet]);
  // After each render, as each can make the ticket longer.
  useLayoutEffect(() => {
    const height = document.querySelector('.print-view .printed-order')?.scrollHeight ?? 0;
    const length = Math.min(Math.ceil(height / PIXELS_PER_MM) + 2 * TICKET_MARGIN_MM + 1, MAX_TICKET_MM);
    sheet.replaceSync(
      isTicket ? `@page { size: 80mm ${length}mm; margin: ${TICKET_MARGIN_MM}mm }` : '@page { size: A4; margin: 15mm }',
    );
  });
}
