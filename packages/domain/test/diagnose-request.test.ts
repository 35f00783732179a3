import { expect, test } from '@jest/globals';
import { diagnoseBody, diagnoseMediaType, hasOtherSignatureHeader } from '../src/rejections/diagnose-request.ts';

test.each([
  ['', 'empty'],
  ['\uFEFF \n', 'empty'],
  ['{"a":1,}', 'trailing_comma'],
  ['{"a":[1,2,],}', 'trailing_comma'],
  ["{'a':'b'}", 'single_quotes'],
  ['"{\\"a\\":1}"', 'encoded_twice'],
  ['[{"a":1}]', 'not_an_object'],
  ['"a"', 'not_an_object'],
  ['null', 'not_an_object'],
  ['a=1&b=2', 'form_encoded'],
  ['order%5Ba%5D=1', 'form_encoded'],
  ['{"a":1', 'cut_short'],
  ['{"a":"b', 'cut_short'],
  ['{"a" 1}', null],
  ['<a/>', null],
  [`{"a":1,${' '.repeat(70_000)}}`, null],
])('a body %j is diagnosed as %s', (body, diagnosis) => {
  expect(diagnoseBody(Buffer.from(body))).toBe(diagnosis);
});

test('bytes that are not UTF-8, and a missing body, are diagnosed', () => {
  expect(diagnoseBody(Buffer.from('{"a":"é"}', 'latin1'))).toBe('not_utf8');
  expect(diagnoseBody(Buffer.from('{"a":1}', 'utf16le').fill(0xff, 0, 1))).toBe('not_utf8');
  expect(diagnoseBody(undefined)).toBe('cut_short');
});

test.each([
  [undefined, 'no_media_type'],
  ['', 'no_media_type'],
  ['application/x-www-form-urlencoded', 'form_encoded'],
  ['multipart/form-data; boundary=x', 'form_encoded'],
  ['Text/Plain;charset=UTF-8', 'plain_text'],
  ['application/json; charset=iso-8859-1', 'another_charset'],
  ['application/vnd.api+json', 'another_json_type'],
  ['text/json', 'another_json_type'],
  ['image/png', null],
])('the media type %s is diagnosed as %s', (header, diagnosis) => {
  expect(diagnoseMediaType(header)).toBe(diagnosis);
});

test('a signature in the header of another provider is detected', () => {
  expect(hasOtherSignatureHeader({ 'x-hub-signature-256': 'x' })).toBe(true);
  expect(hasOtherSignatureHeader({ 'x-shopify-hmac-sha256': 'x' })).toBe(true);
  expect(hasOtherSignatureHeader({ host: 'x', authorization: 'x' })).toBe(false);
});
