import { type Node, parseTree } from 'jsonc-parser';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { OrderDetail, Warning } from '../../../api/review.ts';
import { FieldError } from '../../../components/field.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { type Editing, useEditProblem, useSave } from '../edit/editing.ts';
import { focusElement, rawIdOf, useCrossHighlight, warningIdOf } from './cross-highlight.tsx';
import { findMember } from './raw-payload.tsx';

/** Levels of nesting that are written out; deeper values stay as JSON. */
const MAX_DEPTH = 3;

/** The value at a pointer of the payload as readable text, or null if there is none. Numbers keep their spelling. */
function payloadValue(payload: string, pointer: string): string | null {
  const text = payload.replace(/^\uFEFF/, ' ');
  const tree = parseTree(text);
  const member = tree && findMember(tree, pointer);
  const value = member?.type === 'property' ? member.children?.[1] : member;
  return value ? readable(value, text, 0) : null;
}

function readable(node: Node, text: string, depth: number): string {
  const children = node.children ?? [];
  if (node.type === 'string') return String(node.value);
  if (depth >= MAX_DEPTH || (node.type !== 'object' && node.type !== 'array'))
    return text.slice(node.offset, node.offset + node.length);
  if (children.length === 0) return '–';
  const indent = '  '.repeat(depth);
  if (node.type === 'array') {
    if (children.every(({ type }) => type !== 'object' && type !== 'array'))
      return children.map((child) => readable(child, text, depth + 1)).join(', ');
    return children.map((child, index) => line(String(index + 1), child)).join('\n');
  }
  return children
    .flatMap(({ children: [name, value] = [] }) => (value ? line(String(name?.value), value) : []))
    .join('\n');

  function line(name: string, value: Node): string {
    const isNested = (value.type === 'object' || value.type === 'array') && (value.children?.length ?? 0) > 0;
    const shown = readable(value, text, depth + 1);
    return `${indent}${name}:${isNested && shown.includes('\n') ? '\n' : ' '}${shown}`;
  }
}

/** A pointer for readers: `/items/0/note` is `items › 1 › note`. */
function pointerText(pointer: string): string {
  const tokens = pointer.slice(1).split('/');
  return tokens
    .map((token) =>
      /^\d+$/.test(token) ? String(Number(token) + 1) : token.replaceAll('~1', '/').replaceAll('~0', '~'),
    )
    .join(' › ');
}

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
