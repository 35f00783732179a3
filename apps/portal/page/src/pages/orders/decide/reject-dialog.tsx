import { type ReactNode, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useTranslation } from 'react-i18next';
import { FormDialog } from '../../../components/form-dialog.tsx';

const REASONS = ['cancelled', 'duplicate', 'unreachable', 'outOfArea', 'unavailable', 'own'] as const;

/** Asks why orders are rejected. @param props.number of a single order. */
export function RejectDialog(props: {
  count: number;
  number?: string | undefined;
  onReject: (reason: string) => void;
  onClose: () => void;
}): ReactNode {
  const { count, number, onReject, onClose } = props;
  const { t } = useTranslation('review');
  const title = number !== undefined && count === 1 ? t('reject.named', { number }) : t('reject.title', { count });
  return <ReasonDialog title={title} submit={t('action.reject')} onReason={onReject} onClose={onClose} />;
}

const NO_ACTION = { isPending: false, error: null };

/** Asks for a reason: a common one, also by its digit key, or free text. */
export function ReasonDialog(props: {
  title: string;
  submit: string;
  /** What `onReason` started; absent if it does not fail. */
  action?: { isPending: boolean; error: Error | null };
  onReason: (reason: string) => void;
  onClose: () => void;
  /** Shown above the reasons. */
  children?: ReactNode;
}): ReactNode {
  const { title, submit, action = NO_ACTION, onReason, onClose, children } = props;
  const { t } = useTranslation('review');
  const [chosen, setChosen] = useState<(typeof REASONS)[number] | null>(null);
  const [own, setOwn] = useState('');
  const reasons = useRef<HTMLFieldSetElement>(null);
  useEffect(() => reasons.current?.querySelector('input')?.focus(), []);
  const reason = chosen === 'own' ? own.trim() : chosen && t(`reject.reasons.${chosen}`);
  return (
    <FormDialog
      title={title}
      submit={submit}
      action={{ isPending: action.isPending, error: action.error, mutate: () => reason && onReason(reason) }}
      isDestructive
      onKeyDown={(event) => {
        // The position of the key, because not every keyboard layout has these digits.
        const digit = Number(/^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1]);
        const name = REASONS[digit - 1];
        const isTyping = event.target instanceof HTMLInputElement && event.target.type === 'text';
        if (!name || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        flushSync(() => setChosen(name));
        const input = name === 'own' ? 'input[type="text"]' : `[value="${name}"]`;
        event.currentTarget.querySelector<HTMLInputElement>(input)?.focus();
      }}
      onClose={onClose}
    >
      {children}
      <fieldset ref={reasons} className="reasons">
        <legend>{t('reject.reason')}</legend>
        {REASONS.map((name, index) => (
          <label key={name} className="radio">
            <input
              type="radio"
              name="reason"
              required
              value={name}
              checked={chosen === name}
              onChange={() => setChosen(name)}
            />
            <span>{t(name === 'own' ? 'reject.own' : `reject.reasons.${name}`)}</span>
            <span className="reason-key" aria-hidden="true">
              {index + 1}
            </span>
          </label>
        ))}
      </fieldset>
      {chosen === 'own' && (
        <input
          type="text"
          aria-label={t('reject.own')}
          dir="auto"
          required
          maxLength={500}
          value={own}
          onChange={(event) => setOwn(event.target.value)}
        />
      )}
    </FormDialog>
  );
}
