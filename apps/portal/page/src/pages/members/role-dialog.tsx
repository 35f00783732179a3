import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Member, setMemberRole } from '../../api/members.ts';
import { useAccountId } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';
import { RoleChoice } from './role-choice.tsx';

/** Changes the role of a user in the account. */
export function RoleDialog(props: {
  member: Member;
  /** Whether the user is about to change their own role. */
  isOwn: boolean;
  onChanged: () => Promise<unknown>;
  onClose: () => void;
}): ReactNode {
  const { member, isOwn, onChanged, onClose } = props;
  const { t } = useTranslation('users');
  const accountId = useAccountId();
  const [role, setRole] = useState(member.role);
  const change = useAction({
    mutationFn: () => setMemberRole(accountId, member.user_id, role),
    onSuccess: async () => {
      onClose();
      await onChanged();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Dialog title={t('roleOf', { email: member.email })} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <RoleChoice value={role} onChange={setRole} />
        {isOwn && role !== 'owner' && <p className="note note-warn">{t('ownRole')}</p>}
        {change.isError && <ProblemNote error={change.error} />}
        <FormButtons submit={t('common:action.save')} isBusy={change.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
