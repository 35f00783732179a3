import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Key, SCOPES } from '../../api/integrations.ts';
import { useCan } from '../../api/session.ts';
import { Ago, fullTime } from '../../components/time.tsx';
import '../../components/data-table.css';

/** Active keys, newest first, and expired and revoked ones in a collapsed section. */
export function KeysTable(props: {
  keys: Key[];
  onLimit: (key: Key) => void;
  onReplace: (key: Key) => void;
  onRevoke: (key: Key) => void;
}): ReactNode {
  const { t } = useTranslation('integrations');
  const newest = props.keys.toReversed();
  const active = newest.filter(({ state }) => state === 'active');
  const ended = newest.filter(({ state }) => state !== 'active');
  const endedLabel = t('keys.ended', { count: ended.length });
  return (
    <>
      {active.length > 0 ? (
        <Rows {...props} keys={active} label={t('keys.title')} />
      ) : (
        <p className="note">{t('keys.noneActive')}</p>
      )}
      {ended.length > 0 && (
        <details>
          <summary>{endedLabel}</summary>
          <Rows {...props} keys={ended} label={endedLabel} />
        </details>
      )}
    </>
  );
}

/** The key's name and the end of its text, which tells keys of one name apart. */
export function KeyName({ name, lastFour }: { name: string; lastFour: string }): ReactNode {
  return (
    <>
      <bdi>{name}</bdi>{' '}
      <bdi dir="ltr" className="mono">
        …{lastFour}
      </bdi>
    </>
  );
}

export function LastUse({ usedAt }: { usedAt: string | null }): ReactNode {
  const { t } = useTranslation('integrations');
  return usedAt === null ? t('keys.neverUsed') : <Ago at={usedAt} />;
}

function Rows(props: {
  keys: Key[];
  label: string;
  onLimit: (key: Key) => void;
  onReplace: (key: Key) => void;
  onRevoke: (key: Key) => void;
}): ReactNode {
  const { t } = useTranslation('integrations');
  const mayChange = useCan()('develop');
  return (
    <table className="data-table key-table" aria-label={props.label}>
      <thead>
        <tr>
          <th scope="col">{t('keys.key')}</th>
          <th scope="col">{t('keys.created')}</th>
          <th scope="col">{t('keys.used')}</th>
          <th scope="col">
            <span className="visually-hidden">{t('keys.actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {props.keys.map((key) => (
          <tr key={key.key_id}>
            <th scope="row">
              <KeyName name={key.name} lastFour={key.last_four} />
              <KeyState state={key} />
              <KeyLimits limits={key} />
            </th>
            <td data-label={t('keys.created')}>
              <Ago at={key.created_at} />
            </td>
            <td data-label={t('keys.used')}>
              <LastUse usedAt={key.last_used_at} />
            </td>
            <td className="cell-actions">
              {mayChange && key.state === 'active' && (
                <span className="row">
                  {!isReplaced(key) && (
                    <>
                      <button type="button" className="button" onClick={() => props.onLimit(key)}>
                        {t('keys.limit')}
                      </button>
                      <button type="button" className="button" onClick={() => props.onReplace(key)}>
                        {t('keys.replace')}
                      </button>
                    </>
                  )}
                  <button type="button" className="button button-bad" onClick={() => props.onRevoke(key)}>
                    {t('keys.revoke')}
                  </button>
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function isReplaced({ expires_at, lifetime_seconds }: Key): boolean {
  return expires_at !== null && lifetime_seconds === null;
}

/** When a key stops working, or how it ended. */
function KeyState({ state: key }: { state: Key }): ReactNode {
  const { t } = useTranslation('integrations');
  const { state, expires_at, revoked_at } = key;
  if (state === 'revoked' && revoked_at)
    return <p className="hint">{t('keys.revoked', { time: fullTime(revoked_at) })}</p>;
  if (!expires_at) return null;
  const text = isReplaced(key)
    ? ({ active: 'keys.replacedUntil', ended: 'keys.replacedEnded' } as const)
    : ({ active: 'keys.expires', ended: 'keys.expired' } as const);
  return <p className="hint">{t(text[state === 'active' ? 'active' : 'ended'], { time: fullTime(expires_at) })}</p>;
}

/** The scopes of a key that lacks one, and its addresses. */
function KeyLimits({ limits: { scopes, addresses } }: { limits: Key }): ReactNode {
  const { t } = useTranslation('integrations');
  return (
    <>
      {scopes.length < SCOPES.length && (
        <p className="hint">
          {t('keys.only', { scopes: scopes.map((scope) => t(`keys.scope.${scope}`)).join(' · ') })}
        </p>
      )}
      {addresses.length > 0 && (
        <p className="hint key-addresses">{t('keys.from', { addresses: addresses.join(', ') })}</p>
      )}
    </>
  );
}
