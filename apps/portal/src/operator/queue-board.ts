import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import { Problem } from '@orders/domain';
import type { QueueStats } from '@orders/queue';
import type { Express, RequestHandler } from 'express';

type Queues = Awaited<ReturnType<QueueStats['queues']>>;

/**
 * BullMQ's own board of all lanes, to look at only: a job carries nothing but rings, the outbox rings again for whatever is retried or
 * removed there, and a queue that somebody paused would hold up every account.
 *
 * @throws {Problem} `queue_unavailable`.
 */
export function queueBoard(watch: QueueStats, path: string): RequestHandler {
  let shown: { queues: Queues; board: Express } | null = null;
  return async (request, response, next) => {
    const queues = await watch.queues().catch(() => {
      throw new Problem('queue_unavailable');
    });
    // Made anew when the queues were: a BullMQ queue that lost its connection for good never recovers.
    if (!shown || queues.some((queue, at) => queue !== shown?.queues[at]))
      shown = { queues, board: createBoard(queues, path) };
    shown.board(request, response, next);
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

/** The board's page brings a font of another host and styles of its own for the moment before it has loaded; neither is let in. */
function withoutInlineStyles(html: string): string {
  return html
    .replaceAll(/<link href="https:[^>]*>/g, '')
    .replaceAll(/<style>.*?<\/style>/gs, '')
    .replaceAll(/ style="[^"]*"/g, '');
}
