import { UserPlus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useAccountId, useCan } from '../../../api/session.ts';
import { PRESETS } from '../../../api/sources.ts';
import { Card } from '../../../components/card.tsx';
import { newSourceHref, tabHref } from '../../addresses.ts';
import { TestModeCard } from '../../developers/test-mode-card.tsx';
import { TestOrderCard } from '../../developers/test-order-card.tsx';

/** What an account without orders can do next: connect a shop, send a test order, invite people. */
export default function FirstSteps(): ReactNode {
  const { t } = useTranslation(['sources', 'review']);
  const accountId = useAccountId();
  const can = useCan();
  return (
    <div className="stack first-steps">
      <Card title={t('review:list.connect')} about={t('review:list.connectAbout')}>
        <ul className="plain row">
          {PRESETS.map((preset) => (
            <li key={preset}>
              <Link className="button" href={newSourceHref(accountId, preset)}>
                {t(`preset.${preset}`)}
              </Link>
            </li>
          ))}
          <li>
            <Link className="button" href={`/accounts/${accountId}/upload`}>
              {t('common:nav.upload')}
            </Link>
          </li>
          <li>
            <Link className="button" href={tabHref(accountId, 'keys')}>
              {t('review:list.ownSystem')}
            </Link>
          </li>
        </ul>
      </Card>
      <TestOrderCard />
      <TestModeCard />
      {can('manage') && (
        <Card
          title={t('review:list.invite')}
          about={t('review:list.inviteAbout')}
          actions={
            <Link className="button" href={`/accounts/${accountId}/users`}>
              <UserPlus aria-hidden="true" size={16} />
              {t('common:nav.people')}
            </Link>
          }
        />
      )}
    </div>
  );
}
