import { CircleCheck, CircleDashed } from 'lucide-react';
import { type ReactNode, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { type NewKey, useSetup } from '../../api/integrations.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Skeleton } from '../../components/loaded.tsx';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { TABS, tabHref, useTab } from '../addresses.ts';
import { lazyPage } from '../lazy-page.tsx';
import { KeysCard } from './keys-card.tsx';
import { SnippetsCard } from './snippets-card.tsx';
import { TestModeCard } from './test-mode-card.tsx';
import { TestOrderCard } from './test-order-card.tsx';
import { WebhookCard } from './webhook-card.tsx';
import './developers.css';

const EventsTab = lazyPage('events', () => import('./events/events-tab.tsx'), ['events']);

/** How systems of the account's own send orders and receive events. Texts of keys and secrets live only in this component's state. */
export default function DevelopersPage(): ReactNode {
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
    <div className="stack">
      <PageHeader
        title={t('common:nav.developers')}
        about={t('about')}
        tabs={TABS.map((name) => ({ name: t(`tab.${name}`), href: tabHref(accountId, name), isCurrent: name === tab }))}
      >
        <HelpLink page="connect-shop" />
      </PageHeader>
      {can('develop') && <SetupCard />}
      {tab === 'keys' && <KeysCard newKey={newKey} onNewKey={setNewKey} />}
      {(tab === 'keys' || tab === 'try') && <TestModeCard />}
      <Suspense fallback={<Skeleton shape="blocks" />}>{tab === 'events' && <EventsTab />}</Suspense>
      {tab === 'webhook' && <WebhookCard onSecret={setSecret} />}
      {tab === 'try' && (
        <>
          {can('develop') && <TestOrderCard />}
          <SnippetsCard newKey={newKey} secret={secret} onForget={forget} />
        </>
      )}
    </div>
  );
}

/** The first steps of a new account. It is gone once all are done or somebody has hidden it. */
function SetupCard(): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const stored = `setup-hidden:${accountId}`;
  const [isHidden, setHidden] = useState(() => localStorage.getItem(stored) !== null);
  const { data: setup } = useSetup(accountId, !isHidden);
  if (isHidden || !setup) return null;
  const steps = [
    { name: 'key', isDone: setup.has_key, href: tabHref(accountId, 'keys') },
    { name: 'test', isDone: setup.has_order, href: tabHref(accountId, 'try') },
    { name: 'review', isDone: setup.has_decision, href: `/accounts/${accountId}/orders` },
    { name: 'send', isDone: setup.has_sent, href: tabHref(accountId, 'try') },
  ];
  if (steps.every(({ isDone }) => isDone)) return null;
  const next = steps.find(({ isDone }) => !isDone)?.name;
  const hide = () => {
    localStorage.setItem(stored, 'yes');
    setHidden(true);
  };
  return (
    <Card
      title={t('setup.title')}
      className="stack-tight"
      actions={
        <Button kind="quiet" onClick={hide}>
          {t('setup.hide')}
        </Button>
      }
    >
      <ol className="plain setup-steps">
        {steps.map(({ name, isDone, href }) => (
          <li key={name} className={isDone ? 'is-done' : undefined}>
            {isDone ? <CircleCheck aria-hidden="true" size={18} /> : <CircleDashed aria-hidden="true" size={18} />}
            <div>
              {isDone ? t(`setup.${name}`) : <Link href={href}>{t(`setup.${name}`)}</Link>}
              {isDone && <span className="visually-hidden"> {t('setup.done')}</span>}
              {name === next && <p className="hint">{t(`setup.${name}About`)}</p>}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
