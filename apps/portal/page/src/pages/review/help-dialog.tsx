import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../components/dialog.tsx';
import { HelpLink } from '../../components/help-link.tsx';

const KEYS: [keys: string[], name: string][] = [
  [['J', '↓'], 'next'],
  [['K', '↑'], 'previous'],
  [['Enter'], 'open'],
  [['C'], 'confirm'],
  [['R'], 'reject'],
  [['E'], 'edit'],
  [['X'], 'select'],
  [['U'], 'undo'],
  [['/'], 'search'],
  [['Esc'], 'back'],
  [['?'], 'help'],
];

/** Lists the shortcuts, with a switch for single-key ones. */
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
  return (
    <Dialog title={t('help.title')} onClose={onClose}>
      <div className="stack">
        <dl className="keys">
          {KEYS.map(([keys, name]) => (
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
