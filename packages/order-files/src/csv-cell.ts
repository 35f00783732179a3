/** Spreadsheets run such a cell as a formula, also a part of it if they divide cells at semicolons, tabs or line breaks. */
const FORMULA = /^(?=[=+\-@\t\r])|(?=[=+\-@])(?<=[;\t\r\n] *)/g;
/** Such as a phone number in E.164 form or a negative amount; as a formula, it is itself. */
const PLAIN_NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** A cell of a CSV file (RFC 4180), with formulas disarmed. */
export function csvCell(value: string | number | null): string {
  const text = String(value ?? '');
  const safe = PLAIN_NUMBER.test(text) ? text : text.replaceAll(FORMULA, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
