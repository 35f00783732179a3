import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

/** What an authenticator does otherwise than it should. */
export interface Deviation {
  /** Defaults to true. */
  userVerified?: boolean;
  /** The page that asked. */
  origin?: string;
  rpId?: string;
  challenge?: string;
  /** Signs with another key. */
  forged?: boolean;
}

type Bytes = Buffer<ArrayBufferLike>;
const sha256 = (bytes: string | Bytes): Bytes => createHash('sha256').update(bytes).digest();

/** An authenticator with one passkey, for requests of the portal's API without a browser (WebAuthn, ES256, attestation `none`). */
export function createAuthenticator(portalUrl: string) {
  const { origin, hostname } = new URL(portalUrl);
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const forger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  let counter = 0;

  function clientData(type: string, challenge: string, deviation: Deviation): Bytes {
    const data = { type, challenge: deviation.challenge ?? challenge, origin: deviation.origin ?? origin };
    return Buffer.from(JSON.stringify({ ...data, crossOrigin: false }));
  }

  function authenticatorData({ userVerified = true, rpId = hostname }: Deviation, attested = Buffer.alloc(0)): Bytes {
    const flags = 0x01 | (userVerified ? 0x04 : 0) | (attested.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(++counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested]);
  }

  const credential = (response: object) => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });

  return {
    id,
    /** The response to the options of a registration. */
    register({ challenge }: { challenge: string }, deviation: Deviation = {}) {
      const idLength = Buffer.from([0, credentialId.length]);
      const attested = Buffer.concat([Buffer.alloc(16), idLength, credentialId, coseKey(keys.publicKey)]);
      const authData = authenticatorData(deviation, attested);
      const attestation = cbor(
        new Map<unknown, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      );
      return credential({
        clientDataJSON: clientData('webauthn.create', challenge, deviation).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      });
    },
    /** The response to the options of a sign-in. */
    signIn({ challenge }: { challenge: string }, deviation: Deviation = {}) {
      const data = clientData('webauthn.get', challenge, deviation);
      const authData = authenticatorData(deviation);
      const signature = createSign('sha256')
        .update(Buffer.concat([authData, sha256(data)]))
        .sign(deviation.forged ? forger.privateKey : keys.privateKey);
      return credential({
        clientDataJSON: data.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
      });
    },
  };
}

function coseKey(key: KeyObject): Bytes {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const entries: [unknown, unknown][] = [
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ];
  return cbor(new Map(entries));
}

/** CBOR (RFC 8949) of the few kinds of values that WebAuthn needs. */
function cbor(value: unknown): Bytes {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (!(value instanceof Map)) throw new Error('no CBOR of this');
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, one]) => [cbor(key), cbor(one)])]);
}

function head(major: number, argument: number): Bytes {
  const type = major << 5;
  if (argument < 24) return Buffer.from([type | argument]);
  if (argument < 256) return Buffer.from([type | 24, argument]);
  return Buffer.from([type | 25, argument >> 8, argument & 0xff]);
}
