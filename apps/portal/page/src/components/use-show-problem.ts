import { useProblemText } from './loaded.tsx';
import { useNotices } from './notices.tsx';

/** Says in a notice what went wrong. */
export function useShowProblem(): (error: unknown) => void {
  const notices = useNotices();
  const textOf = useProblemText();
  return (error) => void notices.show({ kind: 'bad', text: textOf(error) });
}
