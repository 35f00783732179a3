import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** What the form of a dialog does, and the way out of it. */
export function FormButtons(props: {
  submit: string;
  isBusy?: boolean;
  isBad?: boolean;
  onClose: () => void;
}): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="row">
      <button type="submit" className={`button ${props.isBad ? 'button-bad' : 'button-main'}`} disabled={props.isBusy}>
        {props.submit}
      </button>
      <button type="button" className="button" onClick={props.onClose}>
        {t('action.cancel')}
      </button>
    </div>
  );
}
