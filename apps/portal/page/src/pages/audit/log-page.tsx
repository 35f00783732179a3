import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useAccountId } from '../../api/session.ts';
import { AuditList } from './audit-list.tsx';

/** The audit trail of one account. */
export function LogPage(): ReactNode {
  const { t } = useTranslation('audit');
  const accountId = useAccountId();
  return (
    <div className="stack">
      <h1>{t('title')}</h1>
      <AuditList path={`/accounts/${accountId}/audit`} />
    </div>
  );
}
