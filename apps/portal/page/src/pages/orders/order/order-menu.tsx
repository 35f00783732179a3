import { AlarmClock, Printer } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ActionMenu } from '../../../components/action-menu.tsx';

/** What a reviewer seldom does with the open order. */
export function OrderMenu(props: {
  onPrint: () => void;
  /** Absent if the order does not need review. */
  onSnooze: (() => void) | undefined;
}): ReactNode {
  const { onPrint, onSnooze } = props;
  const { t } = useTranslation('review');
  return (
    <ActionMenu
      label={t('order.more')}
      actions={[
        { name: t('print.print'), Icon: Printer, run: onPrint },
        ...(onSnooze ? [{ name: t('snooze.menu'), Icon: AlarmClock, run: onSnooze }] : []),
      ]}
    />
  );
}
