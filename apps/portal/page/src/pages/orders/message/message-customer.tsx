import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Order } from '../../../api/review.ts';
import { useAccount, useAccountId } from '../../../api/session.ts';
import { CopyButton } from '../../../components/button.tsx';
import { Field, SelectField } from '../../../components/field.tsx';
import { Dialog } from '../../../components/form-dialog.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { smsAddress, whatsAppAddress } from '../../../components/order-values.ts';
import { Segments } from '../../../components/segments.tsx';
import { LANGUAGES, type Language, readInAllLanguages } from '../../../locales/index.ts';

const TEMPLATES = ['address', 'unavailable', 'payment'] as const;
type Template = (typeof TEMPLATES)[number];
type Texts = Record<Language, Record<string, string>>;

type Customer = Pick<Order, 'order_number' | 'customer'>;

/** A message to the customer, in a dialog. */
export function MessageDialog({ order, onClose }: { order: Customer; onClose: () => void }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <Dialog title={t('message.open')} onClose={onClose}>
      <MessageCustomer order={order} />
    </Dialog>
  );
}

/**
 * A short text in the language of the customer, which a person edits and then sends by WhatsApp or SMS, or copies. The portal sends and
 * stores nothing of it.
 */
export function MessageCustomer({ order }: { order: Customer }): ReactNode {
  const texts = useQuery({
    queryKey: ['messages'],
    queryFn: async () => (await readInAllLanguages('messages')) as Texts,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return <Loaded query={texts}>{(loaded) => <Message order={order} texts={loaded} />}</Loaded>;
}

function Message({ order, texts }: { order: Customer; texts: Texts }): ReactNode {
  const { t, i18n } = useTranslation('review');
  const account = useAccount(useAccountId())?.name ?? '';
  const [template, setTemplate] = useState<Template>(TEMPLATES[0]);
  const [language, setLanguage] = useState(i18n.language as Language);
  /** Each template keeps what was typed into it. */
  const [edited, setEdited] = useState<Record<string, string>>({});
  const key = `${language} ${template}`;
  const text = edited[key] ?? filled(texts[language], template, order, account);
  const { phone } = order.customer;
  const whatsApp = phone === null ? null : whatsAppAddress(phone, text);
  const sms = phone === null ? null : smsAddress(phone, text);
  return (
    <div className="stack">
      <SelectField
        label={t('message.template')}
        options={TEMPLATES.map((value) => ({ value, name: t(`message.templates.${value}`) }))}
        value={template}
        onChange={setTemplate}
      />
      <Segments
        label={t('message.language')}
        options={Object.entries(LANGUAGES).map(([value, name]) => ({ value: value as Language, name, lang: value }))}
        value={language}
        onChange={setLanguage}
      />
      <Field
        label={t('message.text')}
        dir="auto"
        lang={language}
        rows={5}
        value={text}
        onChange={(value) => setEdited({ ...edited, [key]: value })}
      />
      <div className="row">
        {whatsApp && (
          <a className="button" href={whatsApp} target="_blank" rel="noopener noreferrer">
            {t('message.whatsapp')}
          </a>
        )}
        {sms && (
          <a className="button" href={sms}>
            {t('message.sms')}
          </a>
        )}
        <CopyButton text={text} label={t('message.copy')} />
      </div>
      <p className="hint">{t('message.about')}</p>
    </div>
  );
}

function filled(
  texts: Record<string, string>,
  template: Template,
  { order_number, customer: { name } }: Customer,
  account: string,
): string {
  const values: Record<string, string> = { customer: name ?? '', number: order_number, account };
  const text = `${texts[name === null ? 'greetingUnnamed' : 'greeting']} ${texts[template]}`;
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, member: string) => values[member] ?? '');
}
