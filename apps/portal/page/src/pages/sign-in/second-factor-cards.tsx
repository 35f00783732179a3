import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { SECOND_FACTORS_KEY, useSecondFactors } from '../../api/second-factors.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { PasskeysCard } from './passkeys-card.tsx';
import { RecoveryCodesCard } from './recovery-codes-card.tsx';
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx';
import { TotpCard } from './totp-card.tsx';

/**
 * The user's passkeys, authenticator app and recovery codes.
 *
 * @param props.onChanged called after a change, and once new recovery codes are no longer shown.
 */
export function SecondFactorCards({ onChanged }: { onChanged: () => void }): ReactNode {
  const queryClient = useQueryClient();
  const factors = useSecondFactors();
  const [codes, setCodes] = useState<string[] | null>(null);
  const changed = (newCodes: string[] | null = null) => {
    void queryClient.invalidateQueries({ queryKey: SECOND_FACTORS_KEY });
    setCodes(newCodes);
    if (newCodes === null) onChanged();
  };
  if (factors.isError) return <ProblemNote error={factors.error} retry={() => void factors.refetch()} />;
  if (!factors.data) return null;
  const { passkeys, totp, recovery_codes } = factors.data;
  return (
    <>
      <PasskeysCard passkeys={passkeys} onChanged={changed} />
      <TotpCard hasApp={totp} onChanged={changed} />
      {(totp || passkeys.length > 0) && <RecoveryCodesCard left={recovery_codes} onRenewed={changed} />}
      {codes && <RecoveryCodesDialog codes={codes} onClose={() => changed()} />}
    </>
  );
}
