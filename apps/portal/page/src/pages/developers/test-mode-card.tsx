import { FlaskConical } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useSearch } from 'wouter';
import { useAccountId } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { useTestMode } from '../use-test-mode.ts';

/** Tells those who connect an account of test mode, where they would otherwise try it on the account itself. */
export function TestModeCard(): ReactNode {
  const { t } = useTranslation();
  const [location] = useLocation();
  const search = useSearch();
  // What offers it is there in the test account too.
  const mode = useTestMode(
    useAccountId(),
    () => `${location.replace(/^\/accounts\/\d+/, '')}${search && `?${search}`}`,
  );
  if (!mode || mode.isOn) return null;
  return (
    <Card
      title={t('testMode.switch')}
      about={t('testMode.about')}
      actions={
        <Button Icon={FlaskConical} disabled={mode.isBusy} onClick={mode.toggle}>
          {t('testMode.open')}
        </Button>
      }
    />
  );
}
