export interface ProblemKind {
  status: number;
  title: string;
  detail: string;
  headers?: Record<string, string>;
}

/** Status, default detail and, where they differ from the code in words, the title; and headers. */
type Row = readonly [status: number, detail: string, more?: Pick<Partial<ProblemKind>, 'title' | 'headers'>];

/** Makes kinds of problems by their codes. */
export function kindsOf<Code extends string>(rows: Record<Code, Row>): Record<Code, ProblemKind> {
  const kinds = Object.entries<Row>(rows).map(([code, [status, detail, more]]) => [
    code,
    { status, title: inWords(code), detail, ...more },
  ]);
  return Object.fromEntries(kinds);
}

/** `missing_api_key`: Missing API key. */
function inWords(code: string): string {
  const words = code.replaceAll('_', ' ').replace(/\bapi\b/, 'API');
  return words[0]?.toUpperCase() + words.slice(1);
}
