import { escapeHtml } from '@orders/doc-pages/render-page.ts';
import { parseDevice } from '../sign-in/parse-device.ts';
import { MAIL_TEXTS, type MailKind, type MailText } from './mail-texts.ts';
import type { Mail } from './send-by-smtp.ts';

/** What happened, for a mail about it. */
export interface MailEvent {
  kind: MailKind;
  at: Date;
  userAgent?: string | null;
  /** The one-time link of `password_reset`. */
  link?: string;
}

const LANGUAGES = {
  en: { locale: 'en-GB', direction: 'ltr', deviceOf: (browser: string, system: string) => `${browser} on ${system}` },
  ar: {
    // Latin digits in both languages, as in the portal.
    locale: 'ar-AE-u-nu-latn',
    direction: 'rtl',
    deviceOf: (browser: string, system: string) => `${browser} على ${system}`,
  },
} as const;

/** A left-to-right isolate (UAX #9), so that an address or a name keeps its order in an Arabic sentence. */
const isolate = (text: string) => `\u2066${text}\u2069`;

/**
 * Writes a mail in English and Arabic, as plain text and as HTML without anything that a mail program would load.
 *
 * @param portalUrl the origin of every link in it.
 */
export function writeMail(to: string, { kind, at, userAgent, link = '' }: MailEvent, portalUrl: string): Mail {
  const device = userAgent ? parseDevice(userAgent) : null;
  const texts = (['en', 'ar'] as const).map((language) => {
    const { locale, direction, deviceOf } = LANGUAGES[language];
    const inline = direction === 'rtl' ? isolate : (text: string) => text;
    const name = device && (device.system ? deviceOf(inline(device.browser), inline(device.system)) : device.browser);
    const text = MAIL_TEXTS[language][kind]({ portal: portalUrl, link, device: name, time: timeIn(locale, at) });
    return { language, direction, text };
  });
  return {
    to,
    subject: texts.map(({ text }) => text.subject).join(' · '),
    text: `${texts.map(({ text }) => text.paragraphs.join('\n\n')).join('\n\n---\n\n')}\n`,
    html: [
      '<!doctype html><html><head><meta charset="utf-8"></head><body style="font-family: sans-serif; line-height: 1.5">',
      ...texts.map(
        ({ language, direction, text }) =>
          `<div lang="${language}" dir="${direction}"><h1 style="font-size: 18px">${escapeHtml(text.subject)}</h1>${toHtml(text)}</div>`,
      ),
      '</body></html>',
    ].join('\n'),
  };
}

/** In the time zone of most users, and with its name. */
function timeIn(locale: string, at: Date): string {
  return new Intl.DateTimeFormat(locale, {
    ...{ day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' },
    ...{ timeZone: 'Asia/Dubai', timeZoneName: 'shortOffset' },
  }).format(at);
}

function toHtml({ paragraphs }: MailText): string {
  return paragraphs
    .map((paragraph) => {
      const escaped = escapeHtml(paragraph);
      return /^https?:\S+$/.test(paragraph)
        ? `<p dir="ltr"><a href="${escaped}">${escaped}</a></p>`
        : `<p>${escaped}</p>`;
    })
    .join('');
}
