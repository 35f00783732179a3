import { FlaskConical } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'wouter';
import { useAccount } from '../api/session.ts';
import { Switch } from '../components/segments.tsx';
import { samePage } from './pages.ts';
import { useTestMode } from './use-test-mode.ts';

/** Opens and leaves the test account of an account, on the same page of the portal. */
export function TestSwitch({ accountId }: { accountId: number | undefined }): ReactNode {
  const { t } = useTranslation();
  const [location] = useLocation();
  const mode = useTestMode(accountId, (can) => samePage(location, can));
  if (!mode) return null;
  return <Switch isOn={mode.isOn} isBusy={mode.isBusy} label={t('testMode.switch')} onClick={mode.toggle} />;
}

/** Says on each page of a test account that it is one. */
export function TestNote({ accountId }: { accountId: number | undefined }): ReactNode {
  const { t } = useTranslation();
  const liveId = useAccount(accountId)?.test_of;
  if (!liveId) return null;
  return (
    <p className="note note-warn">
      <FlaskConical aria-hidden="true" size={16} />
      <span>
        {t('testMode.note')} <Link href={`/accounts/${liveId}/orders`}>{t('testMode.leave')}</Link>
      </span>
    </p>
  );
}
