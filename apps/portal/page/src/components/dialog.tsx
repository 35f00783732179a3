import { X } from 'lucide-react';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import './dialog.css';

/** What gets the focus first: a field, or the button marked as the safe one. */
const FIRST_FOCUS = [
  ':is(input:not([type="hidden"], [hidden], [readonly], [type="radio"]:not(:checked)), select, textarea):enabled',
  '[data-autofocus]',
];

/**
 * A modal dialog, open while rendered. Without a field or a safe button, the dialog itself has the focus, so that a second Enter neither
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
    const found = FIRST_FOCUS.map((candidates) => element?.querySelector<HTMLElement>(candidates));
    (found.find(Boolean) ?? element)?.focus();
    // Removing the element does not restore the focus; closing the dialog does.
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      tabIndex={-1}
      aria-labelledby={titleId}
      // The event comes later: this dialog may be gone, and another one open.
      onClose={({ currentTarget: { isConnected, open } }) => isConnected && !open && onClose()}
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
