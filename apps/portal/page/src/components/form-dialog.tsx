import { X } from 'lucide-react';
import {
  type ComponentProps,
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import { Button, type ButtonProps, IconButton } from './button.tsx';
import { FieldError } from './field.tsx';
import { findInvalid, type InvalidField, InvalidFieldContext } from './invalid-field.tsx';
import { ProblemNote } from './loaded.tsx';
import { useAction } from './use-action.ts';

/** What `useAction` returns, as far as a form needs it. */
interface Action {
  mutate: () => void;
  isPending: boolean;
  error: Error | null;
}

type FormProps = Omit<ComponentProps<'form'>, 'action' | 'onSubmit'> & {
  /** Runs when the form is submitted, unless `onSubmit` takes its place. */
  action?: Pick<Action, 'mutate'>;
  onSubmit?: () => void;
};

/**
 * A form that never loads another page. The first field that is not valid gets the focus and says why, or the end of the form does. Double
 * submits are the concern of `useAction`.
 */
export function Form({ action, onSubmit, className = 'stack', children, ...form }: FormProps): ReactNode {
  const { t } = useTranslation();
  const [invalid, setInvalid] = useState<InvalidField | null>(null);
  return (
    <InvalidFieldContext value={invalid}>
      <form
        {...form}
        className={className}
        onInvalidCapture={(event) => {
          // Instead of the browser's own bubble.
          event.preventDefault();
          const found = findInvalid(event.currentTarget, t);
          if (found?.control !== event.target) return;
          found.control.focus();
          setInvalid(found.invalid);
        }}
        onInput={() => setInvalid(null)}
        onSubmit={(event) => {
          event.preventDefault();
          setInvalid(null);
          if (onSubmit) onSubmit();
          else action?.mutate();
        }}
      >
        {children}
        {invalid && !invalid.isExplained && (
          <FieldError text={[invalid.label, invalid.text].filter(Boolean).join(': ')} />
        )}
      </form>
    </InvalidFieldContext>
  );
}

/** Submits the form of an action, once. */
export function SubmitButton(props: ButtonProps & { action: Pick<Action, 'isPending'> }): ReactNode {
  const { action, ...button } = props;
  return <Button type="submit" kind="main" disabled={action.isPending} {...button} />;
}

/** Submit and cancel buttons of a form. With `isDestructive`, cancelling is the safe button, which has the focus. */
export function FormButtons(props: {
  submit: string;
  cancel?: string | undefined;
  isDisabled?: boolean;
  isDestructive?: boolean | undefined;
  onClose: () => void;
}): ReactNode {
  const { submit, cancel, isDisabled, isDestructive, onClose } = props;
  const { t } = useTranslation();
  return (
    <div className="row">
      <Button type="submit" kind={isDestructive ? 'bad' : 'main'} disabled={isDisabled}>
        {submit}
      </Button>
      <Button data-autofocus={isDestructive ? true : undefined} onClick={onClose}>
        {cancel ?? t('action.cancel')}
      </Button>
    </div>
  );
}

/** A dialog with a form. What was typed stays when its action fails, and the problem shows above the buttons. */
export function FormDialog(
  props: Omit<FormProps, 'action'> & {
    title: string;
    submit: string;
    cancel?: string;
    action?: Action;
    /** Whether a field says what the problem is. */
    isExplained?: boolean;
    /** Whether something is missing that the browser does not check. */
    isIncomplete?: boolean;
    isDestructive?: boolean;
    onClose: () => void;
  },
): ReactNode {
  const { title, submit, cancel, isExplained, isIncomplete = false, isDestructive, onClose, children, ...form } = props;
  const { action } = form;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form}>
        {children}
        {action?.error && !isExplained && <ProblemNote error={action.error} />}
        <FormButtons
          submit={submit}
          cancel={cancel}
          isDisabled={isIncomplete || action?.isPending === true}
          isDestructive={isDestructive}
          onClose={onClose}
        />
      </Form>
    </Dialog>
  );
}

/** Asks before a destructive action. If the action fails, it stays open and shows the error. */
export function Confirm(props: {
  title: string;
  text: string;
  /** Of the button; the title without it. */
  label?: string;
  action: () => Promise<unknown>;
  onClose: () => void;
}): ReactNode {
  const { title, text, label = title, onClose } = props;
  const action = useAction({ mutationFn: props.action, onSuccess: onClose });
  return (
    <FormDialog title={title} submit={label} action={action} isDestructive onClose={onClose}>
      <p>{text}</p>
    </FormDialog>
  );
}

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
export function Dialog(props: { title: string; onClose: () => void; children: ReactNode }): ReactNode {
  const { title, onClose, children } = props;
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
        <IconButton label={t('action.close')} Icon={X} onClick={() => mayClose() && onClose()} />
      </header>
      <GuardContext value={setGuard}>{children}</GuardContext>
    </dialog>
  );
}
