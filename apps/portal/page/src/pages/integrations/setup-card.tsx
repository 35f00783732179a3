import { CircleCheck, CircleDashed } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useSetup } from '../../api/integrations.ts';
import { useAccountId } from '../../api/session.ts';
import { tabHref } from './tabs.ts';

/** The first steps of a new account. It is gone once all are done or somebody has hidden it. */
export function SetupCard(): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const stored = `setup-hidden:${accountId}`;
  const [isHidden, setHidden] = useState(() => localStorage.getItem(stored) !== null);
  const { data: setup } = useSetup(accountId, !isHidden);
  if (isHidden || !setup) return null;
  const steps = [
    { name: 'key', isDone: setup.has_key, href: tabHref(accountId, 'keys') },
    { name: 'test', isDone: setup.has_order, href: tabHref(accountId, 'try') },
    { name: 'review', isDone: setup.has_decision, href: `/accounts/${accountId}/review` },
    { name: 'send', isDone: setup.has_sent, href: tabHref(accountId, 'try') },
  ];
  if (steps.every(({ isDone }) => isDone)) return null;
  const next = steps.find(({ isDone }) => !isDone)?.name;
  const hide = () => {
    localStorage.setItem(stored, 'yes');
    setHidden(true);
  };
  return (
    <section className="card stack-tight setup" aria-labelledby="setup-title">
      <header className="spread">
        <h2 id="setup-title">{t('setup.title')}</h2>
        <button type="button" className="button button-quiet" onClick={hide}>
          {t('setup.hide')}
        </button>
      </header>
      <ol className="plain setup-steps">
        {steps.map(({ name, isDone, href }) => (
          <li key={name} className={isDone ? 'is-done' : undefined}>
            {isDone ? <CircleCheck aria-hidden="true" size={18} /> : <CircleDashed aria-hidden="true" size={18} />}
            <div>
              {isDone ? t(`setup.${name}`) : <Link href={href}>{t(`setup.${name}`)}</Link>}
              {isDone && <span className="visually-hidden"> {t('setup.done')}</span>}
              {name === next && <p className="hint">{t(`setup.${name}About`)}</p>}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
