/** When a user last signed in; sessions, from which it was read before, are removed when they have ended. */
export const name = '008-last-signed-in';

export const up = `
alter table users add column last_signed_in_at timestamptz;
update users u set last_signed_in_at = (select max(s.created_at) from user_sessions s where s.user_id = u.id);
`;
