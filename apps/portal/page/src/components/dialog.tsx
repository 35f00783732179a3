import { X } from 'lucide-react';
import { createContext, type ReactNode, useCallback, useContext, useId, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import './dialog.css';

/** What gets the focus first: a field, or the button marked as the safe one. */
const FIRST_FOCUS = [
  ':is(input:not([type="hidden"], [hidden], [readonly], [type="radio"]:not(:checked)), select, textarea):enabled',
  '[data-autofocus]',
];

/** Asked before the dialog closes by Esc, the way back of a phone, or its button; false keeps it open. */
type Guard = () => boolean;

const GuardContext = createContext<(guard: Guard | null) => void>(() => {});

/** Has the dialog around it ask `mayClose` before somebody closes it. */
export function useCloseGuard(mayClose: Guard): void {
  const setGuard = useContext(GuardContext);
  useLayoutEffect(() => {
    setGuard(mayClose);
    return () => setGuard(null);
  }, [setGuard, mayClose]);
}

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
  const guard = useRef<Guard | null>(null);
  const setGuard = useCallback((next: Guard | null) => {
    guard.current = next;
  }, []);
  const mayClose = () => guard.current === null || guard.current();
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
      onClose={({ currentTarget }) => {
        if (!currentTarget.isConnected || currentTarget.open) return;
        // A browser lets a page prevent that Esc closes a dialog only once.
        if (mayClose()) onClose();
        else currentTarget.showModal();
      }}
      onCancel={(event) => {
        if (event.target === event.currentTarget && !mayClose()) event.preventDefault();
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <button
          type="button"
          className="icon-button"
          aria-label={t('action.close')}
          onClick={() => mayClose() && onClose()}
        >
          <X aria-hidden="true" size={18} />
        </button>
      </header>
      <GuardContext value={setGuard}>{children}</GuardContext>
    </dialog>
  );
}
