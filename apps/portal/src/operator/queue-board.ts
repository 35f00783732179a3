import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Problem } from '@orders/domain/problems.ts';
import type { QueueStats } from '@orders/queue/queue-stats.ts';
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
      cached = { queues, board: await createBoard(queues, path) };
    cached.board(request, response, next);
  };
}

async function createBoard(queues: Queues, path: string): Promise<Express> {
  // Loaded by the first visit: few people open it.
  const [{ createBullBoard }, { BullMQAdapter }, { ExpressAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/express'),
  ]);
  const serverAdapter = new ExpressAdapter();
  serverAdapter.setBasePath(path);
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter,
    options: {
      uiBasePath: dirname(fileURLToPath(import.meta.resolve('@bull-board/ui/package.json'))),
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
