import { useState } from 'react';
import { downloadOrders } from '../../../api/review-list.ts';
import { useNotices } from '../../../components/notices.tsx';
import { useProblemText } from '../../../components/problem-note.tsx';

/** Downloads the selected orders, or shows them for printing. */
export function useExports(accountId: number) {
  const notices = useNotices();
  const textOf = useProblemText();
  const [printed, setPrinted] = useState<readonly number[] | null>(null);
  const download = (ids: readonly number[]) => {
    downloadOrders(accountId, ids).catch((error: unknown) => notices.show({ kind: 'bad', text: textOf(error) }));
  };
  return { printed, download, print: setPrinted, endPrinting: () => setPrinted(null) };
}
