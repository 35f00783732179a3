import { type ReactNode, useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from './copy-button.tsx';
import { useCloseGuard } from './dialog.tsx';

/**
 * What a dialog shows this once. Until it is copied, or the person says that it is saved, the dialog asks before it closes.
 *
 * @param props.text what is copied.
 * @param props.children how it is shown, with what to do with it.
 */
export function ShownOnce(props: { text: string; copy: string; children: ReactNode; onClose: () => void }): ReactNode {
  const { t } = useTranslation();
  const [isSafe, setSafe] = useState(false);
  const [isAsked, setAsked] = useState(false);
  useCloseGuard(
    useCallback(() => {
      if (!isSafe) setAsked(true);
      return isSafe;
    }, [isSafe]),
  );
  return (
    <div className="stack">
      {props.children}
      <div role="alert">{isAsked && !isSafe && <p className="note note-warn">{t('once.ask')}</p>}</div>
      <div className="row">
        <CopyButton text={props.text} label={props.copy} isFirst onCopied={() => setSafe(true)} />
        <button type="button" className="button" onClick={props.onClose}>
          {t('once.saved')}
        </button>
      </div>
    </div>
  );
}
