import { type ReactNode, useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, CopyButton } from './button.tsx';
import { Dialog, useCloseGuard } from './form-dialog.tsx';

interface ShownOnceProps {
  /** What is copied, and shown unless `children` show it. */
  text: string;
  /** The name of the button that copies. */
  copy: string;
  /** Says that it is shown this once. */
  note?: string;
  /** What to do with it. */
  about?: string;
  /** How it is shown. */
  children?: ReactNode;
  onClose: () => void;
}

/** A dialog with what is shown this once. Until it is copied, or the person says that it is saved, the dialog asks before it closes. */
export function ShownOnce({ title, ...shown }: ShownOnceProps & { title: string }): ReactNode {
  return (
    <Dialog title={title} onClose={shown.onClose}>
      <Content {...shown} />
    </Dialog>
  );
}

function Content(props: ShownOnceProps): ReactNode {
  const { text, copy, note, about, children = <SecretText text={text} />, onClose } = props;
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
      {note && <p className="note note-warn">{note}</p>}
      {children}
      {about && <p className="hint">{about}</p>}
      <div role="alert">{isAsked && !isSafe && <p className="note note-warn">{t('once.ask')}</p>}</div>
      <div className="row">
        <CopyButton text={text} label={copy} isFirst onCopied={() => setSafe(true)} />
        <Button onClick={onClose}>{t('once.saved')}</Button>
      </div>
    </div>
  );
}

/** A key, a secret or a command, which wraps where it must. */
export function SecretText({ text }: { text: string }): ReactNode {
  return (
    <pre className="code secret" dir="ltr">
      {text}
    </pre>
  );
}
