import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { InvitationLink, OperatorChange, Requested } from '../../api/operator.ts';
import { Confirm } from '../../components/confirm.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { useNotices } from '../../components/notices.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Ago, fullTime } from '../../components/time.tsx';

type Action = { what: 'approve' | 'decline' | 'withdraw'; change: OperatorChange };

/** Changes of operators that wait for an approval, with the reason for approvals; renders nothing if there are none. */
export function ChangesCard({ onLink }: { onLink: (link: InvitationLink) => void }): ReactNode {
  const { t } = useTranslation('operator');
  const queryClient = useQueryClient();
  const notices = useNotices();
  const [confirming, setConfirming] = useState<Action | null>(null);
  const changes = useQuery({
    queryKey: ['operator', 'changes'],
    queryFn: ({ signal }) => call<{ changes: OperatorChange[] }>('GET', '/operator/changes', { signal }),
    refetchInterval: 15_000,
  });
  const act = async ({ what, change }: Action) => {
    const path = `/operator/changes/${change.change_id}`;
    if (what === 'approve') {
      const outcome = await call<Requested>('POST', `${path}/approve`);
      if (outcome && 'link' in outcome) onLink(outcome);
      else notices.show({ text: t('changes.approved') });
    } else {
      await call('DELETE', path);
      notices.show({ text: t('changes.ended') });
    }
    await queryClient.invalidateQueries({ queryKey: ['operator'] });
  };
  if (changes.isError) return <ProblemNote error={changes.error} retry={() => void changes.refetch()} />;
  if (!changes.data || changes.data.changes.length === 0) return null;
  return (
    <section className="card stack" aria-labelledby="changes-title">
      <header className="spread">
        <h2 id="changes-title">{t('changes.title')}</h2>
        <HelpLink page="users" anchor="approval" />
      </header>
      <p className="hint">{t('changes.why')}</p>
      <ul className="plain stack">
        {changes.data.changes.map((change) => (
          <ChangeRow key={change.change_id} change={change} onAsk={setConfirming} />
        ))}
      </ul>
      {confirming && (
        <Confirm
          title={t(`changes.kind.${confirming.change.kind}`, { email: confirming.change.email })}
          text={t(`changes.${confirming.what}Ask`, { email: confirming.change.requested_by })}
          label={t(`changes.${confirming.what}`)}
          action={() => act(confirming)}
          onClose={() => setConfirming(null)}
        />
      )}
    </section>
  );
}

function ChangeRow(props: { change: OperatorChange; onAsk: (action: Action) => void }): ReactNode {
  const { change, onAsk } = props;
  const { t } = useTranslation('operator');
  const what = t(`changes.kind.${change.kind}`, { email: change.email });
  const button = (action: Action['what'], look: string) => (
    <button
      type="button"
      className={`button ${look}`}
      aria-label={t('changes.actionFor', { action: t(`changes.${action}`), what })}
      onClick={() => onAsk({ what: action, change })}
    >
      {t(`changes.${action}`)}
    </button>
  );
  return (
    <li className="spread">
      <div>
        <strong>{what}</strong>
        <p className="hint">
          {t('changes.requestedBy', { email: change.requested_by })} <Ago at={change.requested_at} />
          {' · '}
          {t('changes.ends', { time: fullTime(change.expires_at) })}
        </p>
        {change.own && <p className="hint">{t('changes.own')}</p>}
      </div>
      <div className="row">
        {change.own ? (
          button('withdraw', '')
        ) : (
          <>
            {button('decline', '')}
            {button('approve', 'button-main')}
          </>
        )}
      </div>
    </li>
  );
}
