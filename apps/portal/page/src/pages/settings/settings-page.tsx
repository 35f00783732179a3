import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { type ChangedDeliveriesChoice, useChangedDeliveriesChoice } from '../../api/integrations.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { Card } from '../../components/card.tsx';
import { RadioChoice } from '../../components/field.tsx';
import { Loaded, ProblemNote, Skeleton } from '../../components/loaded.tsx';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { useAction } from '../../components/use-action.ts';

const CHOICES: ChangedDeliveriesChoice[] = ['ignore', 'hold'];

/** What the account chose. */
export function SettingsPage(): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="stack readable">
      <PageHeader title={t('nav.settings')} />
      <ChangedDeliveriesCard />
    </div>
  );
}

/** The account's setting for an order in review that is sent again with other content. */
function ChangedDeliveriesCard(): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const query = useChangedDeliveriesChoice(accountId);
  const can = useCan();
  // The mutation reports its variables only after the click's render. Without this state, React would uncheck the radio button.
  const [chosen, setChosen] = useState<ChangedDeliveriesChoice | null>(null);
  const saving = useAction({
    mutationFn: (resends: ChangedDeliveriesChoice) =>
      call('PUT', `/accounts/${accountId}/resends`, { body: { resends } }),
    onSuccess: (_, resends) => void queryClient.setQueryData(['resends', accountId], resends),
    onSettled: () => setChosen(null),
  });
  const choose = (resends: ChangedDeliveriesChoice) => {
    if (chosen) return;
    setChosen(resends);
    saving.mutate(resends);
  };
  return (
    <Card
      title={t('resends.title')}
      about={t('resends.about')}
      actions={<HelpLink page="changed-orders" anchor="hold" />}
    >
      <Loaded query={query} skeleton={<Skeleton count={2} />}>
        {(choice) => (
          <RadioChoice
            label={t('resends.title')}
            hidesLabel
            options={CHOICES.map((value) => ({
              value,
              name: t(`resends.${value}`),
              about: t(`resends.${value}About`),
            }))}
            value={chosen ?? choice}
            disabled={!can('develop')}
            onChange={choose}
          />
        )}
      </Loaded>
      {saving.error !== null && <ProblemNote error={saving.error} />}
      <p className="hint" role="status">
        {saving.isSuccess && t('resends.saved')}
      </p>
    </Card>
  );
}
