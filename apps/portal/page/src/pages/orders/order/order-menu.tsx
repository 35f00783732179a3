import { AlarmClock, Ellipsis, Printer } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Popover } from '../../../components/popover.tsx';

/** What a reviewer seldom does with the open order. */
export function OrderMenu(props: {
  onPrint: () => void;
  /** Absent if the order does not need review. */
  onSnooze: (() => void) | undefined;
}): ReactNode {
  const { onPrint, onSnooze } = props;
  const { t } = useTranslation('review');
  const label = <Ellipsis aria-hidden="true" size={18} />;
  return (
    <Popover label={label} title={t('order.more')} name={t('order.more')} className="icon-button" width={240}>
      {(close) => {
        const run = (action: () => void) => () => {
          close();
          action();
        };
        return (
          <ul className="plain menu-list">
            <li>
              <button type="button" className="menu-item" onClick={run(onPrint)}>
                {t('print.print')}
                <Printer aria-hidden="true" size={16} />
              </button>
            </li>
            {onSnooze && (
              <li>
                <button type="button" className="menu-item" onClick={run(onSnooze)}>
                  {t('snooze.menu')}
                  <AlarmClock aria-hidden="true" size={16} />
                </button>
              </li>
            )}
          </ul>
        );
      }}
    </Popover>
  );
}
