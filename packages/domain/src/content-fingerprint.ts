import { hash } from 'node:crypto';
import { decodeBody, parseBody } from './parse-body.ts';

/** How a value is canonicalized. With `isDecimal`, a string that spells a plain number equals that number. */
interface Rule {
  isDecimal?: boolean;
  /** Rules of an object's members by name, or under `*` of an array's elements. */
  of?: Readonly<Record<string, Rule>>;
}

/** JavaScript numbers are exact up to 15 digits; a longer string may be another amount than the number. */
const MAX_EXACT_DIGITS = 15;
const MAX_PLAIN_LENGTH = 20;
const PLAIN = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;
const NUMBER = /(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const ZERO = 0x30;
/** By the code of the first letter. */
const LITERALS = new Map(['true', 'false', 'null'].map((literal) => [literal.charCodeAt(0), literal]));
const MAX_EXPONENT_LENGTH = 10;

const NO_RULE: Rule = {};

/**
 * Writes JSON so that documents of equal content become equal strings: no white space, sorted members, the last of duplicate members,
 * uniform escapes, and numbers by their exact decimal value. Takes linear time.
 *
 * @param json valid and of bounded depth, because it is read recursively.
 */
function canonicalJson(json: string, rule: Rule): string {
  let at = 0;

  function skipSpace(): void {
    for (let code = json.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09; )
      code = json.charCodeAt(++at);
  }

  function readString(): string {
    const start = at;
    let isEscaped = false;
    for (at += 1; json.charCodeAt(at) !== QUOTE; at += 1) {
      if (json.charCodeAt(at) === BACKSLASH) {
        isEscaped = true;
        at += 1;
      }
    }
    at += 1;
    return isEscaped ? JSON.parse(json.slice(start, at)) : json.slice(start + 1, at - 1);
  }

  function writeObject(rule: Rule): string {
    const members = new Map<string, string>();
    at += 1;
    for (skipSpace(); json.charCodeAt(at) !== CLOSE_BRACE; skipSpace()) {
      if (json.charCodeAt(at) === COMMA) {
        at += 1;
        skipSpace();
      }
      const name = readString();
      skipSpace();
      at += 1;
      members.set(name, write(memberRule(rule, name)));
    }
    at += 1;
    if (members.size === 0) return '{}';
    const names = [...members.keys()].sort(byCodeUnits);
    return `{${names.map((name) => `${JSON.stringify(name)}:${members.get(name)}`).join()}}`;
  }

  function writeArray(rule: Rule): string {
    const elements: string[] = [];
    const elementRule = memberRule(rule, '*');
    at += 1;
    for (skipSpace(); json.charCodeAt(at) !== CLOSE_BRACKET; skipSpace()) {
      if (json.charCodeAt(at) === COMMA) at += 1;
      elements.push(write(elementRule));
    }
    at += 1;
    return `[${elements.join()}]`;
  }

  function writeNumber(): string {
    NUMBER.lastIndex = at;
    const [source = ''] = NUMBER.exec(json) ?? [];
    at += source.length;
    return decimalOf(source);
  }

  function write(rule: Rule): string {
    skipSpace();
    const first = json.charCodeAt(at);
    if (first === OPEN_BRACE) return writeObject(rule);
    if (first === OPEN_BRACKET) return writeArray(rule);
    if (first === QUOTE) {
      const text = readString();
      return rule.isDecimal && isPlainNumber(text) ? decimalOf(text) : JSON.stringify(text);
    }
    const literal = LITERALS.get(first);
    if (literal === undefined) return writeNumber();
    at += literal.length;
    return literal;
  }

  return write(rule);
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function memberRule({ of }: Rule, name: string): Rule {
  return of && Object.hasOwn(of, name) ? (of[name] as Rule) : NO_RULE;
}

function isPlainNumber(text: string): boolean {
  return text.length <= MAX_PLAIN_LENGTH && PLAIN.test(text) && text.replace('.', '').length <= MAX_EXACT_DIGITS;
}

/** A JSON number as `<sign><digits>e<power of ten>`, without leading and trailing zeros; unchanged if its exponent is absurdly long. */
function decimalOf(source: string): string {
  NUMBER.lastIndex = 0;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  if (exponent.length > MAX_EXPONENT_LENGTH) return source;
  const digits = whole + fraction;
  let start = 0;
  while (digits.charCodeAt(start) === ZERO) start += 1;
  if (start === digits.length) return '0';
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1;
  const power = Number(exponent) - fraction.length + digits.length - end;
  return `${sign}${digits.slice(start, end)}e${power}`;
}

const DECIMAL: Rule = { isDecimal: true };

/** Members that normalization reads alike as string and number. Phones and ids are not among them: `0501` is not `501`. */
const ORDER: Rule = { of: { total: DECIMAL, items: { of: { '*': { of: { quantity: DECIMAL } } } } } };

/**
 * Two bodies of an order have equal fingerprints if and only if their content is equal. The order of members, white space, escapes, a byte
 * order mark and the spelling of numbers do not matter, nor whether a total or quantity is a number or a plain string: `49`, `49.0` and
 * `"49.00"` are equal.
 *
 * @returns a SHA-256 in hexadecimal.
 * @throws {Problem} `malformed_body` as `parseBody` does.
 */
export function contentFingerprint(body: Buffer): string {
  parseBody(body);
  return hash('sha256', canonicalJson(decodeBody(body), ORDER), 'hex');
}
