import { ArrowLeft, Cable, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useAccountId, useCan } from '../../../api/session.ts';
import { type Source, useSources } from '../../../api/sources.ts';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Skeleton } from '../../../components/skeleton.tsx';
import { MappingEditor } from './mapping/mapping-editor.tsx';
import { ConnectSource } from './new-source/connect-source.tsx';
import { NewSource } from './new-source/new-source.tsx';
import { sourcesHref, useSourcesView } from './use-sources-view.ts';
import './sources.css';
import { EmptyState } from '../../../components/empty-state.tsx';
import { HelpLink } from '../../../components/help-link.tsx';
import { type SourceAction, SourceDialog } from './source-dialogs.tsx';
import { SourceItem } from './source-item.tsx';

/** The sources of the account; connections and mappings only for developers. */
export function SourcesTab(): ReactNode {
  const { show, sourceNumber } = useSourcesView();
  const mayChange = useCan()('develop');
  if (show === 'list' || !mayChange) return <SourcesCard />;
  return (
    <Page>
      {show === 'new' && sourceNumber === null ? (
        <NewSource />
      ) : (
        <Opened sourceNumber={sourceNumber} everyMs={show === 'test' ? 2000 : 10_000}>
          {(source) =>
            show === 'mapping' ? (
              <MappingEditor key={sourceNumber} source={source} />
            ) : (
              <ConnectSource key={sourceNumber} source={source} step={show === 'new' ? 'platform' : show} />
            )
          }
        </Opened>
      )}
    </Page>
  );
}

function Page({ children }: { children: ReactNode }): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <>
      <Link href={sourcesHref(useAccountId())} className="row source-back">
        <ArrowLeft aria-hidden="true" size={16} className="flips" />
        {t('all')}
      </Link>
      {children}
    </>
  );
}

function Opened(props: {
  sourceNumber: number | null;
  everyMs: number;
  children: (source: Source) => ReactNode;
}): ReactNode {
  const { t } = useTranslation('sources');
  const sources = useSources(useAccountId(), props.everyMs);
  const source = sources.data?.find(({ source_number }) => source_number === props.sourceNumber);
  if (source) return props.children(source);
  if (sources.isError) return <ProblemNote error={sources.error} retry={() => void sources.refetch()} />;
  // A source that was just created may not be in the list yet.
  if (sources.isFetching) return <Skeleton shape="blocks" count={2} />;
  return <p className="note">{t('gone')}</p>;
}

/** The account's sources with their URLs, activity and actions. */
function SourcesCard(): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const sources = useSources(accountId);
  const mayChange = useCan()('develop');
  const [open, setOpen] = useState<{ action: SourceAction; source: Source } | null>(null);
  const hasNone = sources.data?.length === 0;
  const create = mayChange && (
    <Link className="button button-main" href={sourcesHref(accountId, 'new')}>
      <Plus aria-hidden="true" size={16} />
      {t('create')}
    </Link>
  );
  return (
    <section className="card stack" aria-labelledby="sources-title">
      <header className="spread">
        <h2 id="sources-title">{t('title')}</h2>
        <div className="row">
          <HelpLink page="sources" />
          {!hasNone && create}
        </div>
      </header>
      <p className="hint">{t('about')}</p>
      {sources.isError && <ProblemNote error={sources.error} retry={() => void sources.refetch()} />}
      {sources.isPending && <Skeleton shape="rows" count={2} />}
      {hasNone && (
        <EmptyState
          icon={<Cable size={22} />}
          title={t('none')}
          text={mayChange ? t('noneAbout') : undefined}
          action={create}
        />
      )}
      {sources.data && !hasNone && (
        <ul className="plain source-list">
          {sources.data.map((source) => (
            <SourceItem key={source.source_number} source={source} onAction={(action) => setOpen({ action, source })} />
          ))}
        </ul>
      )}
      {open && <SourceDialog {...open} onClose={() => setOpen(null)} />}
    </section>
  );
}
