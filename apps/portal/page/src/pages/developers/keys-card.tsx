import { useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { Key, NewKey } from '../../api/integrations.ts';
import { useGet } from '../../api/queries.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { EmptyState, Loaded, Skeleton } from '../../components/loaded.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { fullTime } from '../../components/time.tsx';
import { ReplaceDialog } from './grace-choice.tsx';
import { CreateKeyDialog, LimitKeyDialog, RevokeKeyDialog } from './key-dialogs.tsx';
import { type KeyAction, KeysTable } from './keys-table.tsx';

type Open = { what: 'create' | 'shown' } | { what: KeyAction; key: Key } | null;

/** The account's keys. A new key is shown once. */
export function KeysCard(props: { newKey: NewKey | null; onNewKey: (key: NewKey | null) => void }): ReactNode {
  const { newKey, onNewKey } = props;
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const path = `/accounts/${accountId}/keys`;
  const query = useGet(['keys', accountId], path, { select: (reply: { keys: Key[] }) => reply.keys });
  const keys = query.data ?? [];
  const mayChange = useCan()('develop');
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const refresh = () => void queryClient.invalidateQueries({ queryKey: ['keys', accountId] });
  const show = (key: NewKey) => {
    onNewKey(key);
    setOpen({ what: 'shown' });
    refresh();
  };
  const changed = () => {
    close();
    refresh();
  };
  const create = mayChange && (
    <Button Icon={KeyRound} kind="main" onClick={() => setOpen({ what: 'create' })}>
      {t('keys.create')}
    </Button>
  );
  const hasNone = query.data?.length === 0;
  return (
    <Card title={t('keys.title')} about={t('keys.about')} actions={!hasNone && create} className="stack table-scope">
      <Loaded query={query} skeleton={<Skeleton shape="rows" count={2} />}>
        {() =>
          hasNone ? (
            <EmptyState title={t('keys.none')} text={mayChange ? t('keys.noneAbout') : undefined} action={create} />
          ) : (
            <>
              {keys.map(
                ({ key_id, name, last_four, expires_at, expires_soon }) =>
                  expires_soon &&
                  expires_at && (
                    <p key={key_id} className="note note-warn">
                      {t('keys.expiresSoon', { name, lastFour: last_four, time: fullTime(expires_at) })}
                    </p>
                  ),
              )}
              <KeysTable keys={keys} onAsk={(what, key) => setOpen({ what, key })} />
            </>
          )
        }
      </Loaded>
      {open?.what === 'create' && <CreateKeyDialog onDone={show} onClose={close} />}
      {open?.what === 'limit' && <LimitKeyDialog changed={open.key} onDone={changed} onClose={close} />}
      {open?.what === 'replace' && (
        <ReplaceDialog
          title={t('keys.replaceTitle', { name: open.key.name, lastFour: open.key.last_four })}
          about={t('keys.replaceAbout')}
          label={t('keys.grace')}
          submit={t('keys.replace')}
          replace={async (grace) =>
            show(await call<NewKey>('POST', `${path}/${open.key.key_id}/replace`, { body: { grace } }))
          }
          onClose={close}
        />
      )}
      {open?.what === 'revoke' && <RevokeKeyDialog revoked={open.key} keys={keys} onDone={changed} onClose={close} />}
      {/* The only place where a key is shown. */}
      {open?.what === 'shown' && newKey && (
        <ShownOnce
          title={t('keys.made', { name: newKey.name })}
          note={t('keys.once')}
          text={newKey.key}
          copy={t('keys.copy')}
          onClose={close}
        />
      )}
    </Card>
  );
}
