import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Key } from '../../api/integrations.ts';
import { Ago, fullTime } from '../../components/time.tsx';

const BADGES = { active: 'badge badge-good', expired: 'badge', revoked: 'badge' };

/** Active keys, newest first, and expired and revoked ones in a collapsed section. */
export function KeysTable(props: {
  keys: Key[];
  onReplace: (key: Key) => void;
  onRevoke: (key: Key) => void;
}): ReactNode {
  const { t } = useTranslation('integrations');
  const newest = props.keys.toReversed();
  const active = newest.filter(({ state }) => state === 'active');
  const ended = newest.filter(({ state }) => state !== 'active');
  return (
    <>
      {active.length > 0 ? (
        <Rows {...props} keys={active} label={t('keys.title')} />
      ) : (
        <p className="note">{t('keys.noneActive')}</p>
      )}
      {ended.length > 0 && (
        <details>
          <summary>{t('keys.ended', { count: ended.length })}</summary>
          <Rows {...props} keys={ended} label={t('keys.ended', { count: ended.length })} />
        </details>
      )}
    </>
  );
}

function Rows(props: {
  keys: Key[];
  label: string;
  onReplace: (key: Key) => void;
  onRevoke: (key: Key) => void;
}): ReactNode {
  const { t } = useTranslation('integrations');
  return (
    <ul className="plain key-list" aria-label={props.label}>
      {props.keys.map((key) => (
        <li key={key.key_id}>
          <div className="stack-tight">
            <p className="row">
              <strong dir="auto">{key.name}</strong>
              <bdi dir="ltr" className="mono">
                oik_…{key.last_four}
              </bdi>
              <span className={BADGES[key.state]}>{t(`keys.state.${key.state}`)}</span>
            </p>
            <p className="hint row key-dates">
              <span>
                {t('keys.created')} <Ago at={key.created_at} />
              </span>
              <span>
                {key.last_used_at ? (
                  <>
                    {t('keys.used')} <Ago at={key.last_used_at} />
                  </>
                ) : (
                  t('keys.neverUsed')
                )}
              </span>
              {key.expires_at && (
                <span>
                  {t(key.state === 'expired' ? 'keys.expired' : 'keys.expires', { time: fullTime(key.expires_at) })}
                </span>
              )}
            </p>
          </div>
          {key.state === 'active' && (
            <div className="row">
              {!key.expires_at && (
                <button type="button" className="button" onClick={() => props.onReplace(key)}>
                  {t('keys.replace')}
                </button>
              )}
              <button type="button" className="button button-bad" onClick={() => props.onRevoke(key)}>
                {t('keys.revoke')}
              </button>
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
