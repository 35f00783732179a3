import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { SESSION_QUERY, useAccountId } from '../../api/session.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Switch } from '../../components/switch.tsx';
import { useAction } from '../../components/use-action.ts';

/** Whether the users of the account need a second factor. */
export function SecondFactorSwitch(): ReactNode {
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const key = ['account', accountId, 'second-factor'];
  const state = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call<{ second_factor_required: boolean }>('GET', `/accounts/${accountId}`, { signal }),
  });
  const set = useAction({
    mutationFn: (required: boolean) => call('PUT', `/accounts/${accountId}/second-factor`, { body: { required } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: key });
      // The owner who turned it on may need a second factor too.
      await queryClient.invalidateQueries(SESSION_QUERY);
    },
  });
  if (!state.data) return null;
  const { second_factor_required: isOn } = state.data;
  return (
    <section className="card stack-tight">
      <Switch isOn={isOn} isBusy={set.isPending} label={t('secondFactor')} onClick={() => set.mutate(!isOn)} />
      <p className="hint">{t('secondFactorAbout')}</p>
      {set.isError && <ProblemNote error={set.error} />}
    </section>
  );
}
