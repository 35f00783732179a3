import type { Channel } from '@orders/domain/receipt-states.ts';
import curl from './snippets/curl.txt?raw';
import node from './snippets/node.txt?raw';
import php from './snippets/php.txt?raw';
import python from './snippets/python.txt?raw';

/** Templates: `{{…}}` is a placeholder, and a line that begins with `~` is for webhooks only. */
const TEXTS = { curl, node, python, php };

export type SnippetLanguage = keyof typeof TEXTS;

export const LANGUAGES = Object.keys(TEXTS) as SnippetLanguage[];

/** Values of a snippet; null leaves a placeholder. */
export interface SnippetValues {
  /** With its base path, without a trailing slash. */
  intakeUrl: string;
  key: string | null;
  secret: string | null;
}

/** A short program that sends one order and runs as it is with a key. It signs exactly the bytes that it sends. */
export function snippet(language: SnippetLanguage, channel: Channel, values: SnippetValues): string {
  const filled: Record<string, string> = {
    url: `${values.intakeUrl}/ingest/${channel === 'rest' ? 'orders' : 'webhook'}`,
    key: values.key ?? 'YOUR_API_KEY',
    secret: values.secret ?? 'YOUR_SIGNING_SECRET',
    id: `first-${channel}-order-${language}`,
  };
  return TEXTS[language]
    .split('\n')
    .filter((line) => channel === 'webhook' || !line.startsWith('~'))
    .map((line) => line.replace(/^~/, ''))
    .join('\n')
    .replaceAll(/\{\{(\w+)\}\}/g, (_placeholder, name: string) => filled[name] ?? '');
}
