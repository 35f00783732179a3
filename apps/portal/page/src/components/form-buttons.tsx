import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** Submit and cancel buttons of a dialog's form. */
export function FormButtons(props: {
  submit: string;
  cancel?: string;
  isBusy?: boolean;
  isDestructive?: boolean;
  onClose: () => void;
}): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="row">
      <button
        type="submit"
        className={`button ${props.isDestructive ? 'button-bad' : 'button-main'}`}
        disabled={props.isBusy}
      >
        {props.submit}
      </button>
      <button
        type="button"
        className="button"
        data-autofocus={props.isDestructive ? true : undefined}
        onClick={props.onClose}
      >
        {props.cancel ?? t('action.cancel')}
      </button>
    </div>
  );
}
