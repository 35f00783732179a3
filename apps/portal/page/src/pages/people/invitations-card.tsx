import type { PendingInvitation } from '@orders/database/users/pending-invitations.ts';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, type Json } from '../../api/client.ts';
import type { InvitationLink } from '../../api/operator.ts';
import { useGet } from '../../api/queries.ts';
import { useAccountId } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Confirm } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { fullTime } from '../../components/time.tsx';
import { LinkDialog } from './link-dialog.tsx';

type Invitation = Json<PendingInvitation>;

const ACTIONS = ['again', 'withdraw'] as const;

/** Who is invited to the account and has not joined yet; nothing without such people. */
export function InvitationsCard(): ReactNode {
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const path = `/accounts/${accountId}/invitations`;
  const query = useGet<{ invitations: Invitation[] }>(['members', accountId, 'invitations'], path);
  const [asked, setAsked] = useState<{ what: (typeof ACTIONS)[number]; invitation: Invitation } | null>(null);
  const [link, setLink] = useState<InvitationLink | null>(null);
  const act = async ({ what, invitation: { invitation_id } }: NonNullable<typeof asked>) => {
    if (what === 'again') setLink(await call<InvitationLink>('POST', `${path}/${invitation_id}/again`));
    else await call('DELETE', `${path}/${invitation_id}`);
    await queryClient.invalidateQueries({ queryKey: ['members', accountId] });
  };
  return (
    <>
      <Loaded query={query}>
        {({ invitations: rows }) =>
          rows.length > 0 && (
            <Card title={t('invited.title')} className="table-card">
              <DataTable
                rows={rows}
                keyOf={({ invitation_id }) => invitation_id}
                columns={[
                  { header: t('who'), cell: ({ email }) => <bdi dir="ltr">{email}</bdi> },
                  { header: t('role'), cell: ({ role }) => <span className="badge">{t(`common:role.${role}`)}</span> },
                  { header: t('invited.by'), cell: ({ invited_by }) => <bdi dir="ltr">{invited_by}</bdi> },
                  { header: t('invited.until'), cell: ({ expires_at }) => fullTime(expires_at) },
                ]}
                actions={{
                  header: t('actions'),
                  of: (invitation) =>
                    ACTIONS.map((what) => (
                      <Button
                        key={what}
                        kind={what === 'withdraw' ? 'bad' : undefined}
                        aria-label={t('actionFor', { action: t(`invited.${what}`), email: invitation.email })}
                        onClick={() => setAsked({ what, invitation })}
                      >
                        {t(`invited.${what}`)}
                      </Button>
                    )),
                }}
              />
            </Card>
          )
        }
      </Loaded>
      {asked && (
        <Confirm
          title={t(`invited.${asked.what}`)}
          text={t(`invited.${asked.what}Ask`, { email: asked.invitation.email })}
          action={() => act(asked)}
          onClose={() => setAsked(null)}
        />
      )}
      {link && !asked && <LinkDialog link={link} about={t('link.joins')} onClose={() => setLink(null)} />}
    </>
  );
}
