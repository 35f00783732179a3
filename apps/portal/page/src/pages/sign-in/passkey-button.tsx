import { KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { canUsePasskeys } from '../../api/passkeys.ts';
import { useAction } from '../../components/use-action.ts';
import { useProofText } from './use-proof-text.ts';

/** Asks the browser for a passkey, and shows a failure. Renders nothing where a browser cannot use passkeys. */
export function PasskeyButton(props: { label: string; use: () => Promise<void>; onUsed: () => unknown }): ReactNode {
  const textOf = useProofText();
  const using = useAction({ mutationFn: props.use, onSuccess: props.onUsed });
  if (!canUsePasskeys()) return null;
  return (
    <>
      {using.isError && (
        <p className="note note-bad" role="alert">
          {textOf(using.error)}
        </p>
      )}
      <button type="button" className="button button-wide" disabled={using.isPending} onClick={() => using.mutate()}>
        <KeyRound aria-hidden="true" size={16} />
        {props.label}
      </button>
    </>
  );
}
