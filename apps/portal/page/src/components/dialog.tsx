import { X } from 'lucide-react';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import './dialog.css';

const FIELD = 'input:not([type="hidden"], [hidden], [readonly]), select, textarea';

/**
 * A modal dialog, open while rendered. The focus goes to its first field or, without one, to the dialog itself, so that a second Enter neither
 * closes it nor decides. Closing it restores the focus.
 */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}): ReactNode {
  const { t } = useTranslation();
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    (element?.querySelector<HTMLElement>(FIELD) ?? element)?.focus();
    // Removing the element does not restore the focus; closing the dialog does.
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      tabIndex={-1}
      aria-labelledby={titleId}
      onClose={(event) => event.currentTarget.open || onClose()}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <button type="button" className="icon-button" aria-label={t('action.close')} onClick={onClose}>
          <X aria-hidden="true" size={18} />
        </button>
      </header>
      {children}
    </dialog>
  );
}
