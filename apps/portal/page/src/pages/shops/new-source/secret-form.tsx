import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { useAccountId } from '../../../api/session.ts';
import { replaceSecret, type Source } from '../../../api/sources.ts';
import { Button, CopyButton } from '../../../components/button.tsx';
import { Form, SubmitButton } from '../../../components/form-dialog.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { useAction } from '../../../components/use-action.ts';
import { sourcesHref } from '../../addresses.ts';
import { SecretField } from '../source-dialogs.tsx';
import { useUnfinishedSecrets } from './unfinished.ts';

/** The secret, and the way to the next step, which stores what was pasted. Shopify shows its own secret; other platforms take ours, or have their own. */
export function SecretForm({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const { created, pasted, keepSecrets } = useUnfinishedSecrets(source.source_number);
  const [isAsked, setAsked] = useState(false);
  const [wasPasted] = useState(pasted !== '');
  const showTest = () => navigate(sourcesHref(accountId, 'test', source.source_number));
  const storing = useAction({
    mutationFn: async () => {
      await replaceSecret(accountId, source.source_number, { secret: pasted.trim(), overlap: 'none' });
      keepSecrets({ created: null, pasted: null });
      await queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      showTest();
    },
  });
  const submit = () => {
    if (pasted.trim() !== '') storing.mutate();
    else if (isMissing(source)) setAsked(true);
    else showTest();
  };
  const field = (
    <SecretField
      value={pasted}
      onChange={(value) => keepSecrets({ pasted: value })}
      hint={t(`secret.where.${source.preset}`)}
      error={isAsked && pasted.trim() === '' ? t('secret.missing') : null}
    />
  );
  const isShopify = source.preset === 'shopify';
  return (
    <Form className="stack narrow" onSubmit={submit}>
      <div className="stack-tight">
        <h3>{t('secret.heading')}</h3>
        {isShopify && source.secret_replaced && <p className="note">{t('secret.stored')}</p>}
        {!isShopify && created !== null && <ShownSecret secret={created} />}
        {!isShopify && created === null && <p className="hint">{t('secret.hidden')}</p>}
        {isShopify ? (
          field
        ) : (
          <details open={wasPasted}>
            <summary>{t('secret.own')}</summary>
            {field}
          </details>
        )}
      </div>
      {storing.error !== null && <ProblemNote error={storing.error} />}
      <div className="row">
        <SubmitButton action={storing}>{t('connect.next')}</SubmitButton>
        {isAsked && pasted.trim() === '' && <Button onClick={showTest}>{t('secret.later')}</Button>}
      </div>
    </Form>
  );
}

/** Whether no delivery can be authentic yet: the secret that was created for Shopify is shown nowhere. */
function isMissing({ preset, secret_replaced, counts }: Source): boolean {
  const { rejected: _, ...authentic } = counts;
  return preset === 'shopify' && !secret_replaced && Object.keys(authentic).length === 0;
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
