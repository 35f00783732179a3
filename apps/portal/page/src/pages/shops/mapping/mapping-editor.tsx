import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAccountId } from '../../../api/session.ts';
import { type Source, useMappings, type Version } from '../../../api/sources.ts';
import { Actor } from '../../../components/actor.tsx';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { ProblemNote, Skeleton } from '../../../components/loaded.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { Popover } from '../../../components/popover.tsx';
import { Ago } from '../../../components/time.tsx';
import { RedriveDialog } from '../../deliveries/redrive-dialog.tsx';
import { MappingDraft } from './mapping-draft.tsx';

/** A source's mapping beside a delivery and the order made of it. */
export function MappingEditor({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const versions = useMappings(accountId, source.source_number);
  const [restored, setRestored] = useState<Version | null>(null);
  const [isRedriving, setRedriving] = useState(false);
  const [current] = versions.data ?? [];
  const edited = restored ?? current;
  return (
    <Card
      title={t('mapping.title', { name: source.name })}
      className="stack mapping-editor"
      actions={
        <>
          <HelpLink page="sources" anchor="mapping" />
          {versions.data && <Versions versions={versions.data} onRestore={setRestored} />}
        </>
      }
    >
      {versions.isError && <ProblemNote error={versions.error} retry={() => void versions.refetch()} />}
      {versions.isPending && <Skeleton shape="blocks" count={3} />}
      {source.dead > 0 && (
        <p className="note note-warn">
          {t('mapping.dead', { count: source.dead })}
          <Button onClick={() => setRedriving(true)}>{t('mapping.redrive')}</Button>
        </p>
      )}
      {restored && <p className="note">{t('version.restored', { id: restored.version })}</p>}
      {edited && (
        <MappingDraft
          // Another version was restored; a version that was saved is what the editor already shows.
          key={restored?.version ?? 'current'}
          source={source}
          saved={edited.mapping}
          onSaved={() => setRestored(null)}
        />
      )}
      {isRedriving && (
        <RedriveDialog
          path={`/accounts/${accountId}/dead-letters`}
          body={{ error_code: 'mapping_failed' }}
          onClose={() => setRedriving(false)}
        />
      )}
    </Card>
  );
}

/** The versions of a mapping, newest first; one can be put into the editor. */
function Versions(props: { versions: Version[]; onRestore: (version: Version) => void }): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <Popover label={t('version.title', { count: props.versions.length })} title={t('version.list')}>
      {(close) => (
        <ol className="plain stack-tight version-list">
          {props.versions.map((version, index) => (
            <li key={version.version} className="spread">
              <span>
                {t('version.name', { id: version.version })}
                <span className="hint">
                  {' '}
                  <Ago at={version.created_at} /> · <Actor actor={version.created_by} />
                </span>
              </span>
              {index === 0 ? (
                <span className="badge badge-good">{t('version.current')}</span>
              ) : (
                <Button
                  aria-label={t('version.restoreNumber', { id: version.version })}
                  onClick={() => {
                    close();
                    props.onRestore(version);
                  }}
                >
                  {t('version.restore')}
                </Button>
              )}
            </li>
          ))}
        </ol>
      )}
    </Popover>
  );
}
