import { type ReactNode, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { NewKey } from '../../api/integrations.ts';
import { useCan } from '../../api/permissions.ts';
import { useAccountId } from '../../api/session.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { TabLinks } from '../../components/tab-links.tsx';
import { lazyPage } from '../lazy-page.tsx';
import { KeysCard } from './keys-card.tsx';
import { RejectedCard } from './rejected-card.tsx';
import { ResendsCard } from './resends-card.tsx';
import { SetupCard } from './setup-card.tsx';
import { SnippetsCard } from './snippets-card.tsx';
import { TABS, tabHref, useTab } from './tabs.ts';
import { TestOrderCard } from './test-order-card.tsx';
import { WebhookCard } from './webhook-card.tsx';
import './integrations.css';

const SourcesTab = lazyPage('sources', async () => (await import('./sources/sources-tab.tsx')).SourcesTab, [
  'sources',
  'review',
]);

const EventsTab = lazyPage('events', async () => (await import('./events/events-tab.tsx')).EventsTab, ['events']);

/** How a shop's systems send orders. Texts of keys and secrets live only in this component's state. */
export function IntegrationsPage(): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const can = useCan();
  const tab = useTab();
  const [newKey, setNewKey] = useState<NewKey | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const forget = () => {
    setNewKey(null);
    setSecret(null);
  };
  return (
    <div className="stack integrations">
      <PageHeader title={t('title')} about={t('about')}>
        <HelpLink page="connect-shop" />
      </PageHeader>
      {can('develop') && <SetupCard />}
      <TabLinks
        label={t('title')}
        tabs={TABS.map((name) => ({
          name: t(`tab.${name}`),
          href: tabHref(accountId, name),
          isCurrent: name === tab,
        }))}
      />
      {tab === 'keys' && <KeysCard newKey={newKey} onNewKey={setNewKey} />}
      {tab === 'sources' && (
        <Suspense fallback={<Skeleton shape="blocks" />}>
          <SourcesTab />
        </Suspense>
      )}
      {tab === 'events' && (
        <Suspense fallback={<Skeleton shape="blocks" />}>
          <EventsTab />
        </Suspense>
      )}
      {tab === 'webhook' && <WebhookCard onSecret={setSecret} />}
      {tab === 'try' && (
        <>
          {can('develop') && <TestOrderCard />}
          <SnippetsCard newKey={newKey} secret={secret} onForget={forget} />
        </>
      )}
      {tab === 'resends' && <ResendsCard />}
      {tab === 'rejected' && <RejectedCard />}
    </div>
  );
}
