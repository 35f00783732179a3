import type { IncomingHttpHeaders } from 'node:http';
import { valueAt } from './json-pointer.ts';
import { comparable } from './read-values.ts';
import type { DeliveryValue, SourceSettings, ValuesAt } from './settings.ts';

/** What an authentic delivery is. `unpaid`: an order that waits until it is paid. */
export type DeliveryKind = 'order' | 'unpaid' | 'test' | 'cancellation' | 'finished' | 'ignored';

/** What a document is by the settings that concern its content and its topic. */
export function kindOf(
  document: unknown,
  headers: IncomingHttpHeaders,
  settings: Omit<SourceSettings, 'signature'>,
): DeliveryKind {
  const { topics, ignoredIf, finishedIf, testIf, cancelledIf } = settings;
  const topic = readValue(document, headers, settings.topic);
  const isCancellingTopic = topics !== undefined && topic !== null && topics.cancellation.includes(topic);
  if (topics && topic !== null && !isCancellingTopic && !topics.order.includes(topic)) return 'ignored';
  const bodyDecides = cancelledIf !== undefined && (cancelledIf.topics?.includes(topic ?? '') ?? true);
  const isUnsigned = settings.topic !== undefined && 'header' in settings.topic;
  if (isCancellingTopic && !(bodyDecides && isUnsigned)) return 'cancellation';
  if (ignoredIf && hasValue(document, ignoredIf)) return 'ignored';
  if (bodyDecides && hasValue(document, cancelledIf)) return 'cancellation';
  if (finishedIf && hasValue(document, finishedIf)) return 'finished';
  return testIf && hasValue(document, testIf) ? 'test' : 'order';
}

function hasValue(document: unknown, { pointer, values }: ValuesAt): boolean {
  const texts = textsAt(document, pointer);
  if (!values) return texts.some((text) => !SAYS_NO.test(text));
  const isAbsent = texts.every((text) => text === '');
  return values.some((value) => (value === null ? isAbsent : texts.includes(comparable(value))));
}

function textsAt(document: unknown, pointer: ValuesAt['pointer']): string[] {
  return (typeof pointer === 'string' ? [pointer] : pointer).map((one) => textAt(document, one));
}

function textAt(document: unknown, pointer: string): string {
  return comparable(valueAt(document, pointer));
}

/**
 * What platforms send for a time or a mark that is not set, in small letters: a negative number, or the first date of MySQL (-0001 in PHP), Go,
 * .NET, Unix or a spreadsheet. Nobody ordered here before 1980.
 */
const SAYS_NO =
  /^(?:|-.*|0+(?:\.0+)?|false|no|none|null|nil|undefined|n\/a|invalid date|(?:0\d|1[0-8]|19[0-7])\d{1,2}-\d\d-\d\d.*|\d\d?\/\d\d?\/(?:0000|0001|1899|19[0-7]\d)(?: .*)?)$/;

/** The value that a setting names, as text; null without one. */
export function readValue(
  document: unknown,
  headers: IncomingHttpHeaders,
  from: DeliveryValue | undefined,
): string | null {
  if (!from) return null;
  const value = 'header' in from ? headers[from.header] : valueAt(document, from.pointer);
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;
}
