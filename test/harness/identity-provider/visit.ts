import type { RunningPortal } from '../stack.ts';

/** The cookies of a browser, for one host. */
type Jar = Map<string, string>;

/** A browser that signs in by the identity provider, step by step. */
export interface IdentityVisit {
  /** The cookies of the portal. */
  cookies: Jar;
  /** Starts at the portal. @returns the address of the provider. */
  start(body?: object): Promise<string>;
  /** Goes through the provider's pages. @returns the address of the portal to which it redirects. */
  atProvider(url: string): Promise<string>;
  /** Calls the portal with its cookies; with a body by POST. */
  ask(path: string, body?: object, headers?: Record<string, string>): Promise<Response>;
  /** All steps. @returns the address to which the callback redirects. */
  signIn(): Promise<string>;
}

export function openIdentityVisit(portal: RunningPortal): IdentityVisit {
  const cookies: Jar = new Map();
  const send = async (jar: Jar, url: string, init: RequestInit = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return reply;
  };
  const self: IdentityVisit = {
    cookies,
    async start(body = {}) {
      const reply = await self.ask('/api/session/oidc/start', body);
      if (reply.status !== 200) throw new Error(`status ${reply.status}: ${await reply.text()}`);
      return ((await reply.json()) as { url: string }).url;
    },
    async atProvider(url) {
      const jar: Jar = new Map();
      let next = url;
      while (!next.startsWith(portal.url)) {
        const reply = await send(jar, next);
        const location = reply.headers.get('location');
        if (location === null) throw new Error(`status ${reply.status}: ${await reply.text()}`);
        next = new URL(location, next).href;
      }
      return next;
    },
    ask: (path, body, headers) =>
      send(cookies, portal.url + path, {
        headers: { ...headers, ...(body && { Origin: portal.url, 'Content-Type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      }),
    async signIn() {
      const callback = await self.atProvider(await self.start());
      return locationOf(portal, await self.ask(callback.slice(portal.url.length)));
    },
  };
  return self;
}

/** Where a reply redirects to, without the portal's origin. */
export function locationOf(portal: RunningPortal, reply: Response): string {
  return (reply.headers.get('location') ?? `status ${reply.status}`).replace(portal.url, '');
}
