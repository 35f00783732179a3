import { useQuery } from '@tanstack/react-query';
import { type ReactNode, Suspense } from 'react';
import { NEW_SIGN_INS } from '../../api/new-sign-ins.ts';
import { lazyPage } from '../lazy-page.tsx';

const NewSignInQuestion = lazyPage(
  'new-sign-in',
  async () => (await import('./new-sign-in-question.tsx')).NewSignInQuestion,
  ['signIn'],
);

/** Asks the user about the newest sign-in from an unknown device, in each session but that one. */
export function NewSignInNote(): ReactNode {
  const { data } = useQuery(NEW_SIGN_INS);
  const [newest] = data?.sign_ins ?? [];
  return newest ? (
    // A boundary of its own: while the question loads, the page stays in the document.
    <Suspense>
      <NewSignInQuestion key={newest.session_id} signIn={newest} />
    </Suspense>
  ) : null;
}
