import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { type Key, LIFETIMES, type Lifetime, type NewKey, SCOPES, type Scope } from '../../api/integrations.ts';
import { useAccountId } from '../../api/session.ts';
import { Fact } from '../../components/card.tsx';
import { CheckChoice, Field, NameField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Segments } from '../../components/segments.tsx';
import { Ago } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { LastUse } from './keys-table.tsx';

interface DialogProps {
  onClose: () => void;
}

interface KeyAccess {
  scopes: Scope[];
  /** Null where the expiry of an existing key stays as it is. */
  expires: Lifetime | null;
  /** As typed: addresses and ranges separated by spaces, line ends or commas. */
  addresses: string;
}

const addressesIn = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** Asks for a name and what the key may do, and creates it. */
export function CreateKeyDialog({ onDone, onClose }: DialogProps & { onDone: (key: NewKey) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const [name, setName] = useState('');
  const [access, setAccess] = useState<KeyAccess>({ scopes: [...SCOPES], expires: 'never', addresses: '' });
  const creating = useAction({
    mutationFn: async () => {
      const body = { name, ...access, addresses: addressesIn(access.addresses) };
      onDone(await call<NewKey>('POST', `/accounts/${accountId}/keys`, { body }));
    },
  });
  return (
    <FormDialog
      title={t('keys.create')}
      submit={t('keys.create')}
      action={creating}
      isExplained={areAddressesRejected(creating.error)}
      isIncomplete={name.trim() === '' || access.scopes.length === 0}
      onClose={onClose}
    >
      <NameField label={t('keys.name')} hint={t('keys.nameHint')} maxLength={200} value={name} onChange={setName} />
      <KeyAccessFields access={access} isNew error={creating.error} onChange={setAccess} />
    </FormDialog>
  );
}

/** Changes what a key may do, for how long from now, and from where. */
export function LimitKeyDialog(props: DialogProps & { changed: Key; onDone: () => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const { key_id, name, last_four, scopes, addresses } = props.changed;
  const [access, setAccess] = useState<KeyAccess>({ scopes, expires: null, addresses: addresses.join('\n') });
  const updating = useAction({
    mutationFn: async () => {
      const limits = { scopes: access.scopes, addresses: addressesIn(access.addresses) };
      const body = { ...limits, ...(access.expires && { expires: access.expires }) };
      await call('PATCH', `/accounts/${accountId}/keys/${key_id}`, { body });
      props.onDone();
    },
  });
  return (
    <FormDialog
      title={t('keys.limitTitle', { name, lastFour: last_four })}
      submit={t('keys.saveLimits')}
      action={updating}
      isExplained={areAddressesRejected(updating.error)}
      isIncomplete={access.scopes.length === 0}
      onClose={props.onClose}
    >
      <p>{t('keys.limitAbout')}</p>
      <KeyAccessFields access={access} isNew={false} error={updating.error} onChange={setAccess} />
    </FormDialog>
  );
}

const UNCHANGED = 'unchanged' as const;

/** What a key may do, for how long, and from where. */
function KeyAccessFields(props: {
  access: KeyAccess;
  isNew: boolean;
  error: unknown;
  onChange: (access: KeyAccess) => void;
}): ReactNode {
  const { t } = useTranslation('integrations');
  const { access, isNew, onChange } = props;
  return (
    <>
      <CheckChoice
        label={t('keys.scopes')}
        options={SCOPES}
        nameOf={(scope) => t(`keys.scope.${scope}`)}
        values={access.scopes}
        onChange={(scopes) => onChange({ ...access, scopes })}
      />
      <Segments
        label={t('keys.lifetime')}
        options={[...(isNew ? [] : [UNCHANGED]), ...LIFETIMES].map((value) => ({
          value,
          name: t(`keys.lifetimes.${value}`),
        }))}
        value={access.expires ?? UNCHANGED}
        onChange={(expires) => onChange({ ...access, expires: expires === UNCHANGED ? null : expires })}
      />
      <Field
        label={t('keys.addresses')}
        hint={t('keys.addressesHint')}
        error={areAddressesRejected(props.error) ? t('keys.addressesRefused') : null}
        dir="ltr"
        rows={2}
        spellCheck={false}
        value={access.addresses}
        onChange={(addresses) => onChange({ ...access, addresses })}
      />
    </>
  );
}

/** Whether the server rejected the addresses, which the field says. */
function areAddressesRejected(error: unknown): boolean {
  return isProblem(error, 'invalid_request') && error.errors.some(({ pointer }) => pointer.startsWith('/addresses'));
}

const HOUR_MS = 3_600_000;

/** Names exactly the key that would be revoked, and warns if it seems to be in use. */
export function RevokeKeyDialog(
  props: DialogProps & { revoked: Key; keys: readonly Key[]; onDone: () => void },
): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const [openedAt] = useState(Date.now);
  const { key_id, name, last_four, created_at, last_used_at } = props.revoked;
  const revoking = useAction({
    mutationFn: async () => {
      await call('POST', `/accounts/${accountId}/keys/${key_id}/revoke`);
      props.onDone();
    },
  });
  return (
    <FormDialog
      title={t('keys.revokeTitle', { name, lastFour: last_four })}
      submit={t('keys.revokeKey', { lastFour: last_four })}
      cancel={t('keys.keep')}
      action={revoking}
      isDestructive
      onClose={props.onClose}
    >
      {warningsOf(props.revoked, props.keys, openedAt).map((warning) => (
        <p key={warning} className="note note-warn">
          {t(`keys.revokeWarning.${warning}`)}
        </p>
      ))}
      <dl className="facts">
        <Fact name={t('keys.created')}>
          <Ago at={created_at} />
        </Fact>
        <Fact name={t('keys.used')}>
          <LastUse usedAt={last_used_at} />
        </Fact>
      </dl>
      <p>{t('keys.revokeAbout')}</p>
    </FormDialog>
  );
}

/** Locale keys below `keys.revokeWarning`. */
function warningsOf(revoked: Key, keys: readonly Key[], now: number): ('usedLately' | 'newest' | 'only')[] {
  const others = keys.filter(({ key_id, state }) => state === 'active' && key_id !== revoked.key_id);
  const sameName = others.filter(({ name }) => name === revoked.name);
  const isNewest = sameName.length > 0 && sameName.every(({ key_id }) => key_id < revoked.key_id);
  const wasUsed = revoked.last_used_at !== null && now - new Date(revoked.last_used_at).getTime() < HOUR_MS;
  return [
    ...(wasUsed ? (['usedLately'] as const) : []),
    ...(isNewest ? (['newest'] as const) : []),
    ...(others.length === 0 ? (['only'] as const) : []),
  ];
}
