import { pointerSegments } from '@orders/domain/sources/json-pointer.ts';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { OrderDetail, Warning } from '../../../api/review.ts';
import { HelpLink } from '../../../components/page-header.tsx';
import type { Editing } from '../edit/editing.ts';
import { focusElement, rawIdOf, useCrossHighlight, warningIdOf } from './cross-highlight.tsx';
import { payloadValue } from './find-member.ts';
import { labelAt, TakeOver } from './take-over.tsx';

/** A pointer for readers: `/items/0/note` is `items › 1 › note`. */
function pointerText(pointer: string): string {
  return pointerSegments(pointer)
    .map((name) => (/^\d+$/.test(name) ? String(Number(name) + 1) : name))
    .join(' › ');
}

/** Longer values are cut, with a button for the rest. */
const SHOWN_CHARACTERS = 200;

/** Members of the payload that are no fields of an order, with their values. One can be taken over into the order. */
export function UnknownFields(props: { warnings: Warning[]; detail: OrderDetail; editing: Editing }): ReactNode {
  const { warnings, detail, editing } = props;
  const { t } = useTranslation('review');
  if (warnings.length === 0) return null;
  return (
    <section className="stack-tight">
      <header className="spread">
        <h3>{t('unknown.title')}</h3>
        <HelpLink page="warnings" anchor="unknown" />
      </header>
      <ul className="plain stack-tight unknown-fields">
        {warnings.map(({ pointer }) => (
          <li key={pointer}>
            <UnknownField pointer={pointer} detail={detail} editing={editing} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function UnknownField(props: { pointer: string; detail: OrderDetail; editing: Editing }): ReactNode {
  const { pointer, detail, editing } = props;
  const { t } = useTranslation('review');
  const [isWhole, setWhole] = useState(false);
  const { isHighlighted, handlers } = useCrossHighlight(pointer);
  const value = detail.raw && payloadValue(detail.raw.text, pointer);
  const isCut = value !== null && value.length > SHOWN_CHARACTERS;
  return (
    <>
      <button
        type="button"
        id={warningIdOf(pointer)}
        className={isHighlighted ? 'unknown-name is-pointed' : 'unknown-name'}
        title={t('warning.show')}
        onClick={() => focusElement(rawIdOf(pointer))}
        {...handlers}
      >
        <bdi dir="auto">{pointerText(pointer)}</bdi>
      </button>
      {value !== null && (
        <div className="unknown-value">
          <span dir="auto" className="long-text">
            {isCut && !isWhole ? `${value.slice(0, SHOWN_CHARACTERS)}…` : value}
          </span>
          {isCut && (
            <button type="button" className="quiet-chip" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
              {t(isWhole ? 'unknown.less' : 'unknown.all')}
            </button>
          )}
          <TakeOver
            fact={{ label: labelAt(detail.raw?.text ?? '', pointer), value }}
            order={detail.order}
            editing={editing}
          />
        </div>
      )}
    </>
  );
}
