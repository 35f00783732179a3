import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useCan } from '../../api/permissions.ts';
import { useCloseRequest } from './use-close-request.ts';

/** For reviewers: marks the request to cancel an order as done. When it disappears, its section gets the focus. */
export function DoneButton(props: { orderId: number; number: string; name: string }): ReactNode {
  const can = useCan();
  return can('review') && <Button {...props} />;
}

function Button(props: { orderId: number; number: string; name: string }): ReactNode {
  const { orderId, number, name } = props;
  const { t } = useTranslation('review');
  const close = useCloseRequest(orderId, name);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const element = button.current;
    const section = element?.closest('section');
    return () => {
      if (document.activeElement === element) section?.focus();
    };
  }, []);
  return (
    <button
      ref={button}
      type="button"
      className="button"
      aria-label={t('cancellation.doneNamed', { number })}
      aria-disabled={close.isPending}
      onClick={() => !close.isPending && close.mutate()}
    >
      {t('cancellation.done')}
    </button>
  );
}
