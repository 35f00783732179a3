import { kindsOf } from './problem-kinds.ts';

/** Problems of the portal, in addition to those of intake. */
export const PORTAL_PROBLEMS = kindsOf({
  not_signed_in: [401, 'Sign in first; the session may have ended.'],
  not_permitted: [403, 'Your role in this account does not permit this. An owner of the account can change your role.'],
  authentication_required: [403, 'Confirm that it is you, then repeat the request.'],
  second_factor_required: [403, 'Sign in with a second factor. If you have none yet, set one up first.'],
  wrong_credentials: [401, 'The e-mail address or the password is wrong.'],
  too_many_attempts: [429, 'Too many failed sign-ins. Retry after the time in Retry-After.'],
  wrong_code: [401, 'The code is wrong, has expired, or was used before.'],
  passkey_rejected: [
    401,
    'The passkey is unknown here, did not verify its user, or the request took too long. Try again.',
  ],
  sign_in_expired: [
    401,
    'The time for the second step is over, or too many codes were wrong. Begin the sign-in again.',
    { title: 'Sign-in expired' },
  ],
  last_second_factor: [409, 'You need a second factor, and this is your only one. Add another one first.'],
  second_factor_not_found: [404, 'You have no such passkey or authenticator app.'],
  too_many_passkeys: [409, 'You have 20 passkeys. Remove one that is no longer used.'],
  too_many_sign_ins: [
    429,
    'Too many passwords are being checked at the moment. Retry after the time in Retry-After.',
    { title: 'Too many sign-ins', headers: { 'Retry-After': '2' } },
  ],
  cross_site_request: [403, 'Changes must be requested by a page of this portal.', { title: 'Cross-site request' }],
  invitation_not_found: [404, 'This invitation is unknown, used or expired. Ask for a new one.'],
  sign_in_to_accept: [
    409,
    'Somebody with this address can sign in already. Sign in with it, then open the link again.',
  ],
  invitation_of_other_user: [
    403,
    'This invitation is for another e-mail address than the one that you signed in with.',
    { title: 'Invitation of another user' },
  ],
  reset_not_found: [404, 'This link for a new password is unknown, used, replaced or expired. Ask for a new one.'],
  mail_not_configured: [409, 'This portal sends no mail. Ask the service operator for a link to set a new password.'],
  identity_provider_unavailable: [
    503,
    'The identity provider cannot be used right now. Retry in a moment, or sign in with the password.',
  ],
  account_not_found: [404, 'There is no account with this id.'],
  order_not_found: [404, 'This account has no order with this id.'],
  key_not_found: [404, 'This account has no key with this id.'],
  too_many_keys: [409, 'This account has 100 active keys. Revoke one that is no longer used.'],
  source_not_found: [404, 'This account has no source with this number.'],
  no_order_id: [
    409,
    'The mapping of the source still finds no valid order id in this delivery. Correct the mapping first.',
  ],
  too_many_sources: [409, 'This account has 50 sources. Remove one that is no longer used.'],
  id_prefix_taken: [
    409,
    'Another source of this account has this prefix, so that their orders could not be told apart. Choose another one.',
    { title: 'Prefix in use' },
  ],
  id_prefix_fixed: [
    409,
    'This source has orders, which would arrive as new ones under another prefix. Its prefix can no longer be changed.',
    { title: 'Prefix fixed' },
  ],
  endpoint_not_found: [404, 'This account has no such endpoint.'],
  too_many_endpoints: [409, 'This account has 10 endpoints. Remove one that is no longer used.'],
  signing_secrets_overlap: [
    409,
    'The previous secret still verifies. Wait until it expires, or rotate without an overlap, which ends both at once.',
    { title: 'Two signing secrets verify' },
  ],
  user_elsewhere: [
    409,
    'Somebody with this address is a user of another account or role. Remove that user first.',
    { title: 'User of another account or role' },
  ],
  already_member: [
    409,
    'Somebody with this address is a member of this account. To change what they may do, change their role.',
    { title: 'Already a member' },
  ],
  last_owner: [409, 'The account would be left without an owner. Make somebody else an owner first.'],
  own_user: [409, 'You cannot do this to your own user; another operator can.', { title: 'Your own user' }],
  own_request: [
    409,
    'You cannot approve what you requested yourself; another operator can.',
    { title: 'Your own request' },
  ],
  change_not_found: [404, 'There is no open change with this id. It was decided, withdrawn, or has expired.'],
  user_not_found: [404, 'There is no such user.'],
  invalid_request: [422, 'The request breaks the rules listed in "errors".'],
  already_done: [409, 'This was sent before and is done. Reload the page to see it.'],
  outcome_unknown: [
    409,
    'This was sent before, and it is not known whether it was done. Look, and send it again if it was not.',
  ],
  conflicting_state: [409, 'Its state no longer allows this. Reload it.'],
});

export type PortalProblemCode = keyof typeof PORTAL_PROBLEMS;
