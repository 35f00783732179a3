import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** A type of events in words, with its code. A newer version may have stored a type that this one does not know. */
export function TypeName({ type }: { type: string }): ReactNode {
  const { t, i18n } = useTranslation('events');
  const name = i18n.exists(`events:type.${type}`) ? t(`type.${type}` as 'type.order.confirmed') : null;
  return (
    <span className="type-name">
      {name !== null && <span>{name} </span>}
      <code dir="ltr" className="hint">
        {type}
      </code>
    </span>
  );
}
