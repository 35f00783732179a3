import { runCli } from './index.ts';

// `orders … | head` closes the pipe early; that is no error, and there is nobody left to write to.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});
process.exitCode = await runCli(process.argv.slice(2), process);
