import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { Grace } from '../../api/integrations.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { replaceSecret, type Source } from '../../api/sources.ts';
import { Button, CopyButton } from '../../components/button.tsx';
import { MAPPING, sourceSubject, useDrafts } from '../../components/drafts.ts';
import { Field } from '../../components/field.tsx';
import { Confirm, FormDialog } from '../../components/form-dialog.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { useAction } from '../../components/use-action.ts';
import { GraceChoice } from '../developers/grace-choice.tsx';

export const SOURCE_ACTIONS = ['secret', 'url', 'remove'] as const;
export type SourceAction = (typeof SOURCE_ACTIONS)[number];

interface DialogProps {
  source: Source;
  onClose: () => void;
}

/** The dialog of an action on a source. */
export function SourceDialog({ action, source, onClose }: DialogProps & { action: SourceAction }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const { keep } = useDrafts(sourceSubject(accountId, source.source_number));
  if (action === 'secret') return <SecretDialog source={source} onClose={onClose} />;
  const path = `/accounts/${accountId}/sources/${source.source_number}`;
  return (
    <Confirm
      title={t(`${action}.title`, { name: source.name })}
      text={t(`${action}.about`)}
      label={t(`${action}.submit`)}
      action={async () => {
        await (action === 'url' ? call('POST', `${path}/replace-url`) : call('DELETE', path));
        if (action === 'remove') keep(MAPPING, null);
        await queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      }}
      onClose={onClose}
    />
  );
}

/** Stores the platform's new secret, or creates one and shows it once. */
function SecretDialog({ source, onClose }: DialogProps): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [secret, setSecret] = useState('');
  const [overlap, setOverlap] = useState<Grace>('24h');
  const [created, setCreated] = useState<string | null>(null);
  const replacing = useAction({
    mutationFn: async () => {
      const body = { overlap, ...(secret.trim() !== '' && { secret: secret.trim() }) };
      const replaced = await replaceSecret(accountId, source.source_number, body);
      void queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      if (replaced.secret === undefined) onClose();
      else setCreated(replaced.secret);
    },
  });
  const title = t('secret.title', { name: source.name });
  if (created !== null)
    return <ShownOnce title={title} note={t('secret.once')} text={created} copy={t('secret.copy')} onClose={onClose} />;
  return (
    <FormDialog title={title} submit={t('secret.submit')} action={replacing} onClose={onClose}>
      <SecretField value={secret} onChange={setSecret} hint={t('secret.createHint')} />
      <GraceChoice label={t('secret.overlap')} value={overlap} onChange={setOverlap} />
    </FormDialog>
  );
}

/** A secret that the platform shows. It is written, never shown. */
export function SecretField(props: {
  value: string;
  onChange: (value: string) => void;
  hint: string;
  error?: string | null;
}): ReactNode {
  const { t } = useTranslation('sources');
  // "off" alone makes browsers offer the password of the portal.
  return (
    <Field
      label={t('secret.label')}
      type="password"
      dir="ltr"
      autoComplete="new-password"
      maxLength={1000}
      {...props}
    />
  );
}

/** The URL to paste into the platform. */
export function SourceUrl({ url }: { url: string }): ReactNode {
  return (
    <p className="row source-url">
      <code dir="ltr">{url}</code>
      <CopyButton text={url} />
    </p>
  );
}

/** What the order ids of a source begin with; until its first order, a person can change it. */
export function IdPrefix({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const mayChange = useCan()('develop');
  const [isOpen, setOpen] = useState(false);
  const { id_prefix, is_used, name } = source;
  return (
    <div className="row hint">
      {id_prefix === '' ? (
        <span>{t('prefix.none')}</span>
      ) : (
        <span>
          {t('prefix.shown')} <code dir="ltr">{id_prefix}:</code>
        </span>
      )}
      {mayChange && !is_used && (
        <Button aria-label={t('prefix.title', { name })} onClick={() => setOpen(true)}>
          {t('prefix.change')}
        </Button>
      )}
      {isOpen && <PrefixDialog source={source} onClose={() => setOpen(false)} />}
    </div>
  );
}

function PrefixDialog({ source, onClose }: DialogProps): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [prefix, setPrefix] = useState(source.id_prefix);
  const changing = useAction({
    mutationFn: async () => {
      const path = `/accounts/${accountId}/sources/${source.source_number}/id-prefix`;
      await call('PUT', path, { body: { id_prefix: prefix.trim() } });
      await queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('prefix.title', { name: source.name })}
      submit={t('prefix.submit')}
      action={changing}
      onClose={onClose}
    >
      <p>{t('prefix.about')}</p>
      <Field
        label={t('prefix.label')}
        hint={t('prefix.hint')}
        dir="ltr"
        autoComplete="off"
        spellCheck={false}
        maxLength={30}
        value={prefix}
        onChange={setPrefix}
      />
    </FormDialog>
  );
}
