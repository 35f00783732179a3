import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import { Problem } from '@orders/domain';
import type { QueueStats } from '@orders/queue';
import type { Express, RequestHandler } from 'express';

type Queues = Awaited<ReturnType<QueueStats['queues']>>;

/**
 * bull-board of all lanes, read-only. Jobs carry only wake-ups, which the outbox repeats, so retrying or removing one here achieves nothing;
 * pausing a queue would stop every account.
 *
 * @throws {Problem} `queue_unavailable`.
 */
export function queueBoard(queueStats: QueueStats, path: string): RequestHandler {
  let cached: { queues: Queues; board: Express } | null = null;
  return async (request, response, next) => {
    const queues = await queueStats.queues().catch(() => {
      throw new Problem('queue_unavailable');
    });
    // Rebuilt with the queues, which are replaced when one has lost its connection for good.
    if (!cached || queues.some((queue, at) => queue !== cached?.queues[at]))
      cached = { queues, board: createBoard(queues, path) };
    cached.board(request, response, next);
  };
}

function createBoard(queues: Queues, path: string): Express {
  const serverAdapter = new ExpressAdapter().setBasePath(path) as ExpressAdapter;
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Orders',
        hideDocsLink: true,
        miscLinks: [{ text: '← Portal', url: '/operator/service' }],
      },
    },
  });
  const board = serverAdapter.getRouter() as Express & { engines: Record<string, Render> };
  const render = board.engines['.ejs'] as Render;
  board.engine('ejs', (file, options, done) =>
    render(file, options, (error, html) => done(error, html === undefined ? html : withoutInlineStyles(html))),
  );
  return board;
}

type Render = (file: string, options: object, done: (error: unknown, html?: string) => void) => void;

/** Removes a font from another host and inline styles of the loading state, which the content security policy blocks. */
function withoutInlineStyles(html: string): string {
  return html
    .replaceAll(/<link href="https:[^>]*>/g, '')
    .replaceAll(/<style>.*?<\/style>/gs, '')
    .replaceAll(/ style="[^"]*"/g, '');
}
