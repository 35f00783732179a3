import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useCan } from '../../../api/permissions.ts';
import { useAccountId } from '../../../api/session.ts';
import { type Source, useSources } from '../../../api/sources.ts';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Skeleton } from '../../../components/skeleton.tsx';
import { MappingEditor } from './mapping/mapping-editor.tsx';
import { ConnectSource } from './new-source/connect-source.tsx';
import { NewSource } from './new-source/new-source.tsx';
import { SourcesCard } from './sources-card.tsx';
import { sourcesHref, useSourcesView } from './use-sources-view.ts';
import './sources.css';

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
