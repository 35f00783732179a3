/** Changing requests of the portal's users by their idempotency key, so that a repetition is not carried out again. */
export const name = '056-portal-requests';

export const up = `
create table portal_requests (
  user_id    text not null references users on delete cascade,
  request_id uuid not null,
  -- HMAC of method, path and body: the body may contain a password.
  content    bytea not null,
  at         timestamptz not null default clock_timestamp(),
  -- The status of the response; null while the request is carried out.
  status     smallint,
  -- The body of the response, sealed: it may contain a secret that is shown once.
  reply      bytea,
  primary key (user_id, request_id)
);
create index portal_requests_by_time on portal_requests (at);
`;
