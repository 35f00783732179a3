import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** Why receipts fail, and what to do about it. `detail` stands in for a code without texts. */
export function CauseNote({ code, detail = '' }: { code: string; detail?: string }): ReactNode {
  const { t } = useTranslation('receipts');
  const todo = t(`error.${code}.todo`, { defaultValue: '' });
  return (
    <div className="stack-tight">
      <p>{t(`error.${code}.detail`, { defaultValue: detail })}</p>
      {todo && (
        <p>
          <strong>{t('failed.todo')}:</strong> {todo}
        </p>
      )}
    </div>
  );
}
