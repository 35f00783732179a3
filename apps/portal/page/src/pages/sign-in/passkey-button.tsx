import { KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../api/client.ts';
import { canUsePasskeys, PasskeyError } from '../../api/passkeys.ts';
import { Button } from '../../components/button.tsx';
import { BadNote, useProblemText } from '../../components/loaded.tsx';
import { useAction } from '../../components/use-action.ts';

/** Asks the browser for a passkey, and shows a failure. Renders nothing where a browser cannot use passkeys. */
export function PasskeyButton(props: { label: string; use: () => Promise<void>; onUsed: () => unknown }): ReactNode {
  const textOf = useProofText();
  const using = useAction({ mutationFn: props.use, onSuccess: props.onUsed });
  if (!canUsePasskeys()) return null;
  return (
    <>
      {using.isError && <BadNote text={textOf(using.error)} />}
      <Button className="button-wide" disabled={using.isPending} onClick={() => using.mutate()}>
        <KeyRound aria-hidden="true" size={16} />
        {props.label}
      </Button>
    </>
  );
}

/** Translates an error of a password, a code or a passkey. */
export function useProofText(): (error: unknown) => string {
  const { t } = useTranslation('signIn');
  const textOf = useProblemText();
  return (error) => {
    if (error instanceof PasskeyError) return t(error.exists ? 'passkeys.exists' : 'passkeys.unused');
    if (isProblem(error, 'wrong_credentials')) return t('wrongPassword');
    return textOf(error);
  };
}
