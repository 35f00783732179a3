import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useAccountId } from '../../api/session.ts';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { AuditList } from './audit-list.tsx';

/** The audit trail of one account. */
export default function LogPage(): ReactNode {
  const { t } = useTranslation('audit');
  const accountId = useAccountId();
  return (
    <div className="stack">
      <PageHeader title={t('common:nav.log')} about={t('aboutPage')}>
        <HelpLink page="activity-log" />
      </PageHeader>
      <AuditList path={`/accounts/${accountId}/audit`} searchHint={t('searchHint')} />
    </div>
  );
}
