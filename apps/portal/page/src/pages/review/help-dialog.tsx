import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Permission } from '../../api/session.ts';
import { useCan } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { HelpLink } from '../../components/help-link.tsx';

const KEYS: [keys: string[], name: string, permission?: Permission][] = [
  [['J', '↓'], 'next'],
  [['K', '↑'], 'previous'],
  [['Enter'], 'open'],
  [['C'], 'confirm', 'review'],
  [['R'], 'reject', 'review'],
  [['E'], 'edit', 'review'],
  [['X'], 'select', 'review'],
  [['U'], 'undo', 'review'],
  [['/'], 'search'],
  [['Esc'], 'back'],
  [['?'], 'help'],
];

/** Lists the shortcuts that the user may use, with a switch for single-key ones. */
export function HelpDialog({
  isOn,
  onSwitch,
  onClose,
}: {
  isOn: boolean;
  onSwitch: (on: boolean) => void;
  onClose: () => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const can = useCan();
  return (
    <Dialog title={t('help.title')} onClose={onClose}>
      <div className="stack">
        <dl className="keys">
          {KEYS.filter(([, , permission]) => permission === undefined || can(permission)).map(([keys, name]) => (
            <div key={name}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{t(`help.${name}`)}</dd>
            </div>
          ))}
        </dl>
        <label className="row">
          <input type="checkbox" checked={isOn} onChange={(event) => onSwitch(event.target.checked)} />
          {t('help.switch')}
        </label>
        <p className="hint">{t('help.switchHint')}</p>
        <HelpLink page="shortcuts" />
      </div>
    </Dialog>
  );
}
