import { PROBLEMS, type ProblemCode } from '@orders/domain/problems.ts';
import { json, ref } from './schema.ts';

export const header = (description: string) => ({ description, schema: { type: 'string' } });

const COMMON_HEADERS = {
  'X-Request-Id': header('The id that you sent, or a new one; include it when you report a problem'),
};
export const RATE_HEADERS = {
  'RateLimit-Policy': header('Only if the account has a rate limit: `"account";q=…;w=…`, `q` requests in `w` seconds'),
  RateLimit: header('The remaining quota: `"account";r=…;t=…`, `r` requests within `t` seconds'),
};
export const STATUS_RATE_HEADERS = {
  'RateLimit-Policy': header(
    'Only if the account has a rate limit: `"status";q=…;w=…`, `q` status look-ups in `w` seconds, five times the limit of requests',
  ),
  RateLimit: header('The remaining quota: `"status";r=…;t=…`, `r` look-ups within `t` seconds'),
};
const RETRY_AFTER = { 'Retry-After': header('Seconds') };
const ERROR_HEADERS: Record<number, object> = {
  401: { 'WWW-Authenticate': header('The authentication scheme, if the key was rejected') },
  403: { 'WWW-Authenticate': header('The scope that the key lacks') },
  422: { 'Preference-Applied': header('`handling=strict`, if it was requested') },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

const wrongInstallationExample = {
  type: '/docs/senders/errors#wrong_installation',
  title: PROBLEMS.wrong_installation.title,
  status: PROBLEMS.wrong_installation.status,
  detail: PROBLEMS.wrong_installation.detail,
  code: 'wrong_installation',
  request_id: '0b9ee0f1-6f0a-4cb8-9b0e-7f3f5c8c1c53',
  installation_url: 'https://orders-1.example.com',
};

/** Of every account. */
export const SENDER_LIMITS: ProblemCode[] = ['wrong_installation', 'account_suspended', 'rate_limited'];
const AUTHENTICATION: ProblemCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'address_not_allowed',
  'insufficient_scope',
  ...SENDER_LIMITS,
];
const ALWAYS: ProblemCode[] = ['storage_unavailable', 'internal_error'];
export const BODY: ProblemCode[] = [
  'unsupported_media_type',
  'unsupported_content_encoding',
  'payload_too_large',
  'invalid_idempotency_key',
  'malformed_body',
  'validation_failed',
  'overloaded',
];

/** A successful response. @param headers in addition to those of all responses. */
export function success(description: string, schema: string, headers?: object): object {
  return successWith(description, json(ref(schema)), headers);
}

/** A successful response with this content. */
export function successWith(description: string, content: object, headers: object = RATE_HEADERS): object {
  return { description, headers: { ...COMMON_HEADERS, ...headers }, content };
}

/**
 * The error responses of a route: one for each status, with its codes.
 *
 * @param codes of this route, in addition to those of all routes.
 * @param details replace the problems' own descriptions.
 * @param headers may come with any of them.
 * @param authentication the codes of the sender's authentication; by default those of an API key.
 */
export function problems(
  codes: ProblemCode[],
  details: Partial<Record<ProblemCode, string>> = {},
  headers: object = RATE_HEADERS,
  authentication: readonly ProblemCode[] = AUTHENTICATION,
): Record<number, object> {
  const byStatus = Map.groupBy([...authentication, ...codes, ...ALWAYS], (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${details[code] ?? PROBLEMS[code].detail}`).join('\n\n'),
        headers: { ...COMMON_HEADERS, ...headers, ...ERROR_HEADERS[status] },
        content: {
          'application/problem+json': {
            ...(Number(status) === PROBLEMS.wrong_installation.status && { example: wrongInstallationExample }),
            schema: { allOf: [ref('Problem'), { properties: { code: { enum: group }, status: { const: status } } }] },
          },
        },
      },
    ]),
  );
}
