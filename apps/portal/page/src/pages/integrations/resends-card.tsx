import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ResendsChoice, saveResendsChoice, useResendsChoice } from '../../api/integrations.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useAction } from '../../components/use-action.ts';

const CHOICES: ResendsChoice[] = ['ignore', 'hold'];

/** The account's setting for an order in review that is sent again with other content. */
export function ResendsCard(): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const choice = useResendsChoice(accountId);
  const can = useCan();
  const id = useId();
  // The mutation reports its variables only after the click's render. Without this state, React would uncheck the radio button.
  const [chosen, setChosen] = useState<ResendsChoice | null>(null);
  const saving = useAction({
    mutationFn: (resends: ResendsChoice) => saveResendsChoice(accountId, resends),
    onSuccess: (_, resends) => void queryClient.setQueryData(['resends', accountId], resends),
    onSettled: () => setChosen(null),
  });
  const choose = (resends: ResendsChoice) => {
    if (chosen) return;
    setChosen(resends);
    saving.mutate(resends);
  };
  return (
    <section className="card stack" aria-labelledby={`${id}-title`}>
      <header className="spread">
        <h2 id={`${id}-title`}>{t('resends.title')}</h2>
        <HelpLink page="changed-orders" anchor="hold" />
      </header>
      <p className="hint">{t('resends.about')}</p>
      {choice.isPending && <Skeleton count={2} />}
      {choice.isError && <ProblemNote error={choice.error} retry={() => void choice.refetch()} />}
      {choice.data && (
        <div role="radiogroup" aria-labelledby={`${id}-title`} className="stack">
          {CHOICES.map((value) => (
            <div key={value} className="resend-choice">
              <input
                type="radio"
                id={`${id}-${value}`}
                name={id}
                aria-describedby={`${id}-${value}-about`}
                checked={(chosen ?? choice.data) === value}
                disabled={!can('develop')}
                onChange={() => choose(value)}
              />
              <label htmlFor={`${id}-${value}`}>{t(`resends.${value}`)}</label>
              <p id={`${id}-${value}-about`} className="hint">
                {t(`resends.${value}About`)}
              </p>
            </div>
          ))}
        </div>
      )}
      {saving.error !== null && <ProblemNote error={saving.error} />}
      <p className="hint" role="status">
        {saving.isSuccess && t('resends.saved')}
      </p>
    </section>
  );
}
