import type { LucideIcon } from 'lucide-react';
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

/** A badge that says its text on hover and to screen readers; `shown` is what others see of it. */
export function Mark(props: {
  text: string;
  kind?: 'bad' | 'warn' | 'dot' | undefined;
  Icon?: LucideIcon;
  shown?: string | number;
  children?: ReactNode;
}): ReactNode {
  const { text, kind, Icon, shown, children } = props;
  return (
    <span className={kind === undefined ? 'badge' : `badge badge-${kind}`} title={text}>
      {Icon && <Icon aria-hidden="true" size={12} />}
      {shown !== undefined && <span aria-hidden="true">{shown}</span>}
      {children}
      <span className="visually-hidden">{text}</span>
    </span>
  );
}
