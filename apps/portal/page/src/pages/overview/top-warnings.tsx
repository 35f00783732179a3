import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { Overview } from '../../api/overview.ts';
import { useAccountId } from '../../api/session.ts';
import { formatCount } from '../../components/numbers.ts';

/** The most frequent warnings, by the sender's field. */
export function TopWarnings({ warnings }: { warnings: Overview['warnings'] }): ReactNode {
  const { t } = useTranslation(['overview', 'review']);
  const accountId = useAccountId();
  const maxCount = warnings[0]?.count ?? 1;
  return (
    <section className="card stack-tight">
      <div className="spread">
        <h3>{t('warnings.title')}</h3>
        <Link href={`/accounts/${accountId}/review?severity=check`}>{t('warnings.show')}</Link>
      </div>
      <p className="hint">{t(warnings.length > 0 ? 'warnings.about' : 'warnings.none')}</p>
      <ol className="plain stack-tight">
        {warnings.map(({ pointer, code, count }) => (
          <li key={`${code} ${pointer}`} className="warning-bar">
            <span className="spread">
              <span>
                {t(`review:warning.${code}`, { defaultValue: code })}{' '}
                <bdi dir="ltr" className="mono hint">
                  {pointer || '/'}
                </bdi>
              </span>
              <span>{formatCount(count)}</span>
            </span>
            <span className="warning-share" style={{ inlineSize: `${(count / maxCount) * 100}%` }} />
          </li>
        ))}
      </ol>
    </section>
  );
}
