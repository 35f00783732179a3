import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { type Answer, decode, encode } from 'dns-packet';
import { closeAtEnd } from './close-at-end.ts';

export interface DnsServer {
  /** As `CALLBACK_DNS` takes it. */
  address: string;
  /** Sets the addresses of a name; each query gets the next list, and the last one is repeated. */
  set(name: string, ...lists: string[][]): void;
  /** The names that were asked for. */
  asked: string[];
  close(): Promise<void>;
}

/** Starts a name server on 127.0.0.1 that knows only what a test tells it. */
export async function startDnsServer(): Promise<DnsServer> {
  const names = new Map<string, string[][]>();
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { address, port }) => {
    const { id = 0, questions = [] } = decode(message);
    const [question] = questions;
    if (!question) return;
    asked.push(question.name);
    const lists = names.get(`${question.type} ${question.name}`) ?? [];
    const list = (lists.length > 1 ? lists.shift() : lists[0]) ?? [];
    const answers = list.map((data) => ({ type: question.type, name: question.name, ttl: 0, data }) as Answer);
    const rcode = lists.length > 0 || names.has(`A ${question.name}`) ? 0 : 3;
    socket.send(encode({ type: 'response', id, flags: 0x0180 | rcode, questions, answers }), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return closeAtEnd<DnsServer>({
    address: `127.0.0.1:${socket.address().port}`,
    set(name, ...lists) {
      const ofFamily = (family: number) => lists.map((list) => list.filter((address) => isIP(address) === family));
      names.set(`A ${name}`, ofFamily(4));
      names.set(`AAAA ${name}`, ofFamily(6));
    },
    asked,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  });
}
