import Transport from 'winston-transport';

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
 * Writes the lines of one event loop iteration to standard output in one write, as a write per line would cost more than the line. Pending
 * lines are still written when the process exits, unless it is killed.
 */
export class StandardOutput extends Transport {
  override log(info: { [MESSAGE]?: string }, done: () => void): void {
    append(String(info[MESSAGE]));
    done();
  }
}
