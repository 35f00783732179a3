import type { ReactNode } from 'react';

/** Why a value is not accepted, below its input; announced when it appears. */
export function FieldError({ id, text }: { id?: string; text: string | null | undefined | false }): ReactNode {
  if (!text) return null;
  return (
    <p id={id} className="field-error" role="alert">
      {text}
    </p>
  );
}
