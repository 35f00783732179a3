import Transport from 'winston-transport';

// One for the process, as its standard output is one.
let pending = '';

function flush(): void {
  const text = pending;
  pending = '';
  if (text) process.stdout.write(text);
}

function append(line: string): void {
  if (pending === '') setImmediate(flush);
  pending += `${line}\n`;
}

process.on('exit', flush);

const MESSAGE = Symbol.for('message');

/**
 * Writes to standard output what is logged within one turn of the event loop in one go: a write for each line would cost more than the
 * line. What is pending when the process exits, for whatever reason but a kill, is still written.
 */
export class StandardOutput extends Transport {
  override log(info: { [MESSAGE]?: string }, done: () => void): void {
    append(String(info[MESSAGE]));
    done();
  }
}
