import type { Channel } from '@orders/domain';
import curl from './snippets/curl.txt?raw';
import node from './snippets/node.txt?raw';
import php from './snippets/php.txt?raw';
import python from './snippets/python.txt?raw';

/** In the texts `{{…}}` is filled in, and a line that begins with `~` is there for webhooks only. */
const TEXTS = { curl, node, python, php };

export type SnippetLanguage = keyof typeof TEXTS;

export const LANGUAGES = Object.keys(TEXTS) as SnippetLanguage[];

/** What a snippet is filled in with; a placeholder stands for what is not at hand. */
export interface SnippetValues {
  /** With its base path, without a slash at the end. */
  intakeUrl: string;
  key: string | null;
  secret: string | null;
}

/** A program of few lines that sends one order, and runs as it stands once the key is filled in. What is signed is exactly what is sent. */
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
