/** How a value is written: `decimal` where a string that spells a plain number means the same as that number. */
export interface Rule {
  isDecimal?: boolean;
  /** The rule of a member of an object, or of the elements of a list under `*`; none where a value has no rule. */
  of?: Readonly<Record<string, Rule>>;
}

/** More digits than this a JavaScript number cannot hold exactly, so a string that has them may be read as another amount than a number. */
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
/** By the code of their first letter. */
const WORDS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), word]));
const MAX_EXPONENT_LENGTH = 10;

const NO_RULE: Rule = {};

/**
 * Writes JSON so that two documents of the same content are the same text: without white space, members by name, of duplicate members the
 * last, strings with the same escapes and numbers by their exact decimal value. The time it takes grows with the length of the document.
 *
 * @param json valid and of bounded depth: it is read recursively.
 */
export function canonicalJson(json: string, rule: Rule): string {
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

  function writeList(rule: Rule): string {
    const elements: string[] = [];
    const ofElements = memberRule(rule, '*');
    at += 1;
    for (skipSpace(); json.charCodeAt(at) !== CLOSE_BRACKET; skipSpace()) {
      if (json.charCodeAt(at) === COMMA) at += 1;
      elements.push(write(ofElements));
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
    if (first === OPEN_BRACKET) return writeList(rule);
    if (first === QUOTE) {
      const text = readString();
      return rule.isDecimal && isPlainNumber(text) ? decimalOf(text) : JSON.stringify(text);
    }
    const word = WORDS.get(first);
    if (word === undefined) return writeNumber();
    at += word.length;
    return word;
  }

  return write(rule);
}

function byCodeUnits(one: string, other: string): number {
  return one < other ? -1 : 1;
}

function memberRule({ of }: Rule, name: string): Rule {
  return of && Object.hasOwn(of, name) ? (of[name] as Rule) : NO_RULE;
}

function isPlainNumber(text: string): boolean {
  return text.length <= MAX_PLAIN_LENGTH && PLAIN.test(text) && text.replace('.', '').length <= MAX_EXACT_DIGITS;
}

/** A number of JSON as `<sign><digits>e<power of ten>`, without zeros at either end of the digits; unchanged where its exponent is absurd. */
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
