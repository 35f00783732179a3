import type { ReactNode } from 'react';
import { useRoute } from 'wouter';
import { ReceiptList } from './receipt-list.tsx';
import { ReceiptView } from './receipt-view.tsx';
import './receipts.css';

/** The list of receipts, or one receipt. */
export function ReceiptsPage(): ReactNode {
  const [, match] = useRoute('/accounts/:accountId/receipts/:receiptId');
  return match ? <ReceiptView key={match.receiptId} receiptId={match.receiptId} /> : <ReceiptList />;
}
