import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { renewRecoveryCodes } from '../../api/second-factors.ts';
import { Confirm } from '../../components/confirm.tsx';

/** Shows how many recovery codes are left, and replaces them. */
export function RecoveryCodesCard(props: { left: number; onRenewed: (codes: string[]) => void }): ReactNode {
  const { left, onRenewed } = props;
  const { t } = useTranslation('signIn');
  const [isAsking, setAsking] = useState(false);
  return (
    <section className="card stack">
      <h2>{t('recovery.title')}</h2>
      <p>{t('recovery.about')}</p>
      <p>{t('recovery.left', { count: left })}</p>
      <div>
        <button type="button" className="button" onClick={() => setAsking(true)}>
          {t('recovery.renew')}
        </button>
      </div>
      {isAsking && (
        <Confirm
          title={t('recovery.renew')}
          text={t('recovery.renewAsk')}
          label={t('recovery.renew')}
          action={async () => onRenewed(await renewRecoveryCodes())}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}
