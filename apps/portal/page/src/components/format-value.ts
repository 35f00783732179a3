import type { TFunction } from 'i18next';
import type { ListedOrder } from '../api/review.ts';
import { locale } from '../locales/index.ts';

/** Dear to make and cheap to use, and a list shows many amounts. */
const formats = new Map<string, Intl.NumberFormat>();

/** A decimal text with thousands separators. It never becomes a number of JavaScript, which would round it. */
export function formatAmount(total: string): string {
  const language = locale();
  const format =
    formats.get(language) ?? new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 6 });
  formats.set(language, format);
  return format.format(total as Intl.StringNumericLiteral);
}

/** An emirate in the reader's language, or what was written where it is none of the seven. */
export function emirateText(t: TFunction, { emirate, emirate_code }: ListedOrder): string | null {
  return emirate_code === null ? emirate : t(`emirate.${emirate_code}`);
}

/** A phone number in groups, as people read it out; only Emirati ones are grouped, others stay as they are. */
export function formatPhone(phone: string): string {
  const [, mobile, rest, end] = /^\+971(\d{1,2})(\d{3})(\d{4})$/.exec(phone) ?? [];
  return mobile ? `+971 ${mobile} ${rest} ${end}` : phone;
}
