import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { BadNote } from '../../../components/loaded.tsx';
import { UnreadableFile } from './run-in-worker.ts';

/** Why a file cannot be read. */
export function FileProblem({ error }: { error: unknown }): ReactNode {
  const { t } = useTranslation('upload');
  const { fault, line } = error instanceof UnreadableFile ? error.failure : { fault: 'unreadable', line: null };
  return <BadNote text={`${line === null ? '' : `${t('fault.line', { line })} `}${t(`fault.${fault}`)}`} />;
}
