import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { inviteAgain, type PendingInvitation, useInvitations, withdrawInvitation } from '../../api/members.ts';
import type { InvitationLink } from '../../api/operator.ts';
import { useAccountId } from '../../api/session.ts';
import { Confirm } from '../../components/confirm.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { fullTime } from '../../components/time.tsx';
import { LinkDialog } from './link-dialog.tsx';
import '../../components/data-table.css';

interface Asked {
  what: 'again' | 'withdraw';
  invitation: PendingInvitation;
}

/** Who is invited to the account and has not joined yet; nothing without such people. */
export function InvitationsCard(): ReactNode {
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const invitations = useInvitations(accountId);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [link, setLink] = useState<InvitationLink | null>(null);
  const close = () => setAsked(null);
  const reload = () => queryClient.invalidateQueries({ queryKey: ['members', accountId] });
  const found = invitations.data ?? [];
  return (
    <>
      {invitations.isError && <ProblemNote error={invitations.error} retry={() => void invitations.refetch()} />}
      {found.length > 0 && (
        <section className="card table-card" aria-labelledby="invitations-title">
          <h2 id="invitations-title">{t('invited.title')}</h2>
          <table className="data-table">
            <thead>
              <tr>
                <th scope="col">{t('who')}</th>
                <th scope="col">{t('role')}</th>
                <th scope="col">{t('invited.by')}</th>
                <th scope="col">{t('invited.until')}</th>
                <th scope="col">
                  <span className="visually-hidden">{t('actions')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {found.map((invitation) => (
                <InvitationRow
                  key={invitation.invitation_id}
                  invitation={invitation}
                  onAsk={(what) => setAsked({ what, invitation })}
                />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {asked?.what === 'again' && (
        <Confirm
          title={t('invited.again')}
          text={t('invited.againAsk', { email: asked.invitation.email })}
          label={t('invited.again')}
          action={async () => {
            setLink(await inviteAgain(accountId, asked.invitation.invitation_id));
            await reload();
          }}
          onClose={close}
        />
      )}
      {asked?.what === 'withdraw' && (
        <Confirm
          title={t('invited.withdraw')}
          text={t('invited.withdrawAsk', { email: asked.invitation.email })}
          label={t('invited.withdraw')}
          action={async () => {
            await withdrawInvitation(accountId, asked.invitation.invitation_id);
            await reload();
          }}
          onClose={close}
        />
      )}
      {link && !asked && <LinkDialog link={link} about={t('link.joins')} onClose={() => setLink(null)} />}
    </>
  );
}

function InvitationRow(props: {
  invitation: PendingInvitation;
  onAsk: (what: 'again' | 'withdraw') => void;
}): ReactNode {
  const { t } = useTranslation('users');
  const { email, role, invited_by, expires_at } = props.invitation;
  return (
    <tr>
      <th scope="row">
        <bdi dir="ltr">{email}</bdi>
      </th>
      <td data-label={t('role')}>
        <span className="badge">{t(`common:role.${role}`)}</span>
      </td>
      <td data-label={t('invited.by')}>
        <bdi dir="ltr">{invited_by}</bdi>
      </td>
      <td data-label={t('invited.until')}>{fullTime(expires_at)}</td>
      <td className="cell-actions">
        <span className="row">
          {(['again', 'withdraw'] as const).map((what) => (
            <button
              key={what}
              type="button"
              className={what === 'withdraw' ? 'button button-bad' : 'button'}
              aria-label={t('actionFor', { action: t(`invited.${what}`), email })}
              onClick={() => props.onAsk(what)}
            >
              {t(`invited.${what}`)}
            </button>
          ))}
        </span>
      </td>
    </tr>
  );
}
