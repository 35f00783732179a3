import Joi from 'joi';

/** The identity provider by which people may sign in. All settings are set, or none. */
export interface OidcEnvironment {
  OIDC_ISSUER?: string;
  OIDC_CLIENT_ID?: string;
  OIDC_CLIENT_SECRET?: string;
  OIDC_NAME?: string;
  OIDC_EMAIL_DOMAINS?: string[];
}

/** The settings of a provider, under the same names. */
export type OidcSettings = Required<OidcEnvironment>;

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** Whether it is an https URL; http is accepted on the loopback interface only. */
export function isSafeUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
}

function withProvider(setting: Joi.Schema): Joi.Schema {
  return setting.when('OIDC_ISSUER', {
    is: Joi.exist(),
    // biome-ignore lint/suspicious/noThenProperty: Joi's name.
    then: Joi.required(),
    otherwise: Joi.forbidden().messages({ 'any.unknown': '{{#label}} is of no use without OIDC_ISSUER' }),
  });
}

export const oidcEnvironment: Record<keyof OidcEnvironment, Joi.Schema> = {
  // Kept as it is written: tokens must name exactly this issuer, with or without a slash at its end.
  OIDC_ISSUER: Joi.string()
    .custom((text: string) => {
      const url = new URL(text);
      if (!isSafeUrl(url) || url.username || url.password || url.search || url.hash) throw new Error('no issuer');
      return text;
    })
    .message('{{#label}} must be an https URL without user, query and fragment; http is for the loopback only'),
  OIDC_CLIENT_ID: withProvider(Joi.string().max(500)),
  OIDC_CLIENT_SECRET: withProvider(Joi.string().max(500)),
  OIDC_NAME: withProvider(
    Joi.string()
      .max(50)
      .pattern(/^[^\p{Cc}\p{Cs}]*$/u)
      .message('{{#label}} must be one line of at most 50 characters'),
  ),
  OIDC_EMAIL_DOMAINS: withProvider(
    Joi.string()
      .custom((text: string) => {
        const domains = text.split(',').map((domain) => domain.trim().toLowerCase());
        if (!domains.every((domain) => DOMAIN.test(domain))) throw new Error('not a list of domains');
        return domains;
      })
      .message('{{#label}} must be a list of domains such as example.com,example.org'),
  ),
};

/** The provider's settings, or null if there is none. */
export function oidcSettingsOf(config: OidcEnvironment): OidcSettings | null {
  return config.OIDC_ISSUER === undefined ? null : (config as OidcSettings);
}
