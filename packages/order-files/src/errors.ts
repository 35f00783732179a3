/** Why a file cannot be read. */
export type FileFault =
  | 'not_utf8'
  | 'not_csv'
  | 'open_quote'
  | 'long_row'
  | 'one_column'
  | 'no_headings'
  | 'not_xlsx'
  | 'old_excel'
  | 'no_sheet'
  | 'too_large'
  | 'too_many_rows'
  | 'options';

/** A file cannot be read. The message says it in English, as the end of a sentence about the file. */
export class FileError extends Error {
  readonly fault: FileFault;
  /** Where, from 1; null if it is no single line. */
  readonly line: number | null;

  constructor(fault: FileFault, message: string, line: number | null = null) {
    super(line === null ? message : `line ${line}: ${message}`);
    this.fault = fault;
    this.line = line;
  }
}

/** The options do not fit the file. The message is a sentence that names options of `orders send`. */
export class OptionsError extends FileError {}
