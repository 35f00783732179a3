import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Permission, useCan } from '../../api/session.ts';
import { Dialog } from '../../components/form-dialog.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { PALETTE_KEY, useKeyDown } from '../../components/use-key-down.ts';

const KEYS: [keys: string[], name: string, permission?: Permission][] = [
  [['J', '↓'], 'next'],
  [['K', '↑'], 'previous'],
  [['Enter'], 'open'],
  [['N'], 'nextForMe', 'review'],
  [['C'], 'confirm', 'review'],
  [['R'], 'reject', 'review'],
  [['E'], 'edit', 'review'],
  [['V'], 'newVersion', 'review'],
  [['X'], 'select', 'review'],
  [['U'], 'undo', 'review'],
  [['P'], 'print', 'review'],
  [['/'], 'search'],
  [[PALETTE_KEY], 'palette'],
  [['Esc'], 'back'],
  [['?'], 'help'],
];

/** Lists the shortcuts that the user may use, with a switch for single-key ones. */
export function HelpDialog(props: { isOn: boolean; onSwitch: (on: boolean) => void; onClose: () => void }): ReactNode {
  const { isOn, onSwitch, onClose } = props;
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

const STORED = 'shortcuts';

/** Whether single-key shortcuts are on (WCAG 2.1.4); stored on this device. */
export function useShortcutSetting(): [boolean, (on: boolean) => void] {
  const [on, setOn] = useState(() => localStorage.getItem(STORED) !== 'off');
  const change = (isOn: boolean) => {
    localStorage.setItem(STORED, isOn ? 'on' : 'off');
    setOn(isOn);
  };
  return [on, change];
}

/** Actions by the key's name, see `nameOf`. */
type Shortcuts = Record<string, (() => void) | undefined>;

/** Holding these keys down repeats their action; all others act once a press. */
const REPEATED_KEYS = new Set(['j', 'k', 'arrowdown', 'arrowup']);
const OTHER_SCRIPT = /^(?!\p{Script=Latin})\p{L}/u;

/**
 * The key's letter or name in lower case. On keyboards of another script it is the Latin letter at the key's place, so that shortcuts
 * work there too; Latin layouts differ in their places, so there the printed letter counts.
 */
function nameOf({ key, code }: KeyboardEvent): string {
  if (key === '؟') return '?';
  if (!OTHER_SCRIPT.test(key)) return key.toLowerCase();
  return code === 'Slash' ? '/' : code.replace(/^Key/, '').toLowerCase();
}

/** Keys that print no character; they work even if single-key shortcuts are off. */
const SILENT_KEYS = new Set(['arrowdown', 'arrowup', 'enter', 'escape']);
const TYPING = 'input:not([type="checkbox"], [type="radio"]), select, textarea, [contenteditable]';

/** Whether arrows and Enter have no other function at the focused element. */
function isFree(target: Element, key: string): boolean {
  if (target === document.body || target.id === 'content') return true;
  return target.closest('.order-row') !== null && !(key === 'enter' && target.closest('a'));
}

/** Handles shortcuts of the whole page, except while typing, in a dialog or menu, or with a modifier key. */
export function useShortcuts(shortcuts: Shortcuts, singleKeysOn: boolean): void {
  useKeyDown((event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest(TYPING) || document.querySelector('dialog[open], [aria-modal], :popover-open')) return;
    const key = nameOf(event);
    const run = shortcuts[key];
    if (!run || (SILENT_KEYS.has(key) ? key !== 'escape' && !isFree(target, key) : !singleKeysOn)) return;
    event.preventDefault();
    if (!event.repeat || REPEATED_KEYS.has(key)) run();
  });
}
