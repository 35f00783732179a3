import type { Account } from '@orders/database/accounts/accounts.ts';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useGet } from '../../api/queries.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { Card } from '../../components/card.tsx';
import { RadioChoice } from '../../components/field.tsx';
import { Loaded, ProblemNote, Skeleton } from '../../components/loaded.tsx';
import { formatMinutes } from '../../components/numbers.ts';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { Segments } from '../../components/segments.tsx';
import { useAction } from '../../components/use-action.ts';

interface ChangedDeliveries {
  resends: Account['resends'];
}

/** Within how many minutes of its receipt an order is to be decided. */
interface ReviewTarget {
  minutes: number | null;
}

const CHOICES: Account['resends'][] = ['ignore', 'hold'];

/** Minutes as text. */
const TARGETS: ('none' | `${number}`)[] = ['none', '15', '30', '60', '120', '240', '1440'];

/** What the account chose. */
export default function SettingsPage(): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="stack">
      <PageHeader title={t('nav.settings')} />
      <ChangedDeliveriesCard />
      <ReviewTargetCard />
    </div>
  );
}

/** The account's setting for an order in review that is sent again with other content. */
function ChangedDeliveriesCard(): ReactNode {
  const { t } = useTranslation('integrations');
  const queryClient = useQueryClient();
  const path = `/accounts/${useAccountId()}/resends`;
  const query = useGet([path], path, { select: ({ resends }: ChangedDeliveries) => resends });
  return (
    <SettingCard
      text="resends"
      help={<HelpLink page="changed-orders" anchor="hold" />}
      query={query}
      options={CHOICES.map((value) => ({ value, name: t(`resends.${value}`), about: t(`resends.${value}About`) }))}
      save={async (resends) => {
        await call('PUT', path, { body: { resends } });
        queryClient.setQueryData<ChangedDeliveries>([path], { resends });
      }}
    />
  );
}

/** The account's target for the time from the receipt of an order to its decision. */
function ReviewTargetCard(): ReactNode {
  const { t } = useTranslation('integrations');
  const queryClient = useQueryClient();
  const path = `/accounts/${useAccountId()}/review-target`;
  const query = useGet([path], path, {
    select: ({ minutes }: ReviewTarget) => (minutes === null ? 'none' : (`${minutes}` as const)),
  });
  // The API takes any number of minutes.
  const isListed = query.data === undefined || TARGETS.includes(query.data);
  return (
    <SettingCard
      text="reviewTarget"
      help={<HelpLink page="review-orders" anchor="target" />}
      query={query}
      options={[...TARGETS, ...(isListed ? [] : [query.data])].map((value) => ({
        value,
        name: value === 'none' ? t('reviewTarget.none') : formatMinutes(Number(value)),
      }))}
      save={async (target) => {
        const minutes = target === 'none' ? null : Number(target);
        await call('PUT', path, { body: { minutes } });
        queryClient.setQueryData<ReviewTarget>([path], { minutes });
      }}
    />
  );
}

/** A setting of the account, which is saved when an option is chosen. `text` names its texts. */
function SettingCard<Choice extends string>(props: {
  text: 'resends' | 'reviewTarget';
  help: ReactNode;
  query: UseQueryResult<Choice>;
  options: { value: Choice; name: string; about?: string }[];
  save: (choice: Choice) => Promise<void>;
}): ReactNode {
  const { text, help, query, options, save } = props;
  const Choices = options.some(({ about }) => about) ? RadioChoice : Segments;
  const { t } = useTranslation('integrations');
  const can = useCan();
  // The mutation reports its variables only after the click's render. Without this state, React would uncheck the radio button.
  const [chosen, setChosen] = useState<Choice | null>(null);
  const saving = useAction({ mutationFn: save, onSettled: () => setChosen(null) });
  const choose = (choice: Choice) => {
    if (chosen) return;
    setChosen(choice);
    saving.mutate(choice);
  };
  return (
    <Card title={t(`${text}.title`)} about={t(`${text}.about`)} actions={help}>
      <Loaded query={query} skeleton={<Skeleton count={2} />}>
        {(current) => (
          <Choices
            label={t(`${text}.title`)}
            hidesLabel
            options={options}
            value={chosen ?? current}
            disabled={!can('develop')}
            onChange={choose}
          />
        )}
      </Loaded>
      {saving.error !== null && <ProblemNote error={saving.error} />}
      <p className="hint" role="status">
        {saving.isSuccess && t(`${text}.saved`)}
      </p>
    </Card>
  );
}
