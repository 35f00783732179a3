import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';

const REASONS = ['cancelled', 'duplicate', 'unreachable', 'outOfArea', 'unavailable'] as const;

/** Asks for a reason: a common one or free text. */
export function RejectDialog({
  count,
  onReject,
  onClose,
}: {
  count: number;
  onReject: (reason: string) => void;
  onClose: () => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const [chosen, setChosen] = useState<string | null>(null);
  const [own, setOwn] = useState('');
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const reason = chosen === 'own' ? own.trim() : chosen && t(`reject.reasons.${chosen}`);
  const radio = (value: string, text: string) => (
    <label key={value} className="radio">
      <input
        type="radio"
        name="reason"
        required
        value={value}
        checked={chosen === value}
        onChange={() => setChosen(value)}
      />
      {text}
    </label>
  );
  return (
    <Dialog title={t('reject.title', { count })} onClose={onClose}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason) onReject(reason);
        }}
      >
        <fieldset className="reasons">
          <legend>{t('reject.reason')}</legend>
          {REASONS.map((name) => radio(name, t(`reject.reasons.${name}`)))}
          {radio('own', t('reject.own'))}
        </fieldset>
        {chosen === 'own' && (
          <input
            aria-label={t('reject.own')}
            dir="auto"
            required
            maxLength={500}
            value={own}
            onChange={(event) => setOwn(event.target.value)}
          />
        )}
        <FormButtons submit={t('action.reject')} isDestructive onClose={onClose} />
      </form>
    </Dialog>
  );
}
