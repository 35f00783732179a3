import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Field } from '../../components/field.tsx';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { useDebounced } from '../../components/use-debounced.ts';
import { AuditList } from '../activity/audit-list.tsx';

/** The audit trail of all accounts. */
export default function OperatorLogPage(): ReactNode {
  const { t } = useTranslation('audit');
  const [account, setAccount] = useState('');
  const accountId = useDebounced(/^\d{1,9}$/.test(account.trim()) ? account.trim() : '');
  return (
    <div className="stack">
      <PageHeader title={t('common:nav.operatorLog')} about={t('aboutAll')}>
        <HelpLink page="activity-log" />
      </PageHeader>
      <AuditList
        path="/operator/audit"
        accountId={accountId}
        searchHint={t('searchHintAll')}
        filter={<Field label={t('accountId')} inputMode="numeric" dir="ltr" value={account} onChange={setAccount} />}
      />
    </div>
  );
}
