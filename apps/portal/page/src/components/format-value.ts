import type { TFunction } from 'i18next';
import type { ListedOrder } from '../api/review.ts';
import { locale } from '../locales/index.ts';

/** Cached because formatters are expensive to create, and a list shows many amounts. */
const formats = new Map<string, Intl.NumberFormat>();

/** Formats a decimal string with thousands separators. It is never converted to a number, which would round it. */
export function formatAmount(total: string): string {
  const language = locale();
  const format =
    formats.get(language) ?? new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 6 });
  formats.set(language, format);
  return format.format(total as Intl.StringNumericLiteral);
}

/** The emirate in the reader's language, or the original text if it is not one of the seven. */
export function emirateText(
  t: TFunction,
  { emirate, emirate_code }: Pick<ListedOrder, 'emirate' | 'emirate_code'>,
): string | null {
  return emirate_code === null ? emirate : t(`emirate.${emirate_code}`);
}

/** Groups the digits of an Emirati phone number; others stay unchanged. */
export function formatPhone(phone: string): string {
  const [, mobile, rest, end] = /^\+971(\d{1,2})(\d{3})(\d{4})$/.exec(phone) ?? [];
  return mobile ? `+971 ${mobile} ${rest} ${end}` : phone;
}
