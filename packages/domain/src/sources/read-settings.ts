import Joi from 'joi';
import { Problem } from '../problems.ts';
import { isJsonPointer, MAX_POINTER, protoMembers, toJsonPointer } from './json-pointer.ts';
import { PRESETS } from './presets.ts';
import type { SignatureSettings, SourcePreset, SourceSettings } from './settings.ts';

const MAX_VALUES = 20;

const text = Joi.string().pattern(/^[^\p{Cc}\p{Cs}]+$/u);
/** A name of a header, in lower case as Node has it. */
const header = Joi.string()
  .pattern(/^[\w!#$%&'*+.^`|~-]+$/)
  .max(100)
  .lowercase();
const prefix = Joi.string()
  .pattern(/^[\x20-\x7e]+$/)
  .max(50);
const pointer = Joi.string()
  .max(MAX_POINTER)
  .custom((value: string, helpers) => (isJsonPointer(value) ? value : helpers.error('pointer')));
const values = Joi.array().items(text.max(100)).max(MAX_VALUES);
const scalars = Joi.array()
  .items(Joi.alternatives(text.max(100), Joi.number().unsafe(), Joi.boolean(), Joi.valid(null)))
  .min(1)
  .max(MAX_VALUES);
const pointers = Joi.alternatives(Joi.array().items(pointer).min(1).max(MAX_VALUES), pointer).match('any');
const valuesAt = Joi.object({ pointer: pointers.required(), values: scalars });
const waitUntilPaid = Joi.boolean();
const deliveryValue = Joi.object({ header, pointer }).xor('header', 'pointer');
const topics = Joi.object({ order: values.required(), cancellation: values.default([]) });

const scheme = (name: SignatureSettings['scheme']) => Joi.valid(name).required();
const SIGNATURES: Readonly<Record<SignatureSettings['scheme'], Joi.ObjectSchema>> = {
  hmac: Joi.object({
    scheme: scheme('hmac'),
    header: header.required(),
    algorithm: Joi.valid('sha256', 'sha1').required(),
    encoding: Joi.valid('hex', 'base64').required(),
    prefix,
  }),
  token: Joi.object({ scheme: scheme('token'), header: header.required(), prefix }),
  basic: Joi.object({ scheme: scheme('basic') }),
  'standard-webhooks': Joi.object({ scheme: scheme('standard-webhooks') }),
};
const UNKNOWN_SIGNATURE = Joi.object({ scheme: Joi.valid(...Object.keys(SIGNATURES)).required() }).unknown();

/** What each preset lets the user choose. */
const CHOICES: Readonly<Record<SourcePreset, Joi.ObjectSchema>> = {
  shopify: Joi.object({ waitUntilPaid }),
  woocommerce: Joi.object({ waitUntilPaid }),
  salla: Joi.object({ waitUntilPaid }),
  zid: Joi.object({ waitUntilPaid }),
  'standard-webhooks': Joi.object({ topics, waitUntilPaid }),
  custom: Joi.object({
    signature: UNKNOWN_SIGNATURE.required(),
    deliveryId: deliveryValue,
    topic: deliveryValue,
    topics,
    ignoredIf: valuesAt,
    finishedIf: valuesAt,
    testIf: valuesAt,
    waitUntilPaid,
    cancelledIf: valuesAt.keys({ topics: values.min(1) }),
    modifiedAt: Joi.object({ pointer: pointers.required() }),
  }).and('topic', 'topics'),
};

/** Details by joi's error type. */
const DETAILS: Readonly<Record<string, string>> = {
  'any.required': 'This is required.',
  'object.unknown': 'This is no setting that the preset lets you choose.',
  'object.base': 'This must be an object.',
  'any.only': 'This value is not among those that are possible.',
  'object.xor': 'Give either "header" or "pointer".',
  'object.missing': 'Give either "header" or "pointer".',
  'object.and': 'Give "topic" and "topics" together.',
  pointer: 'Write a JSON Pointer such as /status.',
};

/**
 * Reads the settings of a new source: those of its preset, with what the preset lets the user choose. Names of headers become lower case.
 *
 * @param input undefined for the settings of the preset.
 * @param at the pointer of the settings in what was sent, before each pointer in `errors`.
 * @throws {Problem} `invalid_request` with the broken rules and their pointers in `errors`.
 */
export function readSettings(preset: SourcePreset, input: unknown, at = ''): SourceSettings {
  const { settings } = PRESETS[preset];
  if (input === undefined) return settings;
  const schema = preset === 'custom' ? CHOICES.custom.keys({ signature: signatureOf(input) }) : CHOICES[preset];
  const { value, error } = schema.required().validate(input, { abortEarly: false });
  const errors = [
    ...protoMembers(input).map((pointer) => ({ pointer: at + pointer, ...errorOf('object.unknown') })),
    ...(error?.details ?? []).map(({ path, type }) => ({ pointer: at + toJsonPointer(path), ...errorOf(type) })),
  ];
  if (errors.length === 0) return preset === 'custom' ? value : { ...settings, ...value };
  throw new Problem('invalid_request', { detail: 'The settings break the rules listed in "errors".', errors });
}

/** The rules of the scheme that the input has. */
function signatureOf(input: unknown): Joi.ObjectSchema {
  const { scheme } = (input as { signature?: { scheme?: SignatureSettings['scheme'] } } | null)?.signature ?? {};
  const known = scheme !== undefined && Object.hasOwn(SIGNATURES, scheme) ? SIGNATURES[scheme] : UNKNOWN_SIGNATURE;
  return known.required();
}

function errorOf(type: string): { code: string; detail: string } {
  const code = type === 'any.required' ? 'required' : type === 'object.unknown' ? 'unknown_field' : 'invalid';
  return { code, detail: DETAILS[type] ?? 'This is not valid.' };
}
