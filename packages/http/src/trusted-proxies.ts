import { isAddressRange } from '@orders/domain/address-ranges.ts';
import Joi from 'joi';

const RANGE_NAMES = ['loopback', 'linklocal', 'uniquelocal'];

/** Unlike the addresses of a key, a range of proxies cannot be everything: Express rejects the prefix 0. */
const isProxy = (text: string) => RANGE_NAMES.includes(text) || (isAddressRange(text) && !/\/0/.test(text));

/** The proxies that Express trusts (its setting `trust proxy`), separated by commas. Express would read `1` as the address 0.0.0.1. */
export const trustedProxies: Joi.StringSchema = Joi.string()
  .custom((text: string) => {
    if (!text.split(',').every((one) => isProxy(one.trim()))) throw new Error('no address');
    return text;
  })
  .message(`{{#label}} must be addresses, ranges such as 10.0.0.0/8, or ${RANGE_NAMES.join(', ')}, separated by commas`)
  .default('loopback');
