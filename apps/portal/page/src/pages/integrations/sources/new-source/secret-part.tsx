import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAccountId } from '../../../../api/session.ts';
import { replaceSecret, type Source } from '../../../../api/sources.ts';
import { CopyButton } from '../../../../components/copy-button.tsx';
import { ProblemNote } from '../../../../components/problem-note.tsx';
import { useAction } from '../../../../components/use-action.ts';
import { SecretField } from '../secret-field.tsx';

/** The secret: Shopify shows its own; other platforms take ours, or have their own. */
export function SecretPart(props: {
  source: Source;
  secret: string | null;
  onSecret: (secret: string | null) => void;
}): ReactNode {
  const { t } = useTranslation('sources');
  const { source, secret, onSecret } = props;
  const [isStored, setStored] = useState(false);
  const isPasted = source.preset === 'shopify';
  const stored = () => {
    onSecret(null);
    setStored(true);
  };
  return (
    <div className="stack-tight">
      <h3>{t('secret.heading')}</h3>
      {!isPasted && secret !== null && <ShownSecret secret={secret} />}
      {!isPasted && secret === null && !isStored && <p className="hint">{t('secret.hidden')}</p>}
      {isStored && (
        <p className="note" role="status">
          {t('secret.stored')}
        </p>
      )}
      {isPasted ? (
        <PasteSecret source={source} onStored={stored} />
      ) : (
        <details>
          <summary>{t('secret.own')}</summary>
          <PasteSecret source={source} onStored={stored} />
        </details>
      )}
    </div>
  );
}

function ShownSecret({ secret }: { secret: string }): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <>
      <p className="hint">{t('secret.once')}</p>
      <p className="row">
        <code dir="ltr" className="secret">
          {secret}
        </code>
        <CopyButton text={secret} label={t('secret.copy')} />
      </p>
    </>
  );
}

function PasteSecret({ source, onStored }: { source: Source; onStored: () => void }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const [secret, setSecret] = useState('');
  const storing = useAction({
    mutationFn: async () => {
      await replaceSecret(accountId, source.source_number, { secret: secret.trim(), overlap: 'none' });
      setSecret('');
      onStored();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    storing.mutate();
  };
  return (
    <form className="stack-tight narrow" onSubmit={submit}>
      <SecretField value={secret} onChange={setSecret} hint={t(`secret.where.${source.preset}`)} />
      {storing.error !== null && <ProblemNote error={storing.error} />}
      <div className="row">
        <button type="submit" className="button" disabled={storing.isPending || secret.trim() === ''}>
          {t('secret.store')}
        </button>
      </div>
    </form>
  );
}
