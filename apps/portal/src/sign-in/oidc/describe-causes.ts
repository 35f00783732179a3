import { describeError } from '@orders/runtime/observability/describe-error.ts';

/** An error code of OAuth, such as `invalid_client`; any other text could contain personal data. */
const OAUTH_ERROR = /^[a-z_]{1,50}$/;

/** What the log may say about a failed call to the provider: classes and codes of the error and its causes, and the provider's error code. */
export function describeCauses(error: unknown): { errors: object[]; provider_error?: string } {
  const chain: Error[] = [];
  for (let cause = error; Error.isError(cause) && chain.length < 5; cause = cause.cause) chain.push(cause);
  const code = chain.map((cause) => (cause as { error?: unknown }).error).find((text) => text !== undefined);
  return {
    errors: chain.map((cause) => describeError(cause)),
    ...(typeof code === 'string' && OAUTH_ERROR.test(code) && { provider_error: code }),
  };
}
