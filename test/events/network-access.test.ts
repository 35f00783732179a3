import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIP, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readEndpointUrl } from '@orders/domain/endpoints.ts';
import { type Answer, decode, encode } from 'dns-packet';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { callEndpoint } from '../harness/event-receiver.ts';
import { withStack } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

/** A server on every local address that must not be reached. */
let internal: Server;
let reached = 0;
let port: number;
let dns: DnsServer;

const { stack } = useStack();

beforeAll(async () => {
  internal = createServer((socket) => {
    reached += 1;
    socket.destroy();
  });
  internal.listen(0, '::');
  await once(internal, 'listening');
  port = (internal.address() as AddressInfo).port;
  dns = await startDnsServer();
  await stack.notifier({ CALLBACK_ALLOW: '', CALLBACK_DNS: dns.address });
});
afterAll(async () => {
  internal?.close();
});

const call = (url: string) => callEndpoint(stack, url);

describe('an address inside the network is not called', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b:1::127.0.0.1]',
    '[2002:7f00:1::1]',
    '[2001:0:7f00:1::1]',
    '[fe80::1]',
    '[fec0::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[ff02::1]',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.100.100.200',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
  ])('%s', async (host) => {
    expect(await call(`https://${host}:${port}/`)).toMatchObject({ error: 'address_refused', status: null });
    expect(reached).toBe(0);
  });

  test.each([
    ['a private address', ['10.0.0.1']],
    ['a loopback address', ['127.0.0.1']],
    ['an address of IPv6', ['::1']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['a compatible address', ['::127.0.0.1']],
    ['a metadata address', ['168.63.129.16']],
    ['a public and a private address', ['8.8.8.8', '127.0.0.1']],
    ['a public address and a private one of IPv6', ['8.8.8.8', '::1']],
  ])('behind a name with %s', async (name, addresses) => {
    const host = `${name.replaceAll(' ', '-').toLowerCase()}.example`;
    dns.set(host, addresses);
    // As a name that does not exist, so that nobody learns which internal names do.
    expect(await call(`https://${host}:${port}/`)).toMatchObject({ error: 'host_not_found', status: null });
    expect(reached).toBe(0);
  });

  test('behind a name that was public when the endpoint was created', async () => {
    const host = 'rebinding.example';
    dns.set(host, ['127.0.0.1']);
    expect(readEndpointUrl(`https://${host}:${port}/`, [])).toEqual({ url: `https://${host}:${port}/` });
    expect(await call(`https://${host}:${port}/`)).toMatchObject({ error: 'host_not_found' });
    // The connection is made to the addresses of the one look-up that was checked.
    expect(dns.asked.filter((name) => name === host)).toHaveLength(2);
    expect(reached).toBe(0);
  });

  test('behind localhost', async () => {
    expect((await call(`https://localhost:${port}/`)).error).toBe('host_not_found');
    expect(reached).toBe(0);
  });

  test('by http', async () => {
    dns.set('http.example', ['8.8.8.8']);
    expect(await call(`http://http.example:${port}/`)).toMatchObject({ error: 'address_refused' });
  });
});

test('an address that the operator denies is not called', async () => {
  await withStack('postgres', async (denying) => {
    await denying.notifier({
      CALLBACK_ALLOW: '',
      CALLBACK_DNS: dns.address,
      CALLBACK_DENY: '8.8.8.0/24,2001:4860::/32',
    });
    dns.set('denied.example', ['8.8.8.8']);
    dns.set('denied-ipv6.example', ['2001:4860:4860::8888']);
    for (const host of [
      '8.8.8.8',
      '[::ffff:8.8.8.8]',
      '[2001:4860:4860::8888]',
      'denied.example',
      'denied-ipv6.example',
    ])
      expect(await callEndpoint(denying, `https://${host}/`)).toMatchObject({
        error: host.endsWith('.example') ? 'host_not_found' : 'address_refused',
        status: null,
      });
  });
});

describe('the URL of an endpoint', () => {
  test.each(['https://shop.example/hook', 'https://shop.example:8443/hook?a=1', 'https://8.8.8.8/hook'])(
    'can be %s',
    (url) => {
      expect(readEndpointUrl(url, [])).toEqual({ url });
    },
  );

  test.each([
    'shop.example/hook',
    'http://shop.example/hook',
    'ftp://shop.example/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user:secret@shop.example/',
    'https://shop.example/#part',
    'https://shop.example:22/',
    'https://shop.example:25/',
    'https://shop.example:80/',
    'https://localhost/',
    'https://intranet/',
    `https://shop.example/${'x'.repeat(2000)}`,
  ])('cannot be %s', (url) => {
    expect(readEndpointUrl(url, [])).toMatchObject({ error: expect.any(String) });
  });

  test('can be private or http where the operator allows the host', () => {
    expect(readEndpointUrl('http://127.0.0.1:9000/', ['127.0.0.1:*'])).toEqual({ url: 'http://127.0.0.1:9000/' });
    expect(readEndpointUrl('http://127.0.0.1:9000/', ['127.0.0.1'])).toMatchObject({ error: expect.any(String) });
    expect(readEndpointUrl('http://hooks/', ['hooks'])).toEqual({ url: 'http://hooks/' });
    expect(readEndpointUrl('https://hooks:443/', ['hooks'])).toEqual({ url: 'https://hooks/' });
    expect(readEndpointUrl('https://hooks/', ['hooks:443'])).toEqual({ url: 'https://hooks/' });
    expect(readEndpointUrl('http://hooks/', ['hooks:80'])).toEqual({ url: 'http://hooks/' });
    expect(readEndpointUrl('http://hooks/', ['hooks:443'])).toMatchObject({ error: expect.any(String) });
    expect(readEndpointUrl('http://hooks:8080/', ['hooks:8080'])).toEqual({ url: 'http://hooks:8080/' });
    expect(readEndpointUrl('http://hooks:8081/', ['hooks:8080'])).toMatchObject({ error: expect.any(String) });
    expect(readEndpointUrl('ftp://hooks/', ['hooks'])).toMatchObject({ error: expect.any(String) });
  });
});

interface DnsServer {
  /** As `CALLBACK_DNS` takes it. */
  address: string;
  /** Sets the addresses of a name; each query gets the next list, and the last one is repeated. */
  set(name: string, ...lists: string[][]): void;
  /** The names that were asked for. */
  asked: string[];
  close(): Promise<void>;
}

/** Starts a name server on 127.0.0.1 that knows only what a test tells it. */
async function startDnsServer(): Promise<DnsServer> {
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
