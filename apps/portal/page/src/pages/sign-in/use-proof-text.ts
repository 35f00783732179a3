import { useTranslation } from 'react-i18next';
import { isProblem } from '../../api/client.ts';
import { PasskeyError } from '../../api/passkeys.ts';
import { useProblemText } from '../../components/problem-note.tsx';

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
