import { Children, Fragment, type ReactNode, useId } from 'react';

/** A part of a page with its title, what it is about in one line, and its actions at the end of the title's line. */
export function Card(props: {
  title: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  className?: string;
  children?: ReactNode;
}): ReactNode {
  const { title, about, actions, className = 'stack', children } = props;
  const id = useId();
  const heading = <h2 id={id}>{title}</h2>;
  return (
    <section className={`card ${className}`} aria-labelledby={id}>
      {actions ? (
        <header className="spread">
          {heading}
          <div className="row">{actions}</div>
        </header>
      ) : (
        heading
      )}
      {about && <p className="hint">{about}</p>}
      {children}
    </section>
  );
}

/** A name with its value, in a `dl` of the class `facts`. */
export function Fact({ name, children }: { name: ReactNode; children: ReactNode }): ReactNode {
  return (
    <div className="detail">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Parts of one line with dots between them; absent ones are left out. */
export function Dotted({ children }: { children: ReactNode }): ReactNode {
  return Children.toArray(children).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part has no other identity.
    <Fragment key={index}>
      {index > 0 && ' · '}
      {part}
    </Fragment>
  ));
}

/** An id, a code or a pointer, which reads from left to right in every language. */
export function Mono({ isHint, children }: { isHint?: boolean; children: ReactNode }): ReactNode {
  return (
    <bdi dir="ltr" className={isHint ? 'mono hint' : 'mono'}>
      {children}
    </bdi>
  );
}

/** What somebody wrote: its marks are those of the page, and its text keeps its own direction. */
export function Quote({ text }: { text: string }): ReactNode {
  return (
    <q>
      <bdi>{text}</bdi>
    </q>
  );
}
