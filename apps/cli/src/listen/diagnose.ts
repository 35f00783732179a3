import type { IncomingMessage } from 'node:http';
import {
  type Diagnosis,
  diagnoseBody,
  diagnoseHeaders,
  diagnoseSignature,
  findSignedValues,
  isApiKey,
  type Problem,
  type RejectionCode,
} from '@orders/domain';
import { readSignature } from '@orders/http';

/** What a listener expects of each request. */
export interface Expected {
  apiKey: string;
  signingSecret: string;
  /** Prefix of every path; may be empty. */
  basePath: string;
}

type Causes = { [Code in RejectionCode]?: Record<Diagnosis<Code>, string> };

/** What is most likely wrong, and how to fix it. */
const CAUSES = {
  invalid_api_key: {
    another_key: 'It is a whole key, but not the one of this listener. Set the same ORDERS_API_KEY for both.',
    no_whole_key: 'It is not a whole API key (oik_…): its checksum is wrong, as when a part of it is missing.',
  },
  missing_signature: {
    another_header: 'A signature came under another name. Rename its header: x-service-signature: sha256=<hex>.',
  },
  invalid_signature: {
    malformed_header:
      'The header must be sha256= and 64 hex digits, or the digits alone: no other prefix, no quotes, no timestamp, nothing cut off.',
    base64_instead_of_hex:
      "The signature is base64. Ask the HMAC for hex: digest('hex') in Node, hexdigest() in Python, hash_hmac() without its fourth argument in PHP.",
    wrong_algorithm:
      'Another algorithm made the signature. It must be an HMAC-SHA256, the secret as its key and the body as its message: no SHA-1 or SHA-512, no plain hash.',
    previous_secret: 'It was signed with a secret that does not verify any more.',
    trailing_newline:
      "The body that was signed has one line break more or fewer at its end. In a shell sign with printf '%s' instead of echo, and send with --data-binary.",
    signed_empty_body:
      'An empty body was signed. Make the text of the body first, sign that text, then send that very text.',
    secret_decoded:
      'The secret was changed before it was used. Take it as text, exactly as it is shown: not decoded, without quotes, without a line break at its end.',
    signed_with_api_key:
      'It was signed with the API key. The key (oik_…) goes into the Authorization header; the signing secret (oss_…) signs.',
    timestamp_signed:
      'A timestamp was signed together with the body, as for Stripe or Slack. Sign the body alone: no timestamp, no id, no v0: before it.',
    members_sorted:
      'The text that was signed had its members sorted, as by sort_keys or ksort, and the body that was sent has not. Serialize once, sign that very text and send it.',
    body_reserialized:
      'The body was serialized again after it was signed: the same JSON, but not the same bytes. Serialize once, keep that text, sign it and send it.',
    another_secret:
      'The signature is well-formed but matches nothing known: another secret, or other bytes. Check that the sender has the secret of this listener, and that nothing changes the body on its way.',
  },
  unsupported_media_type: {
    no_media_type: 'There was no Content-Type. Add the header Content-Type: application/json.',
    form_encoded:
      'The order came as a form. Send the JSON text as the body with Content-Type: application/json; curl sends a form with -d unless told otherwise.',
    plain_text: 'Set Content-Type: application/json. fetch sends text/plain by default for a string body.',
    another_json_type: 'Only application/json is accepted, no type with +json and not text/json.',
    another_charset: 'Write the body in UTF-8, and say charset=utf-8 or nothing of it.',
  },
  malformed_body: {
    cut_short: 'The body was cut short: the connection broke, or Content-Length counts characters instead of bytes.',
    empty: 'The request came without a body. Redirects lose it, and frameworks that read it twice.',
    not_utf8: 'Encode the text as UTF-8 before it is sent, not as Windows-1256, Latin-1 or UTF-16.',
    not_an_object: 'Send each order by itself as { … }: no list, and no single text or number.',
    encoded_twice:
      'The body is a JSON text that holds JSON. Give the library the object or the text, but do not encode before as well.',
    form_encoded: 'The body is name=value pairs, though its header says JSON. Send the JSON text itself.',
    single_quotes: 'JSON takes double quotes only. In Python use json.dumps(order) instead of str(order).',
    trailing_comma: 'JSON allows no comma before } or ]. Let a JSON library write the text.',
  },
} satisfies Causes & { invalid_api_key: object };

/** A likely cause: a stable code, and how to fix it. */
export interface Cause {
  code: string;
  detail: string;
}

/** The most likely cause of a rejection; null if it is unknown or the problem itself is clear. */
export function diagnose(
  { code }: Problem,
  { apiKey, signingSecret, basePath }: Expected,
  request: IncomingMessage,
  body: Buffer | null,
): Cause | null {
  if (code === 'not_found')
    return {
      code: 'another_path',
      detail: `This listener takes only ${basePath}/ingest/webhook, ${basePath}/ingest/orders, each also with /cancel, and ${basePath}/ingest/status/{receipt_id}; orders send comes here with --webhook --no-wait.`,
    };
  const { headers } = request;
  const secrets = [{ secret: signingSecret, isLive: true }];
  let cause: string | null = null;
  if (code === 'invalid_api_key')
    cause = isApiKey((headers.authorization ?? '').split(' ').at(-1) as string) ? 'another_key' : 'no_whole_key';
  else if (code === 'malformed_body') cause = diagnoseBody(body ?? undefined);
  else if (code === 'invalid_signature' && body)
    cause = diagnoseSignature({
      header: readSignature(request) ?? '',
      body,
      secrets,
      apiKey,
      values: findSignedValues(headers),
    });
  else cause = diagnoseHeaders(code, headers);
  const causes: { [code: string]: Record<string, string> } = CAUSES;
  return cause === null ? null : { code: cause, detail: causes[code]?.[cause] as string };
}
