import { expect, test } from '@jest/globals';
import { readLife } from '@orders/domain/sources/platform-states.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { readSenderPages } from '@orders/intake/docs/sender-pages/sender-pages.ts';
import REVIEW from '../../apps/portal/page/src/locales/en/review.json' with { type: 'json' };
import TEXTS from '../../apps/portal/page/src/locales/en/sources.json' with { type: 'json' };

/** The table of a guide: what the portal shows, in Markdown. */
function tableOf(preset: 'shopify' | 'woocommerce' | 'salla' | 'zid'): string {
  const { says, here, payment, other, unknown, kind: kinds } = TEXTS.life;
  const rows = readLife(preset, PRESETS[preset]).map(({ says: states, kind, payment_state }) => [
    states.map((state) => (state === '*' ? other : `\`${state}\``)).join(', '),
    kinds[kind],
    payment_state !== null
      ? REVIEW.choice.payment_state[payment_state as 'paid'].toLowerCase()
      : ['test', 'cancellation', 'ignored'].includes(kind)
        ? ''
        : unknown.toLowerCase(),
  ]);
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`.replaceAll(/ {2,}/g, ' ');
  return [line([says, here, payment]), line(['---', '---', '---']), ...rows.map(line)].join('\n');
}

test.each(['shopify', 'woocommerce', 'salla', 'zid'] as const)(
  'the guide of %s has the table of what each status becomes, and the topics',
  (preset) => {
    const page = readSenderPages().find(({ name }) => name === preset);
    const [, table] = /## What each status means\n\n((?:\|.*\n)+)/.exec(page?.markdown ?? '') ?? [];
    expect(table?.trimEnd()).toBe(tableOf(preset));
    const { order = [], cancellation = [] } = PRESETS[preset].settings.topics ?? {};
    for (const topic of [...order, ...cancellation]) expect(page?.markdown).toContain(`\`${topic}\``);
  },
);
