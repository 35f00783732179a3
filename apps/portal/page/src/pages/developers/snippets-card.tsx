import type { Channel } from '@orders/domain/receipt-states.ts';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { NewKey } from '../../api/integrations.ts';
import { useSession } from '../../api/session.ts';
import { Button, CopyButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { Segments } from '../../components/segments.tsx';
import curl from './snippets/curl.txt?raw';
import node from './snippets/node.txt?raw';
import php from './snippets/php.txt?raw';
import python from './snippets/python.txt?raw';

/** Templates: `{{…}}` is a placeholder, and a line that begins with `~` is for webhooks only. */
const TEXTS = { curl, node, python, php };

type SnippetLanguage = keyof typeof TEXTS;

const LANGUAGES = Object.keys(TEXTS) as SnippetLanguage[];

/** Values of a snippet; null leaves a placeholder. */
interface SnippetValues {
  /** With its base path, without a trailing slash. */
  intakeUrl: string;
  key: string | null;
  secret: string | null;
}

/** A short program that sends one order and runs as it is with a key. It signs exactly the bytes that it sends. */
function snippet(language: SnippetLanguage, channel: Channel, values: SnippetValues): string {
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

const NAMES: Record<SnippetLanguage, string> = { curl: 'curl', node: 'Node.js', python: 'Python', php: 'PHP' };
const CHANNELS: Channel[] = ['rest', 'webhook'];

/** Code samples with intake's URL and, while they are shown on this page, the new key and the secret. */
export function SnippetsCard(props: { newKey: NewKey | null; secret: string | null; onForget: () => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const { intake_url } = useSession();
  const [language, setLanguage] = useState<SnippetLanguage>('curl');
  const [channel, setChannel] = useState<Channel>('rest');
  const text = snippet(language, channel, {
    intakeUrl: intake_url,
    key: props.newKey?.key ?? null,
    secret: props.secret,
  });
  return (
    <Card title={t('snippets.title')} actions={<HelpLink page="connect-shop" anchor="send-first-order" />}>
      <div className="row snippet-choices">
        <Segments
          label={t('snippets.language')}
          options={LANGUAGES.map((value) => ({ value, name: NAMES[value] }))}
          value={language}
          onChange={setLanguage}
        />
        <Segments
          label={t('snippets.route')}
          options={CHANNELS.map((value) => ({ value, name: t(`snippets.${value}`) }))}
          value={channel}
          onChange={setChannel}
        />
      </div>
      {(props.newKey || props.secret) && (
        <p className="note">
          {props.newKey && t('snippets.filled', { name: props.newKey.name })}
          {props.newKey && props.secret && ' '}
          {props.secret && t('snippets.filledSecret')}
          <Button onClick={props.onForget}>{t('snippets.forget')}</Button>
        </p>
      )}
      <section aria-label={t('snippets.code', { language: NAMES[language] })}>
        <pre
          className="code"
          dir="ltr"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
          tabIndex={0}
        >
          {text}
        </pre>
      </section>
      <div className="row">
        <CopyButton text={text} label={t('snippets.copy')} />
        <span className="hint">{t(channel === 'webhook' ? 'snippets.webhookHint' : 'snippets.restHint')}</span>
      </div>
      <p>
        <a href={`${intake_url}/docs/senders`} target="_blank" rel="noreferrer">
          {t('snippets.pages')}
        </a>
      </p>
    </Card>
  );
}
