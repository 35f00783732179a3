import type { UnconfirmedSignIn } from '@orders/portal/sign-in/unconfirmed-sign-ins.ts';
import { queryOptions } from '@tanstack/react-query';
import type { Json } from './client.ts';
import { call } from './client.ts';

export type NewSignIn = Json<UnconfirmedSignIn>;

const POLL_MS = 60_000;

/** Sign-ins from unknown devices in the user's other sessions, newest first. */
export const NEW_SIGN_INS = queryOptions({
  queryKey: ['new-sign-ins'],
  queryFn: ({ signal }) => call<{ sign_ins: NewSignIn[] }>('GET', '/new-sign-ins', { signal }),
  refetchInterval: POLL_MS,
  refetchOnWindowFocus: true,
});
