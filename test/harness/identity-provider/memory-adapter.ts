import type { Adapter, AdapterPayload } from 'oidc-provider';

/** Keeps what a provider stores; the provider's own adapter for this warns on the console. */
export function memoryAdapter(): (name: string) => Adapter {
  const stored = new Map<string, AdapterPayload>();
  return (name) => {
    const keyOf = (id: string) => `${name}:${id}`;
    return {
      async upsert(id, payload) {
        stored.set(keyOf(id), payload);
      },
      find: async (id) => stored.get(keyOf(id)),
      findByUid: async (uid) => [...stored.values()].find((payload) => payload.uid === uid),
      findByUserCode: async () => undefined,
      async consume(id) {
        const payload = stored.get(keyOf(id));
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        stored.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of stored) if (payload.grantId === grantId) stored.delete(key);
      },
    };
  };
}
