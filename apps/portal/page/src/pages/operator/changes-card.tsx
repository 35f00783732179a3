import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { InvitationLink, OperatorChange, Requested } from '../../api/operator.ts';
import { useGet } from '../../api/queries.ts';
import { Button, type ButtonKind } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Confirm } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { useNotices } from '../../components/notices.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { Ago, fullTime } from '../../components/time.tsx';

type Action = { what: 'approve' | 'decline' | 'withdraw'; change: OperatorChange };

/** Changes of operators that wait for an approval, with the reason for approvals; renders nothing if there are none. */
export function ChangesCard({ onLink }: { onLink: (link: InvitationLink) => void }): ReactNode {
  const { t } = useTranslation('operator');
  const queryClient = useQueryClient();
  const notices = useNotices();
  const [confirming, setConfirming] = useState<Action | null>(null);
  const query = useGet<{ changes: OperatorChange[] }>(['operator', 'changes'], '/operator/changes', {
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
  return (
    <Loaded query={query}>
      {({ changes }) =>
        changes.length > 0 && (
          <Card
            title={t('changes.title')}
            about={t('changes.why')}
            actions={<HelpLink page="users" anchor="approval" />}
          >
            <ul className="plain stack">
              {changes.map((change) => (
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
          </Card>
        )
      }
    </Loaded>
  );
}

function ChangeRow({ change, onAsk }: { change: OperatorChange; onAsk: (action: Action) => void }): ReactNode {
  const { t } = useTranslation('operator');
  const { kind, email, requested_by, requested_at, expires_at, own } = change;
  const title = t(`changes.kind.${kind}`, { email });
  const button = (what: Action['what'], look?: ButtonKind) => (
    <Button
      kind={look}
      aria-label={t('changes.actionFor', { action: t(`changes.${what}`), what: title })}
      onClick={() => onAsk({ what, change })}
    >
      {t(`changes.${what}`)}
    </Button>
  );
  return (
    <li className="spread">
      <div>
        <strong>{title}</strong>
        <p className="hint">
          {t('changes.requestedBy', { email: requested_by })} <Ago at={requested_at} />
          {' · '}
          {t('changes.ends', { time: fullTime(expires_at) })}
        </p>
        {own && <p className="hint">{t('changes.own')}</p>}
      </div>
      <div className="row">
        {own && button('withdraw')}
        {!own && button('decline')}
        {!own && button('approve', 'main')}
      </div>
    </li>
  );
}
