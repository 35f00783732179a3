import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { NewKey } from '../../api/integrations.ts';
import { KeysCard } from './keys-card.tsx';
import { RejectedCard } from './rejected-card.tsx';
import { ResendsCard } from './resends-card.tsx';
import { SnippetsCard } from './snippets-card.tsx';
import { TestOrderCard } from './test-order-card.tsx';
import { WebhookCard } from './webhook-card.tsx';
import './integrations.css';

/** Everything for a shop's developer. Texts of keys and secrets live only in this component's state. */
export function IntegrationsPage(): ReactNode {
  const { t } = useTranslation('integrations');
  const [newKey, setNewKey] = useState<NewKey | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <div className="stack integrations">
      <h1>{t('title')}</h1>
      <KeysCard newKey={newKey} onNewKey={setNewKey} />
      <WebhookCard onSecret={setSecret} />
      <SnippetsCard newKey={newKey} secret={secret} onForget={() => setNewKey(null)} />
      <TestOrderCard />
      <ResendsCard />
      <RejectedCard />
    </div>
  );
}
