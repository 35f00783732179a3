import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import './dialog.css';

/** A modal dialog, open while rendered. Closing it restores the focus. */
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
    // Removing the element does not restore the focus; closing the dialog does.
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={titleId}
      onClose={(event) => event.currentTarget.open || onClose()}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <button type="button" className="icon-button" aria-label={t('action.close')} onClick={onClose}>
          ×
        </button>
      </header>
      {children}
    </dialog>
  );
}
