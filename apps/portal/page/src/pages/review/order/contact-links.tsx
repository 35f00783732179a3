import { History, MapPin, MessageCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ListedOrder } from '../../../api/review.ts';
import { useAccountId } from '../../../api/session.ts';
import { CopyIcon } from '../../../components/copy-button.tsx';
import { formatPhone } from '../../../components/order-values.ts';

/** Copies the phone number, writes to it, or searches the list for its other orders. */
export function PhoneActions({ phone }: { phone: string }): ReactNode {
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const [digits] = /^\+\d{7,15}/.exec(phone) ?? [];
  return (
    <>
      <CopyIcon text={phone} label={t('contact.copyPhone')} />
      {digits && (
        <OutsideLink href={`https://wa.me/${digits.slice(1)}`} label={t('contact.whatsapp')}>
          <MessageCircle aria-hidden="true" size={15} />
        </OutsideLink>
      )}
      <Link
        href={`/accounts/${accountId}/review?${new URLSearchParams({ q: phone })}`}
        className="icon-button value-button"
        aria-label={t('contact.orders', { phone: formatPhone(phone) })}
        title={t('contact.orders', { phone: formatPhone(phone) })}
      >
        <History aria-hidden="true" size={15} />
      </Link>
    </>
  );
}

/** Copies the address or shows it on a map. The map is only a link: nothing is loaded from it here. */
export function AddressActions({ order: { address, area, emirate } }: { order: ListedOrder }): ReactNode {
  const { t } = useTranslation('review');
  const place = [address, area, emirate].filter((part) => part !== null).join(', ');
  const query = new URLSearchParams({ api: '1', query: place.replaceAll(/\s+/g, ' ') });
  return (
    <>
      <CopyIcon text={place} label={t('contact.copyAddress')} />
      <OutsideLink href={`https://www.google.com/maps/search/?${query}`} label={t('contact.map')}>
        <MapPin aria-hidden="true" size={15} />
      </OutsideLink>
    </>
  );
}

function OutsideLink({ href, label, children }: { href: string; label: string; children: ReactNode }): ReactNode {
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      className="icon-button value-button"
      aria-label={label}
      title={label}
    >
      {children}
    </a>
  );
}
