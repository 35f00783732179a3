import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';
import { ProviderUnavailableError } from './provider-fetch.ts';
import { RefusedIdentity } from './refusal.ts';

/** Codes of the library for a reply that is no reply of a provider, such as the page of a proxy. */
const NO_REPLY = new Set(['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR']);
/** Errors by which the provider says that the person does not go on (OpenID Connect Core, section 3.1.2.6). */
const DECLINED = new Set([
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
]);

/** Turns an error of the library into the reason that the person is told. */
export function refusalOfError(cause: unknown): RefusedIdentity {
  if (cause instanceof RefusedIdentity) return cause;
  if (isUnavailable(cause)) return new RefusedIdentity('unavailable', { cause });
  if (cause instanceof AuthorizationResponseError)
    return new RefusedIdentity(DECLINED.has(cause.error) ? 'cancelled' : 'unavailable', { cause });
  // `invalid_grant`: the code was used already, or has expired. Others, such as `invalid_client`, are the configuration's.
  if (cause instanceof ResponseBodyError)
    return new RefusedIdentity(cause.error === 'invalid_grant' ? 'expired' : 'unavailable', { cause });
  const { code } = cause as { code?: unknown };
  return new RefusedIdentity(NO_REPLY.has(String(code)) ? 'unavailable' : 'invalid', { cause });
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ProviderUnavailableError || (Error.isError(error) && isUnavailable(error.cause));
}
