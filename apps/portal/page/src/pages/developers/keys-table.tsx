import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Key, SCOPES } from '../../api/integrations.ts';
import { useCan } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Mono } from '../../components/card.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Ago, fullTime } from '../../components/time.tsx';

const ACTIONS = ['limit', 'replace', 'revoke'] as const;
export type KeyAction = (typeof ACTIONS)[number];

interface KeysProps {
  keys: readonly Key[];
  onAsk: (what: KeyAction, key: Key) => void;
}

/** Active keys, newest first, and expired and revoked ones in a collapsed section. */
export function KeysTable({ keys, onAsk }: KeysProps): ReactNode {
  const { t } = useTranslation('integrations');
  const newest = keys.toReversed();
  const active = newest.filter(({ state }) => state === 'active');
  const ended = newest.filter(({ state }) => state !== 'active');
  const endedLabel = t('keys.ended', { count: ended.length });
  return (
    <>
      {active.length > 0 ? (
        <Rows keys={active} label={t('keys.title')} onAsk={onAsk} />
      ) : (
        <p className="note">{t('keys.noneActive')}</p>
      )}
      {ended.length > 0 && (
        <details>
          <summary>{endedLabel}</summary>
          <Rows keys={ended} label={endedLabel} onAsk={onAsk} />
        </details>
      )}
    </>
  );
}

export function LastUse({ usedAt }: { usedAt: string | null }): ReactNode {
  const { t } = useTranslation('integrations');
  return usedAt === null ? t('keys.neverUsed') : <Ago at={usedAt} />;
}

function Rows({ keys, label, onAsk }: KeysProps & { label: string }): ReactNode {
  const { t } = useTranslation('integrations');
  const mayChange = useCan()('develop');
  const actionsOf = (key: Key) =>
    mayChange && key.state === 'active' ? ACTIONS.filter((what) => what === 'revoke' || !isReplaced(key)) : [];
  return (
    <DataTable
      label={label}
      rows={keys}
      keyOf={({ key_id }) => key_id}
      columns={[
        { header: t('keys.key'), cell: (key) => <KeyName named={key} /> },
        { header: t('keys.created'), cell: ({ created_at }) => <Ago at={created_at} /> },
        { header: t('keys.used'), cell: ({ last_used_at }) => <LastUse usedAt={last_used_at} /> },
      ]}
      actions={{
        header: t('keys.actions'),
        of: (key) =>
          actionsOf(key).map((what) => (
            <Button key={what} kind={what === 'revoke' ? 'bad' : undefined} onClick={() => onAsk(what, key)}>
              {t(`keys.${what}`)}
            </Button>
          )),
      }}
    />
  );
}

function isReplaced({ expires_at, lifetime_seconds }: Key): boolean {
  return expires_at !== null && lifetime_seconds === null;
}

/** The key's name and the end of its text, which tells keys of one name apart; below, when it stops working and what it may do. */
function KeyName({ named }: { named: Key }): ReactNode {
  const { name, last_four, scopes, addresses } = named;
  const { t } = useTranslation('integrations');
  return (
    <>
      <bdi>{name}</bdi> <Mono>…{last_four}</Mono>
      <KeyState of={named} />
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

/** When a key stops working, or how it ended. */
function KeyState({ of: key }: { of: Key }): ReactNode {
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
