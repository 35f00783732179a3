/** Error codes of OpenID Connect sign-ins. The sign-in page shows a message for each code. */
export type RejectionReason =
  /** The person cancelled it at the provider, or the provider declined the person. */
  | 'cancelled'
  /** It was not started in this browser, was completed already, or took too long. */
  | 'expired'
  /** The provider's reply, or its token, is not valid. */
  | 'invalid'
  /** The provider has not verified the e-mail address. */
  | 'unverified'
  /** The domain of the address is not in `OIDC_EMAIL_DOMAINS`. */
  | 'domain'
  /** No user has the address. */
  | 'unknown'
  /** The user is bound to another account of the provider. */
  | 'bound_otherwise'
  | 'too_many_attempts'
  | 'unavailable'
  /** A failure of the portal. */
  | 'failed';

/** A sign-in by the identity provider that is rejected. */
export class RejectedIdentity extends Error {
  override name = 'RejectedIdentity';
  readonly reason: RejectionReason;
  /** From a valid token; for the audit trail. */
  readonly email: string | undefined;

  constructor(reason: RejectionReason, options: ErrorOptions & { email?: string } = {}) {
    super(reason, options);
    this.reason = reason;
    this.email = options.email;
  }
}
