import type { Identity } from '@orders/database/users/identities.ts';
import type { IDToken } from 'openid-client';
import { RejectedIdentity } from './rejected-identity.ts';

/** What a valid ID token says about the person. */
export interface TokenIdentity extends Identity {
  /** Whether the provider asked for several factors (`amr` of RFC 8176). */
  hasProvedSecondFactor: boolean;
  /** When the person last proved to the provider who they are; null when the token does not say. */
  authenticatedAt: Date | null;
}

/** Visible ASCII only. Test an address before `toLowerCase`, which turns other letters into ASCII, such as the Kelvin sign. */
const EMAIL = /^[\x21-\x7e]{1,190}@[A-Za-z0-9.-]{1,63}$/;
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/**
 * The identity in an ID token whose signature, issuer, audience, times and nonce were verified.
 *
 * @param domains the e-mail domains for which the provider is trusted.
 * @throws {RejectedIdentity} `invalid`, `unverified` or `domain`.
 */
export function identityOfToken(token: IDToken, domains: readonly string[]): TokenIdentity {
  const { iss: issuer, sub: subject, email_verified, amr, auth_time } = token;
  if (!SUBJECT.test(subject)) throw new RejectedIdentity('invalid');
  const email = typeof token.email === 'string' && EMAIL.test(token.email) ? token.email.toLowerCase() : '';
  // Only `true`: some providers have other values for addresses that a person typed.
  if (email_verified !== true || email === '') throw new RejectedIdentity('unverified', { email });
  if (!domains.includes(domainOf(email))) throw new RejectedIdentity('domain', { email });
  return {
    issuer,
    subject,
    email,
    hasProvedSecondFactor: Array.isArray(amr) && amr.includes('mfa'),
    // A clock that is ahead must not make the proof last longer.
    authenticatedAt: auth_time === undefined ? null : new Date(Math.min(auth_time * 1000, Date.now())),
  };
}

/** The part of an e-mail address after its last `@`. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}
