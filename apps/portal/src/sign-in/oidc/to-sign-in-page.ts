import { isStorageUnavailable } from '@orders/database/database-errors.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { ErrorRequestHandler } from 'express';
import { contextOf, logFields } from '../../context.ts';
import type { SignInRecord } from '../record-sign-in.ts';
import { describeCauses } from './describe-causes.ts';
import { RefusedIdentity } from './refusal.ts';

/**
 * Redirects a failed callback to the sign-in page, which explains the reason. At the callback's address the person would see JSON.
 */
export function toSignInPage(portalUrl: string, logger: Logger, record: SignInRecord): ErrorRequestHandler {
  return async (error, request, response, _next) => {
    const { refusal, email, cause } =
      error instanceof RefusedIdentity ? error : new RefusedIdentity('failed', { cause: error });
    const context = contextOf(request);
    const logFailure = (failure: unknown) => {
      context.problem = isStorageUnavailable(failure) ? 'storage_unavailable' : 'internal_error';
      const isOurs = context.problem === 'internal_error';
      logger.log(isOurs ? 'error' : 'warn', 'request failed', {
        ...logFields(context),
        code: context.problem,
        error: describeError(failure, { stack: isOurs }),
      });
    };
    context.problem = `identity_${refusal}`;
    if (refusal === 'failed') logFailure(cause);
    if (refusal === 'unavailable')
      logger.warn('identity provider unavailable', { ...logFields(context), ...describeCauses(cause) });
    if (refusal === 'invalid')
      logger.warn('reply of the identity provider refused', { ...logFields(context), ...describeCauses(cause) });
    if (email) await record.failed(request, email, { method: 'identity_provider', refused: refusal }).catch(logFailure);
    response.redirect(303, `${portalUrl}/?identity_provider=${refusal}`);
  };
}
