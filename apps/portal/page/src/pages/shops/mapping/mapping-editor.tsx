import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useAccountId } from '../../../api/session.ts';
import { type Source, useMappings, type Version } from '../../../api/sources.ts';
import { Actor } from '../../../components/actor.tsx';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { type Draft, MAPPING, sourceSubject, useDrafts } from '../../../components/drafts.ts';
import { ProblemNote, Skeleton } from '../../../components/loaded.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { Popover } from '../../../components/popover.tsx';
import { Ago } from '../../../components/time.tsx';
import { MappingDraft } from './mapping-draft.tsx';
import { formOf, isSameMapping, readEdited } from './mapping-form.ts';

/** A source's mapping with what is wrong with a delivery. What is edited and not saved stays a draft. */
export function MappingEditor({ source, opened }: { source: Source; opened: string | null }): ReactNode {
  const { t } = useTranslation(['sources', 'review']);
  const accountId = useAccountId();
  const { show } = useNotices();
  const versions = useMappings(accountId, source.source_number);
  const { drafts, keep: keepOf } = useDrafts(sourceSubject(accountId, source.source_number));
  const keep = (next: Draft | null) => keepOf(MAPPING, next);
  const { [MAPPING]: draft } = drafts;
  const [current] = versions.data ?? [];
  const isOlder = draft !== undefined && current !== undefined && Number(draft.seen) < current.version;
  const isSaved = isOlder && isSameMapping(readEdited(draft.text), current.mapping);

  const { refetch } = versions;
  const isNewer = current !== undefined && source.mapping_version > current.version;
  useEffect(() => {
    if (isNewer) void refetch();
  }, [isNewer, refetch]);
  useEffect(() => {
    // It was saved, and the reply was lost.
    if (isSaved) keepOf(MAPPING, null);
  }, [isSaved, keepOf]);

  const replace = (next: Draft | null, text: string) => {
    keep(next);
    show({ text, ...(draft && { action: { label: t('common:action.undo'), run: () => keep(draft) } }) });
  };
  const discard = () => replace(null, t('mapping.discarded'));
  const restore = ({ version: id, mapping }: Version) => {
    const text = JSON.stringify({ form: formOf(mapping) });
    replace({ text, seen: current?.version ?? id }, t('version.restored', { id }));
  };
  return (
    <Card
      title={t('mapping.title', { name: source.name })}
      className="stack mapping-editor"
      actions={
        <>
          <HelpLink page="sources" anchor="mapping" />
          {versions.data && <Versions versions={versions.data} onRestore={restore} />}
        </>
      }
    >
      {versions.isError && <ProblemNote error={versions.error} retry={() => void versions.refetch()} />}
      {versions.isPending && <Skeleton shape="blocks" count={3} />}
      {draft && current && isOlder && !isSaved && (
        <div className="note note-warn">
          <p>
            <span role="alert">
              {t('version.newer', { id: current.version })} <Actor actor={current.created_by} />
            </span>
            , <Ago at={current.created_at} />
          </p>
          <Button onClick={() => keep({ ...draft, seen: current.version })}>{t('review:draft.mine')}</Button>
          <Button onClick={discard}>{t('review:draft.theirs')}</Button>
        </div>
      )}
      {draft && !isOlder && (
        <div className="note">
          <p>{t('mapping.unsaved')}</p>
          <Button onClick={discard}>{t('review:draft.discard')}</Button>
        </div>
      )}
      {current && (
        <MappingDraft
          source={source}
          base={versions.data?.find(({ version }) => version === draft?.seen) ?? current}
          draft={draft}
          keep={keep}
          isOutdated={isOlder}
          opened={opened}
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
