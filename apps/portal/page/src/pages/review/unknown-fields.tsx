import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { OrderDetail, Warning } from '../../api/review.ts';
import { FieldError } from '../../components/field-error.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { focusElement, rawIdOf, useCrossHighlight, warningIdOf } from './cross-highlight.tsx';
import { type Editing, useEditProblem, useSave } from './editing.ts';
import { payloadValue, pointerText } from './payload-value.ts';

/** Longer values are cut, with a button for the rest. */
const SHOWN_CHARACTERS = 200;
const INSTRUCTIONS = '/delivery_instructions';

/** Members of the payload that are no fields of an order, with their values. One can be taken over into the delivery instructions. */
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
      <ul className="plain unknown-fields">
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
          <UseAsInstructions value={value} instructions={detail.order.delivery_instructions} editing={editing} />
        </div>
      )}
    </>
  );
}

/** Appends the value, unless the instructions contain it. */
function UseAsInstructions(props: { value: string; instructions: string | null; editing: Editing }): ReactNode {
  const { value, instructions, editing } = props;
  const { t } = useTranslation('review');
  const saving = useSave(editing);
  const problem = useEditProblem()(saving.error);
  if (!editing.begin || value.trim() === '') return null;
  if (instructions?.includes(value.trim())) return <span className="hint">{t('unknown.used')}</span>;
  const text = instructions === null ? value : `${instructions}\n${value}`;
  return (
    <>
      <button
        type="button"
        className="quiet-chip"
        onClick={() => saving.run({ [INSTRUCTIONS]: text }, { [INSTRUCTIONS]: instructions })}
      >
        {t('unknown.use')}
      </button>
      <FieldError text={problem} />
    </>
  );
}
