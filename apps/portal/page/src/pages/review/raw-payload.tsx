import { type ReactNode, useId, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Warning } from '../../api/review.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Segments } from '../../components/segments.tsx';
import { goTo, rawIdOf, usePointing, warningIdOf } from './pointing.tsx';
import { cutAtPointers, indented } from './raw-marks.ts';

const WRITINGS = ['indented', 'exact'] as const;
type Writing = (typeof WRITINGS)[number];

/** The payload as received, with each member that has a warning marked and tied to it. */
export function RawPayload({ text, warnings }: { text: string; warnings: Warning[] }): ReactNode {
  const { t } = useTranslation('review');
  const titleId = useId();
  const [writing, setWriting] = useState<Writing>('indented');
  const stretches = useMemo(
    () =>
      cutAtPointers(
        writing === 'indented' ? indented(text) : text,
        warnings.map(({ pointer }) => pointer),
      ),
    [text, warnings, writing],
  );
  return (
    <div className="raw">
      <header className="spread">
        <h3 id={titleId}>{t('raw.title')}</h3>
        <div className="row">
          <Segments
            label={t('raw.title')}
            hidesLabel
            options={WRITINGS.map((value) => ({ value, name: t(`raw.${value}`) }))}
            value={writing}
            onChange={setWriting}
          />
          <CopyButton text={text} />
        </div>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and so it must be reachable by keyboard. */}
      <section className="raw-scroll" tabIndex={0} aria-labelledby={titleId}>
        <pre className="code">
          {stretches.map(({ text: part, pointer }, index) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: stretches have no other name, and are replaced all together.
            pointer === null ? part : <MarkedMember key={index} pointer={pointer} text={part} />,
          )}
        </pre>
      </section>
    </div>
  );
}

function MarkedMember({ pointer, text }: { pointer: string; text: string }): ReactNode {
  const { isPointed, handlers } = usePointing(pointer);
  return (
    <a
      id={rawIdOf(pointer)}
      href={`#${encodeURIComponent(warningIdOf(pointer))}`}
      className={isPointed ? 'raw-mark is-pointed' : 'raw-mark'}
      onClick={(event) => {
        event.preventDefault();
        goTo(warningIdOf(pointer));
      }}
      {...handlers}
    >
      {text}
    </a>
  );
}
