import { History, MapPin, MessageCircle, MessageSquareText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ListedOrder } from '../../../api/review.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { CopyIcon, IconButton } from '../../../components/button.tsx';
import { formatPhone, whatsAppAddress } from '../../../components/order-values.ts';
import { MessageDialog } from '../message/message-customer.tsx';

/** Copies the phone number, writes to it, with a prepared text too, or searches the list for its other orders. */
export function PhoneActions({ phone, order }: { phone: string; order: ListedOrder }): ReactNode {
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const can = useCan();
  const [isWriting, setWriting] = useState(false);
  const whatsApp = whatsAppAddress(phone);
  return (
    <>
      <CopyIcon text={phone} label={t('contact.copyPhone')} />
      {whatsApp && (
        <OutsideLink href={whatsApp} label={t('contact.whatsapp')}>
          <MessageCircle aria-hidden="true" size={15} />
        </OutsideLink>
      )}
      <Link
        href={`/accounts/${accountId}/orders?${new URLSearchParams({ q: phone })}`}
        className="icon-button value-button"
        aria-label={t('contact.orders', { phone: formatPhone(phone) })}
        title={t('contact.orders', { phone: formatPhone(phone) })}
      >
        <History aria-hidden="true" size={15} />
      </Link>
      {can('review') && (
        <IconButton
          className="value-button"
          label={t('message.open')}
          Icon={MessageSquareText}
          size={15}
          onClick={() => setWriting(true)}
        />
      )}
      {isWriting && <MessageDialog order={order} onClose={() => setWriting(false)} />}
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
