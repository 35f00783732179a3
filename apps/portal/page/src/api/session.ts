import type { UnconfirmedSignIn } from '@orders/portal/sign-in/unconfirmed-sign-ins.ts';
import { queryOptions, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { useLocation } from 'wouter';
import type { Permission } from '../../../src/context.ts';
import { call, isProblem, type Json } from './client.ts';
import type { SecondStep } from './passkeys.ts';
import { useGet } from './queries.ts';

const OPERATOR: readonly Permission[] = ['read', 'review', 'develop', 'manage', 'operate'];
const NONE: readonly Permission[] = [];

/** Whether the user has any of these permissions. */
export type Can = (...anyOf: Permission[]) => boolean;

/** The user's own account with this id; undefined for operators and for other accounts. */
export function useOwnAccount(accountId: number | undefined): SessionAccount | undefined {
  return useSession().accounts.find(({ account_id }) => account_id === accountId);
}

/** What the user may do in an account. */
export function useCanIn(accountId: number | undefined): Can {
  const { role } = useSession();
  const own = useOwnAccount(accountId);
  const permissions = role === 'operator' ? OPERATOR : (own?.permissions ?? NONE);
  return (...anyOf) => anyOf.some((permission) => permissions.includes(permission));
}

/** What the user may do in the account of the page. The page offers nothing else; the service checks each request again. */
export function useCan(): Can {
  return useCanIn(useAccountId());
}

export type { Permission };

/** The roles of an account's users, from the fewest to the most permissions. */
export const MEMBER_ROLES = ['viewer', 'reviewer', 'developer', 'owner'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** An account of the user. Its suspension is part of `permissions`. */
export interface SessionAccount {
  account_id: number;
  name: string;
  role: MemberRole;
  suspended: boolean;
  /** To another installation; the account is suspended then. */
  move: 'under_way' | 'done' | null;
  permissions: Permission[];
  /** The account whose tests it takes; null for all others. */
  test_of: number | null;
}

/** The signed-in user; an operator has no accounts of their own. */
export interface Session {
  email: string;
  name: string;
  role: 'operator' | 'account_holder';
  accounts: SessionAccount[];
  /** Intake's public URL. */
  intake_url: string;
  second_factor: {
    required: boolean;
    /** Whether it was part of the sign-in. */
    confirmed: boolean;
    /** What the user can confirm with; empty without a second factor. */
    steps: SecondStep[];
  };
}

/** Whether the user must confirm or set up a second factor before anything else. */
export function needsSecondFactor({ second_factor: { required, confirmed, steps } }: Session): boolean {
  return !confirmed && (required || steps.length > 0);
}

/** The session, or null without one. */
export const SESSION_QUERY = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return await call<Session>('GET', '/session', { signal });
    } catch (error) {
      if (isProblem(error, 'not_signed_in')) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  refetchOnWindowFocus: true,
});

export function useSessionQuery(): UseQueryResult<Session | null> {
  return useQuery(SESSION_QUERY);
}

/** Loads the session again and opens the first page, after a sign-in or what ended all sessions. */
export function useStartAgain(): () => Promise<void> {
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  return async () => {
    await queryClient.fetchQuery({ ...SESSION_QUERY, staleTime: 0 });
    navigate('/', { replace: true });
  };
}

export const SessionContext = createContext<Session | null>(null);

/** The session; only inside `SessionContext`. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('used outside of the sign-in');
  return session;
}

export const AccountContext = createContext<number | null>(null);

/** The account of the page; only inside `AccountContext`. */
export function useAccountId(): number {
  const accountId = useContext(AccountContext);
  if (accountId === null) throw new Error('used outside of an account');
  return accountId;
}

const LAST_ACCOUNT = 'last-account';

/** The accounts that are no test accounts. */
export const liveOf = (accounts: readonly SessionAccount[]): SessionAccount[] =>
  accounts.filter(({ test_of }) => test_of === null);

/** The account that the user opened last on this device, or else the first; never a test account. Undefined for a user of none. */
export function homeAccount(accounts: readonly SessionAccount[]): SessionAccount | undefined {
  const last = Number(localStorage.getItem(LAST_ACCOUNT));
  const live = liveOf(accounts);
  return live.find(({ account_id }) => account_id === last) ?? live[0];
}

/** Makes this the account that is opened first. */
export function rememberAccount(accountId: number): void {
  localStorage.setItem(LAST_ACCOUNT, String(accountId));
}

export type NewSignIn = Json<UnconfirmedSignIn>;

const OWN_SIGN_INS = 'own-sign-ins';
const MAX_OWN_SIGN_INS = 50;

const ownSignIns = (): string[] => (localStorage.getItem(OWN_SIGN_INS) ?? '').split(' ');

/** Whether the user has said on this device that a sign-in was theirs, though this session may not confirm it for the others. */
export function isOwnSignIn({ session_id }: NewSignIn): boolean {
  return ownSignIns().includes(session_id);
}

/** Asks no longer about a sign-in on this device. The older sessions still do, as they can tell who signed in later. */
export function rememberOwnSignIn({ session_id }: NewSignIn): void {
  localStorage.setItem(OWN_SIGN_INS, [session_id, ...ownSignIns()].slice(0, MAX_OWN_SIGN_INS).join(' '));
}

const POLL_MS = 60_000;

/** Sign-ins from unknown devices in the user's other sessions, newest first. */
export const NEW_SIGN_INS = queryOptions({
  queryKey: ['new-sign-ins'],
  queryFn: ({ signal }) => call<{ sign_ins: NewSignIn[] }>('GET', '/new-sign-ins', { signal }),
  refetchInterval: POLL_MS,
  refetchOnWindowFocus: true,
});

/** The name of an account, and the one whose tests it takes; undefined while it loads and if there is no such account. */
export function useAccount(accountId: number | undefined): Pick<SessionAccount, 'name' | 'test_of'> | undefined {
  const own = useOwnAccount(accountId);
  const query = useGet<Pick<SessionAccount, 'name' | 'test_of'>>(['account', accountId], `/accounts/${accountId}`, {
    enabled: accountId !== undefined && !own,
    staleTime: 60_000,
  });
  if (own) return own;
  return accountId === undefined ? undefined : query.data;
}
