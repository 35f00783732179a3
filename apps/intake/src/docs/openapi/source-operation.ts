import { PLATFORM_CANCELLATION_OUTCOMES } from '@orders/domain/cancellations.ts';
import { problems, SENDER_LIMITS, successWith } from './responses.ts';
import { json, ref, strictly } from './schema.ts';

/** A reply to a delivery that created no receipt. */
export const deliveryReplySchema = strictly({
  outcome: {
    enum: ['ignored', 'finished', 'ping', ...PLATFORM_CANCELLATION_OUTCOMES],
    description:
      '`ignored`: an event that is about no order. `finished`: an order that the shop has finished and that was never sent before. `ping`: a check of the URL. The others are the outcomes of a cancellation.',
  },
});

const reply = (schema: string, value: object) => json(ref(schema), { delivery: ['A delivery', value] });

export const sourceOperation = {
  operationId: 'deliverToSource',
  tags: ['Orders'],
  summary: 'Deliver the webhook of a platform',
  description:
    "Takes the webhooks of a shop system as it sends them: with its own signature, in its own format. The source's settings and mapping in the portal decide what a delivery is. An authentic delivery is always stored, whatever its content; if no order id is found in it, its receipt is `dead` with the error `mapping_failed`, and can be redriven after the mapping was corrected.",
  security: [],
  parameters: [
    {
      name: 'source_id',
      in: 'path',
      required: true,
      description: 'The id in the URL that the portal shows for the source',
      schema: { type: 'string' },
      example: 'src_EXAMPLE',
    },
  ],
  requestBody: {
    required: true,
    description: 'The body as the platform sends it. Its exact bytes are what the platform has signed.',
    content: {
      // A platform's own media type is accepted too.
      '*/*': { schema: {} },
      ...json(
        {},
        {
          shopify: [
            'Shopify, shortened',
            {
              id: 5310001234567,
              name: '#1001',
              currency: 'AED',
              total_price: '149.00',
              shipping_address: {
                name: 'Aisha Khan',
                phone: '+971 50 123 4567',
                address1: 'Villa 7, Street 12',
                city: 'Jumeirah 1',
                province: 'Dubai',
              },
              line_items: [{ name: 'Desk lamp', quantity: 1, sku: 'LAMP-1' }],
            },
          ],
        },
      ),
    },
  },
  responses: {
    200: successWith(
      'A cancellation was carried out, or nothing is to be done.',
      reply('DeliveryReply', { outcome: 'ignored' }),
    ),
    202: successWith(
      'The delivery is stored and will be processed.',
      reply('Accepted', { receipt_id: '019aa3c5-5a00-7000-8000-000000000001' }),
    ),
    ...problems(
      ['missing_signature', 'invalid_signature', 'not_found', 'malformed_body', 'payload_too_large', 'overloaded'],
      {
        missing_signature: 'The header with the signature is missing.',
        invalid_signature: 'The signature does not match the body and the secret of the source.',
        not_found: 'There is no source with this id.',
      },
      undefined,
      SENDER_LIMITS,
    ),
  },
};
