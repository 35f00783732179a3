import { openConnection } from '../load/connection.ts';
import { makeOrder } from '../load/make-order.ts';

/** The results of a closed loop of orders with idempotency keys. */
export interface KeyedLoad {
  accepted: number;
  /** Replies other than 202, by status; 0 stands for a failed connection. */
  refused: Record<string, number>;
  slowestMs: number;
}

/** Sends orders, each with its own key, until stopped. */
export function startKeyedLoad(
  url: string,
  apiKeys: readonly string[],
  connections: number,
  prefix: string,
): { stop(): Promise<KeyedLoad> } {
  const load: KeyedLoad = { accepted: 0, refused: {}, slowestMs: 0 };
  let stopping = false;
  let sent = 0;

  const loops = Array.from({ length: connections }, (_, index) => {
    const connection = openConnection(url, apiKeys[index % apiKeys.length] as string);
    return new Promise<void>((resolve) => {
      const next = () => {
        if (stopping) {
          connection.close();
          resolve();
          return;
        }
        const number = sent++;
        const id = `${prefix}-${number}`;
        const sentAt = performance.now();
        const done = ({ status, at }: { status: number; at: number }) => {
          load.slowestMs = Math.max(load.slowestMs, at - sentAt);
          if (status === 202) load.accepted += 1;
          else load.refused[status] = (load.refused[status] ?? 0) + 1;
          next();
        };
        connection.send(makeOrder(id, number), done, { 'content-type': 'application/json', 'idempotency-key': id });
      };
      next();
    });
  });
  return {
    async stop() {
      stopping = true;
      await Promise.all(loops);
      return load;
    },
  };
}
