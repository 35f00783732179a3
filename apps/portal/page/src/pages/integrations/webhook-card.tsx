import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type Grace,
  revealSecrets,
  rotateSecret,
  type Secret,
  type SecretRow,
  saveSignedOnly,
  useSigning,
} from '../../api/integrations.ts';
import { useAccountId, useCan, useSession } from '../../api/session.ts';
import { Confirm } from '../../components/confirm.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Switch } from '../../components/segments.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Ago, fullTime } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { GraceChoice } from './grace-choice.tsx';

/** Intake's endpoints and the signing secrets. */
export function WebhookCard({ onSecret }: { onSecret: (secret: string | null) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const { intake_url } = useSession();
  const accountId = useAccountId();
  const signing = useSigning(accountId);
  return (
    <section className="card stack" aria-labelledby="webhook-title">
      <h2 id="webhook-title">{t('webhook.title')}</h2>
      <dl className="stack">
        <Endpoint label={t('webhook.orders')} url={`${intake_url}/ingest/orders`} />
        <Endpoint label={t('webhook.webhook')} url={`${intake_url}/ingest/webhook`} />
      </dl>
      {signing.isPending && <Skeleton count={2} />}
      {signing.isError && <ProblemNote error={signing.error} retry={() => void signing.refetch()} />}
      {signing.data?.secrets.length === 0 && <p className="note note-warn">{t('webhook.unavailable')}</p>}
      {signing.data && signing.data.secrets.length > 0 && (
        <>
          <Secrets rows={signing.data.secrets} onSecret={onSecret} />
          <SignedOnly isOn={signing.data.signed_only} />
        </>
      )}
    </section>
  );
}

function Endpoint({ label, url }: { label: string; url: string }): ReactNode {
  return (
    <div className="address">
      <dt className="hint">{label}</dt>
      <dd className="row">
        <code dir="ltr">{url}</code>
        <CopyButton text={url} />
      </dd>
    </div>
  );
}

function Secrets({ rows, onSecret }: { rows: SecretRow[]; onSecret: (secret: string | null) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const can = useCan();
  const [shown, setShown] = useState<Secret[] | null>(null);
  const [isRotating, setRotating] = useState(false);
  const show = (secrets: Secret[] | null) => {
    setShown(secrets);
    onSecret(secrets?.[0]?.secret ?? null);
  };
  const revealing = useAction({ mutationFn: async () => show(await revealSecrets(accountId)) });
  const textOf = (row: SecretRow) => shown?.find(({ created_at }) => created_at === row.created_at)?.secret ?? null;
  return (
    <div className="stack">
      <header className="spread">
        <h3>{t('webhook.secret')}</h3>
        <HelpLink page="webhook-secret" anchor="reveal" />
      </header>
      <p className="hint">{t('webhook.about')}</p>
      <ul className="plain key-list" aria-label={t('webhook.secret')}>
        {rows.map((row, index) => (
          <SecretItem key={row.secret_id} row={row} text={textOf(row)} isNewest={index === 0} />
        ))}
      </ul>
      {revealing.error !== null && <ProblemNote error={revealing.error} />}
      {can('develop') && (
        <div className="row">
          {shown ? (
            <button type="button" className="button" onClick={() => show(null)}>
              {t('webhook.hide')}
            </button>
          ) : (
            <button type="button" className="button" disabled={revealing.isPending} onClick={() => revealing.mutate()}>
              {t('webhook.reveal')}
            </button>
          )}
          <button type="button" className="button" onClick={() => setRotating(true)}>
            {t('webhook.rotate')}
          </button>
          <span className="hint">{t('webhook.recorded')}</span>
        </div>
      )}
      {isRotating && (
        <RotateDialog
          onClose={() => setRotating(false)}
          onDone={() => {
            setRotating(false);
            show(null);
            void queryClient.invalidateQueries({ queryKey: ['signing', accountId] });
          }}
        />
      )}
    </div>
  );
}

/** The switch for signed deliveries only. Turning it on asks first, as it stops senders that do not sign. */
function SignedOnly({ isOn }: { isOn: boolean }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const can = useCan();
  const [isAsking, setAsking] = useState(false);
  const set = async (value: boolean) => {
    await saveSignedOnly(accountId, value);
    await queryClient.invalidateQueries({ queryKey: ['signing', accountId] });
  };
  const turningOff = useAction({ mutationFn: () => set(false) });
  return (
    <div className="stack-tight">
      <div className="row">
        <Switch
          isOn={isOn}
          isBusy={turningOff.isPending || !can('develop')}
          label={t('webhook.signedOnly')}
          onClick={() => (isOn ? turningOff.mutate() : setAsking(true))}
        />
        <HelpLink page="webhook-secret" anchor="signed-only" />
      </div>
      <p className="hint">{t('webhook.signedOnlyAbout')}</p>
      {turningOff.isError && <ProblemNote error={turningOff.error} />}
      {isAsking && (
        <Confirm
          title={t('webhook.signedOnlyTitle')}
          text={t('webhook.signedOnlyWarning')}
          label={t('webhook.signedOnlySubmit')}
          action={() => set(true)}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}

function SecretItem({ row, text, isNewest }: { row: SecretRow; text: string | null; isNewest: boolean }): ReactNode {
  const { t } = useTranslation('integrations');
  return (
    <li>
      <div className="stack-tight">
        <p className="row">
          <span className={isNewest ? 'badge badge-good' : 'badge badge-warn'}>
            {isNewest ? t('webhook.current') : t('webhook.old')}
          </span>
          <code dir="ltr" className="secret">
            {text ?? 'oss_••••••••••••'}
          </code>
          {text && <CopyButton text={text} />}
        </p>
        <p className="hint row key-dates">
          <span>
            {t('keys.created')} <Ago at={row.created_at} />
          </span>
          {row.expires_at && <span>{t('webhook.until', { time: fullTime(row.expires_at) })}</span>}
          {!isNewest && (
            <span>
              {row.last_used_at ? (
                <>
                  {t('webhook.oldUsed')} <Ago at={row.last_used_at} />
                </>
              ) : (
                t('webhook.oldNotUsed')
              )}
            </span>
          )}
        </p>
      </div>
    </li>
  );
}

function RotateDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const [overlap, setOverlap] = useState<Grace>('24h');
  const rotating = useAction({
    mutationFn: async () => {
      await rotateSecret(accountId, overlap);
      onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotating.mutate();
  };
  return (
    <Dialog title={t('webhook.rotate')} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p>{t('webhook.rotateAbout')}</p>
        <GraceChoice label={t('webhook.overlap')} value={overlap} onChange={setOverlap} />
        {rotating.error !== null && <ProblemNote error={rotating.error} />}
        <FormButtons submit={t('webhook.rotate')} isBusy={rotating.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
