import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import type { PrintedOrder } from '../../../api/review-list.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded, Skeleton } from '../../../components/loaded.tsx';
import { useKeyDown } from '../../../components/use-key-down.ts';
import { OrderOnPaper } from './order-on-paper.tsx';
import './print-view.css';

/** Orders on paper, for packing and delivery. */
export default function PrintView(props: {
  accountId: number;
  orderIds: readonly number[];
  onClose: () => void;
}): ReactNode {
  const { accountId, orderIds, onClose } = props;
  const { t } = useTranslation('review');
  const orders = useQuery({
    queryKey: ['print', accountId, orderIds],
    queryFn: async () => {
      const body = { order_ids: orderIds, format: 'json' };
      return (await call<{ orders: PrintedOrder[] }>('POST', `/accounts/${accountId}/orders/export`, { body })).orders;
    },
    gcTime: 0,
  });
  const print = () => window.print();
  return (
    <PrintFrame title={t('print.title')} isReady={orders.data !== undefined} onPrint={print} onClose={onClose}>
      <Loaded query={orders} skeleton={<Skeleton count={8} />}>
        {(printed) => printed.map((order) => <OrderOnPaper key={order.order_id} order={order} />)}
      </Loaded>
    </PrintFrame>
  );
}

/** What is printed: over the page on the screen, alone on paper. */
export function PrintFrame(props: {
  title: string;
  className?: string;
  isReady: boolean;
  /** Beside the buttons; not on paper. */
  choices?: ReactNode;
  onPrint: () => void;
  onClose: () => void;
  children: ReactNode;
}): ReactNode {
  const { title, className = '', isReady, choices, onPrint, onClose, children } = props;
  const { t } = useTranslation('review');
  const dialog = useRef<HTMLElement>(null);
  const print = () => isReady && onPrint();
  // Of the whole page, as printing takes the focus from the buttons, which are not on paper.
  useKeyDown((event) => {
    // A dialog over it, such as that of a session that has ended.
    if (document.querySelector('dialog[open]')) return;
    event.stopPropagation();
    if (event.key === 'Escape') onClose();
    // As the button does it, and not the browser.
    if (event.code !== 'KeyP' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!event.repeat) print();
  }, true);
  useEffect(() => {
    const root = document.getElementById('root');
    const before = document.activeElement;
    if (root) root.inert = true;
    dialog.current?.focus();
    return () => {
      if (root) root.inert = false;
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return createPortal(
    <section
      ref={dialog}
      className={`print-view ${className}`}
      role="dialog"
      aria-modal="true"
      aria-label={title}
      tabIndex={-1}
    >
      <header className="row print-head">
        <Button kind="main" aria-disabled={!isReady} onClick={print}>
          {t('print.print')}
        </Button>
        <Button onClick={onClose}>{t('common:action.close')}</Button>
        {choices}
      </header>
      {children}
    </section>,
    document.body,
  );
}
