import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ResendsChoice, saveResendsChoice, useResendsChoice } from '../../api/integrations.ts';
import { useAccountId } from '../../api/session.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { useAction } from './use-action.ts';

const CHOICES: ResendsChoice[] = ['ignore', 'hold'];

/** The account's setting for an order in review that is sent again with other content. */
export function ResendsCard(): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const choice = useResendsChoice(accountId);
  const [chosen, setChosen] = useState<ResendsChoice | null>(null);
  const [isSaved, setSaved] = useState(false);
  const id = useId();
  const saving = useAction(async (resends: ResendsChoice) => {
    setSaved(false);
    setChosen(resends);
    try {
      await saveResendsChoice(accountId, resends);
      queryClient.setQueryData(['resends', accountId], resends);
      setSaved(true);
    } finally {
      setChosen(null);
    }
  });
  return (
    <section className="card stack" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{t('resends.title')}</h2>
      <p className="hint">{t('resends.about')}</p>
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
                onChange={() => !saving.isBusy && saving.run(value)}
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
        {isSaved && t('resends.saved')}
      </p>
    </section>
  );
}
