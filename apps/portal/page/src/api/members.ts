import type { PendingInvitation as StoredInvitation } from '@orders/database/users/pending-invitations.ts';
import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import type { Json } from './client.ts';
import { call } from './client.ts';
import type { InvitationLink } from './operator.ts';
import type { MemberRole } from './session.ts';

/** A user of an account. */
export interface Member {
  user_id: string;
  email: string;
  name: string;
  role: MemberRole;
  last_signed_in_at: string | null;
}

/** An invitation to an account that nobody has accepted yet. */
export type PendingInvitation = Json<StoredInvitation>;

interface MemberPage {
  users: Member[];
  /** The last e-mail address of this page, as cursor. */
  next: string | null;
}

const at = (accountId: number) => `/accounts/${accountId}/users`;
const invitationsAt = (accountId: number) => `/accounts/${accountId}/invitations`;

/** An account's users, by e-mail address. */
export function useMembers(accountId: number): UseInfiniteQueryResult<InfiniteData<MemberPage>> {
  return useInfiniteQuery({
    queryKey: ['members', accountId],
    queryFn: ({ pageParam, signal }) => call<MemberPage>('GET', at(accountId), { query: { after: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
}

export function inviteMember(accountId: number, email: string, role: MemberRole): Promise<InvitationLink> {
  return call('POST', at(accountId), { body: { email, role } });
}

export function setMemberRole(accountId: number, userId: string, role: MemberRole): Promise<unknown> {
  return call('PATCH', `${at(accountId)}/${userId}`, { body: { role } });
}

/** Ends the user's access to this account only. */
export function removeMember(accountId: number, userId: string): Promise<unknown> {
  return call('DELETE', `${at(accountId)}/${userId}`);
}

/** The pending invitations to an account, newest first. */
export function useInvitations(accountId: number): UseQueryResult<PendingInvitation[]> {
  return useQuery({
    queryKey: ['members', accountId, 'invitations'],
    queryFn: async ({ signal }) =>
      (await call<{ invitations: PendingInvitation[] }>('GET', invitationsAt(accountId), { signal })).invitations,
  });
}

/** Replaces the link of an invitation. */
export function inviteAgain(accountId: number, invitationId: number): Promise<InvitationLink> {
  return call('POST', `${invitationsAt(accountId)}/${invitationId}/again`);
}

export function withdrawInvitation(accountId: number, invitationId: number): Promise<unknown> {
  return call('DELETE', `${invitationsAt(accountId)}/${invitationId}`);
}
