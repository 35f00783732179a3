/**
 * An account of an identity provider belongs to one user, and a user has one account at each provider. The provider is its issuer URL, in
 * `provider_id`; the account is the `sub` of its tokens, in `provider_account_id`.
 */
export const name = '050-identity-bindings';

export const up = [
  'drop index concurrently if exists user_credentials_by_identity',
  `-- safe: only passwords have been stored so far, and the previous version stores nothing else.
create unique index concurrently user_credentials_by_identity on user_credentials (provider_id, provider_account_id)
  where provider_id <> 'credential'`,
  'drop index concurrently if exists user_credentials_by_provider',
  `-- safe: only passwords have been stored so far, and the previous version stores nothing else.
create unique index concurrently user_credentials_by_provider on user_credentials (user_id, provider_id)
  where provider_id <> 'credential'`,
];
