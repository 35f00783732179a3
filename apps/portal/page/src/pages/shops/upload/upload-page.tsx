import { useQuery } from '@tanstack/react-query';
import { Upload } from 'lucide-react';
import { type DragEvent, type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Card } from '../../../components/card.tsx';
import { Skeleton } from '../../../components/loaded.tsx';
import { HelpLink, PageHeader } from '../../../components/page-header.tsx';
import { type Columns, mappingOfColumns, rememberColumns, rememberedColumns, suggestColumns } from './columns.ts';
import { ColumnsCard } from './columns-card.tsx';
import { FileProblem } from './file-problem.tsx';
import { OrdersCard } from './orders-card.tsx';
import { readHeadOf } from './run-in-worker.ts';
import { startSending, useSending } from './sending.ts';
import { SendingCard } from './sending-card.tsx';
import type { TableHead } from './table-file.ts';
import './upload.css';

/** Orders of a file: choose it, say what its columns are, look at the first orders, send them, and see what became of them. */
export default function UploadPage(): ReactNode {
  const { t } = useTranslation('upload');
  const accountId = useAccountId();
  const sending = useSending(accountId);
  const mayUpload = useCan()('develop');
  // The number tells a file from another one with its name.
  const [chosen, setChosen] = useState<{ file: File; number: number } | null>(null);
  const choose = (file: File) => setChosen((before) => ({ file, number: (before?.number ?? 0) + 1 }));
  return (
    <div className="stack">
      <PageHeader title={t('common:nav.upload')} about={t('about')}>
        <HelpLink page="upload" />
      </PageHeader>
      {!mayUpload ? (
        <p className="note">{t('notPermitted')}</p>
      ) : sending ? (
        <SendingCard sending={sending} onForget={() => setChosen(null)} />
      ) : (
        <>
          <FileChoice file={chosen?.file ?? null} onChoose={choose} />
          {chosen && <ChosenFile key={chosen.number} {...chosen} />}
        </>
      )}
    </div>
  );
}

/** Where a file is dropped or chosen. */
function FileChoice({ file, onChoose }: { file: File | null; onChoose: (file: File) => void }): ReactNode {
  const { t } = useTranslation('upload');
  const id = useId();
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    const [first] = files ?? [];
    if (first) onChoose(first);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer?.files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the input inside does the same with a keyboard.
    <div
      className={`drop-zone stack-tight${isOver ? ' is-over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <label htmlFor={id} className={file ? 'button' : 'button button-main'}>
        <Upload aria-hidden="true" size={16} />
        {t(file ? 'chooseOther' : 'choose')}
      </label>
      <input
        id={id}
        type="file"
        className="visually-hidden"
        accept=".xlsx,.xlsm,.csv,.tsv,.txt"
        onChange={(event) => {
          take(event.currentTarget.files);
          // So that the same file can be chosen again once it was corrected.
          event.currentTarget.value = '';
        }}
      />
      <p className="hint">{file ? <bdi>{file.name}</bdi> : t('formats')}</p>
    </div>
  );
}

/** The steps between choosing a file and sending it. */
function ChosenFile({ file, number }: { file: File; number: number }): ReactNode {
  const head = useQuery({
    queryKey: ['upload', number, 'head'],
    queryFn: ({ signal }) => readHeadOf(file, signal),
    gcTime: 0,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (head.isPending) return <Skeleton shape="rows" count={6} />;
  if (head.isError) return <FileProblem error={head.error} />;
  return <ReadFile file={file} number={number} head={head.data} />;
}

function ReadFile({ file, number, head }: { file: File; number: number; head: TableHead }): ReactNode {
  const { t } = useTranslation('upload');
  const accountId = useAccountId();
  const { headings, recognized, key } = head;
  const [remembered] = useState(() => rememberedColumns(accountId, key));
  const [columns, setColumns] = useState<Columns>(() => remembered ?? suggestColumns(headings));
  const mapping = recognized === null ? mappingOfColumns(headings, columns) : null;
  return (
    <>
      {recognized === null ? (
        <ColumnsCard head={head} columns={columns} isRemembered={remembered !== null} onChange={setColumns} />
      ) : (
        <Card title={recognized} about={t('recognized')} />
      )}
      {(recognized !== null || mapping) && (
        <OrdersCard
          file={file}
          number={number}
          mapping={mapping}
          onSend={(orders) => {
            startSending(accountId, file.name, orders);
            if (recognized === null) rememberColumns(accountId, key, columns);
          }}
        />
      )}
    </>
  );
}
