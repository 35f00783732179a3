import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { Secret, SecretRow } from '../../api/integrations.ts';
import { useGet } from '../../api/queries.ts';
import { useAccountId, useCan, useSession } from '../../api/session.ts';
import { Button, CopyButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Confirm } from '../../components/form-dialog.tsx';
import { Loaded, ProblemNote, Skeleton } from '../../components/loaded.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { Switch } from '../../components/segments.tsx';
import { Ago, fullTime } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { ReplaceDialog } from './grace-choice.tsx';

/** Intake's endpoints and the signing secrets. */
export function WebhookCard({ onSecret }: { onSecret: (secret: string | null) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const { intake_url } = useSession();
  const accountId = useAccountId();
  const signing = useGet<{ secrets: SecretRow[]; signed_only: boolean }>(
    ['signing', accountId],
    `/accounts/${accountId}/signing`,
    { refetchInterval: 20_000 },
  );
  return (
    <Card title={t('webhook.title')}>
      <dl className="stack">
        <Endpoint label={t('webhook.orders')} url={`${intake_url}/ingest/orders`} />
        <Endpoint label={t('webhook.webhook')} url={`${intake_url}/ingest/webhook`} />
      </dl>
      <Loaded query={signing} skeleton={<Skeleton count={2} />}>
        {({ secrets, signed_only }) =>
          secrets.length === 0 ? (
            <p className="note note-warn">{t('webhook.unavailable')}</p>
          ) : (
            <>
              <Secrets rows={secrets} onSecret={onSecret} />
              <SignedOnly isOn={signed_only} />
            </>
          )
        }
      </Loaded>
    </Card>
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
  const revealing = useAction({
    mutationFn: async () =>
      show((await call<{ secrets: Secret[] }>('POST', `/accounts/${accountId}/signing/reveal`)).secrets),
  });
  const textOf = (row: SecretRow) => shown?.find(({ created_at }) => created_at === row.created_at)?.secret ?? null;
  return (
    <div className="stack">
      <header className="spread">
        <h3>{t('webhook.secret')}</h3>
        <HelpLink page="webhook-secret" anchor="reveal" />
      </header>
      <p className="hint">{t('webhook.about')}</p>
      <ul className="plain lined-list" aria-label={t('webhook.secret')}>
        {rows.map((row, index) => (
          <SecretItem key={row.secret_id} row={row} text={textOf(row)} isNewest={index === 0} />
        ))}
      </ul>
      {revealing.error !== null && <ProblemNote error={revealing.error} />}
      {can('develop') && (
        <div className="row">
          {shown ? (
            <Button onClick={() => show(null)}>{t('webhook.hide')}</Button>
          ) : (
            <Button disabled={revealing.isPending} onClick={() => revealing.mutate()}>
              {t('webhook.reveal')}
            </Button>
          )}
          <Button onClick={() => setRotating(true)}>{t('webhook.rotate')}</Button>
          <span className="hint">{t('webhook.recorded')}</span>
        </div>
      )}
      {isRotating && (
        <ReplaceDialog
          title={t('webhook.rotate')}
          about={t('webhook.rotateAbout')}
          label={t('webhook.overlap')}
          submit={t('webhook.rotate')}
          replace={async (overlap) => {
            await call('POST', `/accounts/${accountId}/signing/rotate`, { body: { overlap } });
            setRotating(false);
            show(null);
            void queryClient.invalidateQueries({ queryKey: ['signing', accountId] });
          }}
          onClose={() => setRotating(false)}
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
  const set = async (signed_only: boolean) => {
    await call('PUT', `/accounts/${accountId}/signing/signed-only`, { body: { signed_only } });
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
  const { created_at, expires_at, last_used_at } = row;
  return (
    <li className="stack-tight">
      <p className="row">
        <span className={isNewest ? 'badge badge-good' : 'badge badge-warn'}>
          {t(isNewest ? 'webhook.current' : 'webhook.old')}
        </span>
        <code dir="ltr" className="secret">
          {text ?? 'oss_••••••••••••'}
        </code>
        {text && <CopyButton text={text} />}
      </p>
      <p className="hint row wide-gaps">
        <span>
          {t('keys.created')} <Ago at={created_at} />
        </span>
        {expires_at && <span>{t('webhook.until', { time: fullTime(expires_at) })}</span>}
        {!isNewest && (
          <span>
            {t(last_used_at ? 'webhook.oldUsed' : 'webhook.oldNotUsed')} {last_used_at && <Ago at={last_used_at} />}
          </span>
        )}
      </p>
    </li>
  );
}
