import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Receipt } from '../api/receipts.ts';

const KINDS: Partial<Record<Receipt['status'], string>> = {
  written: 'badge-good',
  failed: 'badge-warn',
  dead: 'badge-bad',
};

/** A receipt's state. */
export function StateBadge({ state }: { state: Receipt['status'] }): ReactNode {
  const { t } = useTranslation('receipts');
  return <span className={`badge ${KINDS[state] ?? ''}`}>{t(`state.${state}`)}</span>;
}
